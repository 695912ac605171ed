"""Ask in which call a change shows."""

from collections.abc import Iterator, Mapping

from tensormark.viva.family import Draft, Family, Sample, Selection, draw_options
from tensormark.viva.question import OPTIONS
from tensormark.viva.source import Change
from tensormark.viva.study import DIFFERS, RAISES, SHAPE, USUAL


class Situations(Family):
    """Questions such as "In which of these cases does the result change?"."""

    name = "situation"
    follow_up = "Make up another call whose result changes."

    def drafts(self, sample: Sample) -> Iterator[Draft]:
        """Ask in which of four calls the result changes, or in which it stays the same."""
        subject = sample.study.subject
        names = {USUAL: subject.usual} | {each.name: each.name for each in subject.situations}
        cases = [case for change in sample.changes for case in self.cases(sample, change, names)]
        for change, answer, distractors, shows in sample.random.sample(cases, len(cases)):
            # an option that is the answer whenever it appears would give itself away
            if not any(answer in case[2] for case in cases if case[3] is shows):
                continue
            selection = draw_options(
                sample.random, names[answer], [names[name] for name in distractors]
            )
            if selection is not None:
                yield self.draft(sample, change, selection, shows, {names[n]: n for n in names})

    def cases(
        self, sample: Sample, change: Change, names: Mapping[str, str]
    ) -> Iterator[tuple[Change, str, list[str], bool]]:
        """Yield a change, a call, at least three calls of the opposite kind, and the call's kind.

        A call's kind is whether the change shows in its result.
        """
        if any(sample.finding(change, name) is not False for name in (RAISES, SHAPE)):
            return
        findings = {name: sample.finding(change, f"{DIFFERS}{name}") for name in names}
        different_calls = [name for name, shows in findings.items() if shows is True]
        same_calls = [name for name, shows in findings.items() if shows is False]
        for answers, distractors, shows in (
            (different_calls, same_calls, True),
            (same_calls, different_calls, False),
        ):
            if len(distractors) >= OPTIONS - 1:
                yield from ((change, name, distractors, shows) for name in answers)

    def draft(
        self,
        sample: Sample,
        change: Change,
        selection: Selection,
        shows: bool,
        names: Mapping[str, str],
    ) -> Draft:
        """Return the draft.

        Args:
            shows: ask where the result changes, not where it stays the same.
            names: the names of the calls, by the words that options use for them.
        """
        options, key = selection
        claims = [
            (change, f"{DIFFERS}{names[option]}", (place == key) is shows)
            for place, option in enumerate(options)
        ]
        infinitive, present = (
            ("change", "changes") if shows else ("stay the same", "stays the same")
        )
        distractor_text = (
            "The result stays the same there." if shows else "The result changes there."
        )
        question = self.question(
            sample,
            f"{change.sentence()} In which of these cases does the result {infinitive}?",
            selection,
            f"This is the only one of the four cases in which the result {present}.",
            [distractor_text] * OPTIONS,
            [change.mark],
            sample.picture(change),
        )
        return Draft(question, change, tuple(claims))

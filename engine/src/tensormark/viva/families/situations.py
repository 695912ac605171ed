"""In which call does a change show?"""

from collections.abc import Iterator, Mapping, Sequence

from tensormark.viva.family import Draft, Sample, options_of
from tensormark.viva.question import OPTIONS, Question
from tensormark.viva.source import Change
from tensormark.viva.study import DIFFERS, RAISES, SHAPE, USUAL


class Situations:
    """In which call does a change show?"""

    name = "situation"
    next = "Make up another call whose result changes."

    def drafts(self, sample: Sample) -> Iterator[Draft]:
        """Ask in which of four calls the result changes, or in which it stays the same."""
        subject = sample.study.subject
        names = {USUAL: subject.usual} | {each.name: each.name for each in subject.situations}
        cases = [case for change in sample.changes for case in self.cases(sample, change, names)]
        for change, right, wrong, value in sample.random.sample(cases, len(cases)):
            # a case that is only ever right would give itself away
            if not any(right in case[2] for case in cases if case[3] is value):
                continue
            chosen = options_of(sample.random, names[right], [names[name] for name in wrong])
            if chosen is not None:
                yield self.draft(sample, change, *chosen, value, {names[n]: n for n in names})

    def cases(
        self, sample: Sample, change: Change, names: Mapping[str, str]
    ) -> Iterator[tuple[Change, str, list[str], bool]]:
        """Yield a change, a call, three or more calls of the opposite kind, and the call's kind.

        The kind is whether the change shows.
        """
        if any(sample.finding(change, name) is not False for name in (RAISES, SHAPE)):
            return
        changed = {name: sample.finding(change, f"{DIFFERS}{name}") for name in names}
        differs = [name for name, value in changed.items() if value is True]
        same = [name for name, value in changed.items() if value is False]
        for right, wrong, value in ((differs, same, True), (same, differs, False)):
            if len(wrong) >= OPTIONS - 1:
                yield from ((change, name, wrong, value) for name in right)

    def draft(
        self,
        sample: Sample,
        change: Change,
        options: Sequence[str],
        key: int,
        value: bool,
        names: Mapping[str, str],
    ) -> Draft:
        """Return the draft.

        Args:
            value: ask where the result changes, not where it stays the same.
            names: the calls' names, by how the options call them.
        """
        claims = [
            (change, f"{DIFFERS}{names[option]}", (place == key) is value)
            for place, option in enumerate(options)
        ]
        does, did = ("change", "changes") if value else ("stay the same", "stays the same")
        opposite = "The result stays the same there." if value else "The result changes there."
        question = Question(
            self.name,
            sample.function,
            change.line,
            f"{change.sentence()} In which of these cases does the result {does}?",
            tuple(options),
            key,
            f"This is the only one of the four cases in which the result {did}.",
            tuple("" if place == key else opposite for place in range(OPTIONS)),
            self.next,
            sample.picture(change),
            (change.mark,),
        )
        return Draft(question, change, tuple(claims))

"""Ask which change has a given effect."""

from collections.abc import Iterator, Sequence

from tensormark.viva.family import Draft, Family, Sample, as_clause, as_options, draw_changes
from tensormark.viva.question import OPTIONS
from tensormark.viva.source import Change
from tensormark.viva.study import DIFFERS, EVERYWHERE, RAISES, USUAL


class Cause(Family):
    """Questions such as "Which change has this among its effects: the call raises?"."""

    name = "cause"
    follow_up = "What do the other three changes do instead?"

    def drafts(self, sample: Sample) -> Iterator[Draft]:
        """Ask which of four changes makes a statement true."""
        names = sorted(
            {name for change in sample.changes for name in sample.true_statements(change)}
        )
        for name in sample.random.sample(names, len(names)):
            answers = [
                change for change in sample.changes if name in sample.true_statements(change)
            ]
            distractors = self.distractors(sample, name)
            for change in answers[:2] if name != EVERYWHERE else ():  # equal.py asks about that
                selection = draw_changes(sample.random, change, distractors)
                if selection is not None:
                    yield self.draft(sample, name, *selection)

    def draft(self, sample: Sample, name: str, changes: Sequence[Change], key: int) -> Draft:
        """Return the draft with these changes as options."""
        (options, marks), effect = as_options(changes), as_clause(sample.statements[name])
        claims = [
            claim
            for place, change in enumerate(changes)
            for claim in sample.basis(change, name, place == key)
        ]
        question = self.question(
            sample,
            f"Which change to the marked code has this among its effects: {effect}?",
            (options, key),
            "Each changed function was run on inputs of three sizes. This is the only change after "
            f"which {effect}.",
            [self.reason_against(sample, change) for change in changes],
            marks,
            sample.picture(changes[key]),
        )
        return Draft(question, changes[key], tuple(claims))

    def distractors(self, sample: Sample, name: str) -> list[Change]:
        """Return the changes for which a statement is false, if possible only those that run."""
        false = [change for change in sample.changes if name in sample.false_statements(change)]
        running = [change for change in false if not sample.finding(change, RAISES)]
        return running if len(running) >= OPTIONS else false

    def reason_against(self, sample: Sample, change: Change) -> str:
        """Return the sentence that says why a change is not the answer."""
        statements = sample.true_statements(change)
        if statements:  # known for the first size only
            effect = as_clause(sample.statements[statements[0]])
            return f"Instead, for inputs of the first size, {effect}."
        if sample.finding(change, DIFFERS + USUAL):
            return "It changes the results, but not in this way."
        return "It does not have this effect."

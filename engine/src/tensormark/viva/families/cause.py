"""Which change has this effect?"""

from collections.abc import Iterator, Sequence

from tensormark.viva.family import Draft, Sample, changes_of, lower, marks_of
from tensormark.viva.question import OPTIONS, Question
from tensormark.viva.source import Change
from tensormark.viva.study import DIFFERS, EVERYWHERE, RAISES, USUAL


class Cause:
    """Which change has this effect?"""

    name = "cause"
    next = "What do the other three changes do instead?"

    def drafts(self, sample: Sample) -> Iterator[Draft]:
        """Ask which of four changes makes a statement true."""
        usual = sorted({name for change in sample.changes for name in sample.true_of(change)})
        for name in sample.random.sample(usual, len(usual)):
            right = [change for change in sample.changes if name in sample.true_of(change)]
            wrong = self.others(sample, name)
            for change in right[:2] if name != EVERYWHERE else ():  # equal.py asks about that
                chosen = changes_of(sample.random, change, wrong)
                if chosen is not None:
                    yield self.draft(sample, name, *chosen)

    def draft(self, sample: Sample, name: str, changes: Sequence[Change], key: int) -> Draft:
        """Return the draft with these changes as options."""
        marks, effect = marks_of(changes), lower(sample.statements[name])
        claims = [
            claim
            for place, change in enumerate(changes)
            for claim in sample.basis(change, name, place == key)
        ]
        question = Question(
            self.name,
            sample.function,
            min(mark.line for mark in marks),  # not the key's line, which would give it away
            f"Which change to the marked code has this among its effects: {effect}?",
            tuple(change.short(marks.index(change.mark)) for change in changes),
            key,
            "Each changed function was run on inputs of three sizes. This is the only change after "
            f"which {effect}.",
            tuple(
                "" if place == key else self.instead(sample, change)
                for place, change in enumerate(changes)
            ),
            self.next,
            sample.picture(changes[key]),
            marks,
        )
        return Draft(question, changes[key], tuple(claims))

    def others(self, sample: Sample, name: str) -> list[Change]:
        """Return the changes of which a statement is false, if possible only those that run."""
        false = [change for change in sample.changes if name in sample.false_of(change)]
        running = [change for change in false if not sample.finding(change, RAISES)]
        return running if len(running) >= OPTIONS else false

    def instead(self, sample: Sample, change: Change) -> str:
        """Return why a change is not the answer."""
        true = sample.true_of(change)
        if true:  # known for the first size only
            return f"Instead, for inputs of the first size, {lower(sample.statements[true[0]])}."
        if sample.finding(change, DIFFERS + USUAL):
            return "It changes the results, but not in this way."
        return "It does not have this effect."

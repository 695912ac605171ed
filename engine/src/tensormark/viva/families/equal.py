"""Which change makes no difference?"""

import functools
from collections.abc import Iterator, Sequence

from tensormark.viva.family import Draft, Sample, changes_of, marks_of
from tensormark.viva.question import OPTIONS, Question
from tensormark.viva.source import Change
from tensormark.viva.study import EVERYWHERE, RAISES, SAME

MORE = 8  # changes to a function, besides those of its sample
LIKELY = ("order", "form", "nesting", "arguments", "number", "name")  # may make no difference


class Equal:
    """Which change makes no difference?"""

    name = "equal"
    next = "For which inputs do the results differ, and by how much?"

    def drafts(self, sample: Sample) -> Iterator[Draft]:
        """Ask which of four changes makes no difference, or which is the only one that does."""
        hidden = [change for change in sample.study.changes if not change.reveals]
        revealing = [change for change in sample.study.changes if change.reveals]
        for group in sample.random.sample([hidden, revealing], 2):  # so that no option stands out
            candidates = [change for change in sample.changes if change in group]
            likely = [c for c in group if c.kind in LIKELY and c not in candidates]
            candidates += sample.spread(likely, MORE)
            finding = sample.study.finding
            same = [c for c in candidates if finding(c, EVERYWHERE) is True]
            other = [change for change in candidates if differs(sample, change)]
            both = [(same, other, False), (other, same, True)]
            for right, wrong, one_differs in sample.random.sample(both, len(both)):
                for change in sample.random.sample(right, min(len(right), 3)):
                    chosen = changes_of(sample.random, change, wrong)
                    if chosen is not None:
                        yield self.draft(sample, *chosen, one_differs)

    def draft(
        self, sample: Sample, changes: Sequence[Change], key: int, one_differs: bool
    ) -> Draft:
        """Return the draft with these changes as options."""
        marks = marks_of(changes)
        unchanged = "results and gradients unchanged, up to rounding, for every valid input"
        prompt = f"Which of these changes leaves {unchanged}?"
        if one_differs:
            prompt = f"All but one of these changes leave {unchanged}. Which one does not?"
        equal, other = "It makes no difference.", "It changes the results."
        own, others = (other, equal) if one_differs else (equal, other)
        question = Question(
            self.name,
            sample.function,
            min(mark.line for mark in marks),  # not the key's line, which would give it away
            prompt,
            tuple(change.short(marks.index(change.mark)) for change in changes),
            key,
            f"{own} Each changed function was run on inputs of three sizes, in both modes.",
            tuple("" if place == key else others for place in range(OPTIONS)),
            self.next,
            sample.picture(changes[key]) if one_differs else None,
            marks,
        )
        claims = [
            (change, *((SAME, False) if (place == key) is one_differs else (EVERYWHERE, True)))
            for place, change in enumerate(changes)
        ]
        return Draft(question, changes[key], tuple(claims))


def differs(sample: Sample, change: Change) -> bool:
    """Return whether a changed copy runs, and returns other results."""
    finding = functools.partial(sample.study.finding, change)
    return finding(RAISES) is False and finding(SAME) is False

"""Which change changes nothing?"""

import functools
from collections.abc import Iterator, Sequence

from tensormark.viva import study as found
from tensormark.viva.family import Draft, Sample, changes_of, marks_of
from tensormark.viva.question import OPTIONS, Question
from tensormark.viva.source import Change

LOOKED_AT = 8  # further changes of a function
LIKELY = (
    "order",
    "form",
    "nesting",
    "arguments",
    "number",
    "name",
)  # kinds that may change nothing


class Equal:
    """Which change changes nothing?"""

    name = "equal"
    next = "For which inputs do the others differ, and by how much?"

    def drafts(self, sample: Sample) -> Iterator[Draft]:
        """Ask which of four changes changes nothing, or which one of them does."""
        hidden = [change for change in sample.study.changes if not change.tells]
        telling = [change for change in sample.study.changes if change.tells]
        for group in sample.random.sample([hidden, telling], 2):  # so that none stands out
            drawn = [change for change in sample.changes if change in group]
            likely = [c for c in group if c.kind in LIKELY and c not in drawn]
            drawn += sample.spread(likely, LOOKED_AT)
            finding = sample.study.finding
            same = [c for c in drawn if finding(c, found.EVERYWHERE) is True]
            other = [change for change in drawn if differs(sample, change)]
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
        asked = f"Which of these changes leaves {unchanged}?"
        if one_differs:
            asked = f"All but one of these changes leave {unchanged}. Which one does not?"
        equal, other = "It changes nothing.", "It changes results."
        own, others = (other, equal) if one_differs else (equal, other)
        question = Question(
            self.name,
            sample.function,
            min(mark.line for mark in marks),  # and not that of the right one
            asked,
            tuple(change.short(marks.index(change.mark)) for change in changes),
            key,
            f"{own} Each changed function was run in calls of three sizes, in either mode.",
            tuple("" if place == key else others for place in range(OPTIONS)),
            self.next,
            sample.picture(changes[key]) if one_differs else None,
            marks,
        )
        claims = [
            (
                change,
                *(
                    (found.SAME, False)
                    if (place == key) is one_differs
                    else (found.EVERYWHERE, True)
                ),
            )
            for place, change in enumerate(changes)
        ]
        return Draft(question, changes[key], tuple(claims))


def differs(sample: Sample, change: Change) -> bool:
    """Say whether a changed copy runs, and gives other results."""
    finding = functools.partial(sample.study.finding, change)
    return finding(found.RAISES) is False and finding(found.SAME) is False

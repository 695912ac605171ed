"""Ask which change makes no difference."""

import functools
from collections.abc import Iterator, Sequence

from tensormark.viva.family import Draft, Family, Sample, as_options, draw_changes
from tensormark.viva.question import OPTIONS
from tensormark.viva.source import Change
from tensormark.viva.study import EVERYWHERE, RAISES, SAME

MAX_EXTRA_CHANGES = 8  # to a function, besides those of its sample
# of changes that may make no difference
LIKELY_KINDS = ("order", "form", "nesting", "arguments", "number", "name")


class Equal(Family):
    """Questions such as "Which of these changes leaves the results unchanged?"."""

    name = "equal"
    follow_up = "For which inputs do the results differ, and by how much?"

    def drafts(self, sample: Sample) -> Iterator[Draft]:
        """Ask which of four changes makes no difference, or which is the only one that does."""
        hidden = [change for change in sample.study.changes if not change.reveals]
        revealing = [change for change in sample.study.changes if change.reveals]
        for group in sample.random.sample([hidden, revealing], 2):  # so that no option stands out
            candidates = [change for change in sample.changes if change in group]
            extras = [c for c in group if c.kind in LIKELY_KINDS and c not in candidates]
            candidates += sample.draw_evenly(extras, MAX_EXTRA_CHANGES)
            finding = sample.study.finding
            equal = [c for c in candidates if finding(c, EVERYWHERE) is True]
            different = [change for change in candidates if differs(sample, change)]
            forms = [(equal, different, False), (different, equal, True)]
            for answers, distractors, one_differs in sample.random.sample(forms, len(forms)):
                for change in sample.random.sample(answers, min(len(answers), 3)):
                    selection = draw_changes(sample.random, change, distractors)
                    if selection is not None:
                        yield self.draft(sample, *selection, one_differs)

    def draft(
        self, sample: Sample, changes: Sequence[Change], key: int, one_differs: bool
    ) -> Draft:
        """Return the draft with these changes as options.

        Args:
            one_differs: the answer is the only change that makes a difference.
        """
        options, marks = as_options(changes)
        unchanged = "results and gradients unchanged, up to rounding, for every valid input"
        prompt = f"Which of these changes leaves {unchanged}?"
        if one_differs:
            prompt = f"All but one of these changes leave {unchanged}. Which one does not?"
        no_difference, difference = "It makes no difference.", "It changes the results."
        answer_text, distractor_text = (
            (difference, no_difference) if one_differs else (no_difference, difference)
        )
        question = self.question(
            sample,
            prompt,
            (options, key),
            f"{answer_text} Each changed function was run on inputs of three sizes, in both modes.",
            [distractor_text] * OPTIONS,
            marks,
            sample.picture(changes[key]) if one_differs else None,
        )
        claims = [
            (change, *((SAME, False) if (place == key) is one_differs else (EVERYWHERE, True)))
            for place, change in enumerate(changes)
        ]
        return Draft(question, changes[key], tuple(claims))


def differs(sample: Sample, change: Change) -> bool:
    """Return whether a changed copy runs and its results differ from the function's."""
    finding = functools.partial(sample.study.finding, change)
    return finding(RAISES) is False and finding(SAME) is False

"""Ask what a changed function computes from simple numbers."""

import functools
from collections.abc import Iterator

import numpy as np

from tensormark.viva.copies import Run
from tensormark.viva.family import Draft, Family, Sample, draw_options
from tensormark.viva.sameness import output_of
from tensormark.viva.source import Change
from tensormark.viva.subject import Example

STEP, LARGEST = 0.25, 99.0  # numbers that a question shows are multiples of STEP up to LARGEST
ROUNDING_ERROR = 1e-4


class Numbers(Family):
    """Questions such as "With the change, what is the first row of the result?"."""

    name = "numbers"
    follow_up = "Work it out on paper, line by line."

    def drafts(self, sample: Sample) -> Iterator[Draft]:
        """Ask for numbers of a changed function's result; other changes give the wrong options."""
        for example in sample.study.subject.examples:
            original = self.result(sample, example, None)
            results = {change: self.result(sample, example, change) for change in sample.changes}
            texts = {text for text in (original, *results.values()) if text is not None}
            for change, text in results.items():
                if text is None:
                    continue
                distractors = sorted(
                    other for other in texts if other.count(",") == text.count(",")
                )
                selection = draw_options(sample.random, text, distractors)
                if selection is None:
                    continue
                known = {original: "This is the result without the change."}
                question = self.question(
                    sample,
                    f"{change.sentence()} {example.text} With the change, what is "
                    f"{example.shown[0]}?",
                    selection,
                    f"The changed function was run on these inputs, and gave {text}.",
                    [known.get(o, "This is the result of another change.") for o in selection[0]],
                    [change.mark],
                )
                holds = functools.partial(self.is_reproduced, text, sample, example, change)
                yield Draft(question, change, holds=holds)

    def is_reproduced(self, text: str, sample: Sample, example: Example, change: Change) -> bool:
        """Return whether another run gives this result, in the shape that it should have."""
        original, changed = (self.output(sample, example, each) for each in (None, change))
        same_shape = (
            original is not None and changed is not None and original.shape == changed.shape
        )
        return same_shape and self.result(sample, example, change) == text

    def output(self, sample: Sample, example: Example, change: Change | None) -> np.ndarray | None:
        """Return the result of an example, with a change if given; None if the call fails."""
        study = sample.study
        text = study.source.text if change is None else change.text
        (reply,) = study.answer(text, [Run(example.call, example.inputs())])
        return output_of(reply) if reply.status == "ok" else None

    def result(self, sample: Sample, example: Example, change: Change | None) -> str | None:
        """Return the part of a result that is shown, if its numbers are round."""
        output = self.output(sample, example, change)
        if output is None:
            return None
        try:
            values = np.atleast_1d(example.shown[1](output))
        except (IndexError, ValueError):
            return None
        steps = values / STEP
        is_round = np.abs(steps - np.round(steps)) < ROUNDING_ERROR
        if values.ndim != 1 or not (np.abs(values) <= LARGEST).all() or not is_round.all():
            return None
        return f"`[{', '.join(f'{round(step) * STEP:g}' for step in steps.tolist())}]`"

"""Ask which message the grader gives for a change."""

from collections.abc import Iterator

from tensormark.references import References
from tensormark.viva.families.equal import differs
from tensormark.viva.family import Draft, Family, Sample, draw_options
from tensormark.viva.question import OPTIONS
from tensormark.viva.source import Change
from tensormark.viva.study import SAME

MAX_GRADED = 2  # changes to a function that are graded


class Messages(Family):
    """Questions such as "A number is changed. What does the grader then report?"."""

    name = "message"
    follow_up = "How can the grader tell without reading this line?"

    def drafts(self, sample: Sample) -> Iterator[Draft]:
        """Ask which message the grader gives for a change; the wrong options are other messages."""
        exercise = sample.study.exercise.id
        references = sample.study.copies.grading.references
        if not isinstance(references, References):
            return
        variants = references.manifest["exercises"].get(exercise, {}).get("variants", {})
        mistakes = sample.study.subject.mistakes
        messages = [variants[name]["says"] for name in mistakes if name in variants]
        if len(messages) < OPTIONS:
            return
        candidates = [change for change in sample.changes if differs(sample, change)]
        for change in candidates[:MAX_GRADED]:
            message = self.message(sample, change)
            if message is None or message not in messages:
                continue
            selection = draw_options(sample.random, message, messages)
            if selection is None:
                continue
            question = self.question(
                sample,
                f"{change.sentence()} What does the grader then report for `{exercise}`?",
                selection,
                "This is what the grader said about the changed file.",
                ["It did not say this."] * OPTIONS,
                [change.mark],
                sample.picture(change),
            )
            yield Draft(question, change, ((change, SAME, False),))

    def message(self, sample: Sample, change: Change) -> str | None:
        """Return the grader's message for a changed file, if it recognizes the mistake."""
        study = sample.study
        result = study.copies.graded(study.subject.module, change.text, study.exercise.id)
        first = result.findings[0] if result.findings else None
        return first.headline if first is not None and first.mistake else None

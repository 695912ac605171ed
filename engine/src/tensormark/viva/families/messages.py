"""What will the grader say?"""

from collections.abc import Iterator

from tensormark.references import References
from tensormark.viva import study as found
from tensormark.viva.families.equal import differs
from tensormark.viva.family import Draft, Sample, options_of
from tensormark.viva.question import OPTIONS, Question
from tensormark.viva.source import Change

GRADED = 2  # changes of a function


class Messages:
    """What will the grader say?"""

    name = "message"
    next = "How could the grader tell, without having seen this line?"

    def drafts(self, sample: Sample) -> Iterator[Draft]:
        """Ask by which message a change is known; wrong are those of other changes."""
        exercise = sample.study.exercise.id
        references = sample.study.copies.grading.references
        if not isinstance(references, References):
            return
        known = references.manifest["exercises"].get(exercise, {}).get("variants", {})
        says = [known[name]["says"] for name in sample.study.subject.mistakes if name in known]
        if len(says) < OPTIONS:
            return
        changed = [change for change in sample.changes if differs(sample, change)]
        for change in changed[:GRADED]:
            message = self.message(sample, change)
            if message is None or message not in says:
                continue
            chosen = options_of(sample.random, message, says)
            if chosen is None:
                continue
            options, key = chosen
            question = Question(
                self.name,
                sample.function,
                change.line,
                f"{change.says()} What does the grader then report for `{exercise}`?",
                options,
                key,
                "The changed file was graded, and this is what it said.",
                tuple("" if place == key else "It did not say this." for place in range(OPTIONS)),
                self.next,
                sample.picture(change),
                (change.mark,),
            )
            yield Draft(question, change, ((change, found.SAME, False),))

    def message(self, sample: Sample, change: Change) -> str | None:
        """Return what the grader says of a changed file, if it knows the mistake."""
        study = sample.study
        result = study.copies.graded(study.subject.module, change.text, study.exercise.id)
        first = result.findings[0] if result.findings else None
        return first.headline if first is not None and first.mistake else None

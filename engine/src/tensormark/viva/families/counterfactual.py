"""What follows from a change?"""

from collections.abc import Iterator

from tensormark.viva.family import Draft, Sample, lower, options_of
from tensormark.viva.question import OPTIONS, Question


class Counterfactual:
    """What follows from a change?"""

    name = "counterfactual"
    next = "Which other line could you change to make up for it, and why?"

    def drafts(self, sample: Sample) -> Iterator[Draft]:
        """Ask which of four statements is true of a change; each is true of some change."""
        usual = sorted({name for change in sample.changes for name in sample.true_of(change)})
        for name in sample.random.sample(usual, len(usual)):
            for change in sample.changes:
                if name not in sample.true_of(change):
                    continue
                wrong = [other for other in sample.false_of(change) if other in usual]
                texts = sample.statements
                chosen = options_of(sample.random, texts[name], [texts[other] for other in wrong])
                if chosen is None:
                    continue
                options, key = chosen
                used = [each for each in (name, *wrong) if texts[each] in options]
                claims = [c for each in used for c in sample.basis(change, each, each == name)]
                yield Draft(
                    Question(
                        self.name,
                        sample.function,
                        change.line,
                        f"{change.sentence()} Which of these statements is then true?",
                        options,
                        key,
                        "The changed function was run on inputs of three sizes: "
                        f"{lower(texts[name])}.",
                        tuple(
                            "" if place == key else "This was false in every call."
                            for place in range(OPTIONS)
                        ),
                        self.next,
                        sample.picture(change),
                        (change.mark,),
                    ),
                    change,
                    tuple(claims),
                )
                break

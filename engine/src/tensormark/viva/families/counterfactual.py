"""Ask what follows from a change."""

from collections.abc import Iterator

from tensormark.viva.family import Draft, Sample, as_clause, draw_options
from tensormark.viva.question import OPTIONS, Question


class Counterfactual:
    """Questions such as "The code marked 1 is removed. Which of these statements is then true?"."""

    name = "counterfactual"
    follow_up = "Which other line could you change to make up for it, and why?"

    def drafts(self, sample: Sample) -> Iterator[Draft]:
        """Ask which of four statements is true of a change; each is true of some change."""
        names = sorted(
            {name for change in sample.changes for name in sample.true_statements(change)}
        )
        for name in sample.random.sample(names, len(names)):
            for change in sample.changes:
                if name not in sample.true_statements(change):
                    continue
                distractors = [other for other in sample.false_statements(change) if other in names]
                texts = sample.statements
                selection = draw_options(
                    sample.random, texts[name], [texts[other] for other in distractors]
                )
                if selection is None:
                    continue
                options, key = selection
                used_names = [
                    used_name for used_name in (name, *distractors) if texts[used_name] in options
                ]
                claims = [
                    c
                    for used_name in used_names
                    for c in sample.basis(change, used_name, used_name == name)
                ]
                yield Draft(
                    Question(
                        self.name,
                        sample.function,
                        change.line,
                        f"{change.sentence()} Which of these statements is then true?",
                        options,
                        key,
                        "The changed function was run on inputs of three sizes: "
                        f"{as_clause(texts[name])}.",
                        tuple(
                            "" if place == key else "This was false in every call."
                            for place in range(OPTIONS)
                        ),
                        self.follow_up,
                        sample.picture(change),
                        (change.mark,),
                    ),
                    change,
                    tuple(claims),
                )
                break

"""Ask what follows from a change."""

from collections.abc import Iterator

from tensormark.viva.family import Draft, Family, Sample, as_clause, draw_options
from tensormark.viva.question import OPTIONS


class Counterfactual(Family):
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
                used_names = [each for each in (name, *distractors) if texts[each] in selection[0]]
                claims = [
                    c
                    for used_name in used_names
                    for c in sample.basis(change, used_name, used_name == name)
                ]
                question = self.question(
                    sample,
                    f"{change.sentence()} Which of these statements is then true?",
                    selection,
                    "The changed function was run on inputs of three sizes: "
                    f"{as_clause(texts[name])}.",
                    ["This was false in every call."] * OPTIONS,
                    [change.mark],
                    sample.picture(change),
                )
                yield Draft(question, change, tuple(claims))
                break

"""Which shape has an expression?"""

import ast
import functools
from collections.abc import Collection, Iterator, Mapping

from tensormark.viva.family import Draft, Sample, options_of
from tensormark.viva.question import OPTIONS, Question
from tensormark.viva.source import LONGEST
from tensormark.viva.study import USUAL, output_of

LOOKED_AT = 10  # expressions of a function
Shape = tuple[int, ...]


class Shapes:
    """Which shape has an expression?"""

    name = "shapes"
    next = "Which of its axes would change if there were twice as many tokens?"

    def drafts(self, sample: Sample) -> Iterator[Draft]:
        """Ask for the shape of an expression; wrong are those of others, or with mixed axes."""
        source = sample.study.source
        places: dict[tuple[int, str], ast.stmt] = {}
        for node, around in source.nodes():
            statement, text = source.statement_of(around), source.of(node)
            line = source.lines[node.lineno - 1]
            plain = isinstance(node, ast.BinOp | ast.Call) and node.lineno == node.end_lineno
            if plain and len(text) <= LONGEST and line.count(text) == 1:
                places.setdefault((node.lineno, text), statement)
        chosen = sample.random.sample([*places], min(LOOKED_AT, len(places)))
        shapes = {place: self.shape(sample, places[place], place[1]) for place in chosen}
        seen = {shape for shape in shapes.values() if shape is not None}
        for (number, text), shape in shapes.items():
            if shape is None or len(shape) < 2:
                continue
            wrong = [
                f"`{other}`" for other in sorted(seen | near(shape, self.sizes(sample).values()))
            ]
            found = options_of(sample.random, f"`{shape}`", self.likely(shape, wrong))
            if found is None:
                continue
            yield Draft(
                self.question(sample, number, text, *found),
                holds=functools.partial(self.still, shape, sample, places[number, text], text),
            )

    def sizes(self, sample: Sample) -> Mapping[str, int]:
        """Return the sizes of the call that is asked about, by letter."""
        subject = sample.study.subject
        return subject.sizes(subject.worlds[0])

    def likely(self, shape: Shape, wrong: list[str]) -> list[str]:
        """Return wrong shapes, without those that another number of axes gives away."""
        return [each for each in wrong if each.count(",") == len(shape) - 1] or wrong

    def still(self, shape: Shape, sample: Sample, statement: ast.stmt, expression: str) -> bool:
        """Say whether an expression has this shape in another run."""
        return self.shape(sample, statement, expression) == shape

    def shape(self, sample: Sample, statement: ast.stmt, expression: str) -> Shape | None:
        """Return the shape of an expression when its statement is first reached."""
        study = sample.study
        text = study.source.returning(statement, expression)
        (reply,) = study.answer(text, [study.world(0).runs[USUAL]])
        return output_of(reply).shape if reply.status == "ok" else None

    def question(
        self, sample: Sample, line: int, text: str, options: tuple[str, ...], key: int
    ) -> Question:
        """Return the question."""
        sizes = self.sizes(sample)
        given = ", ".join(f"{letter} = {size}" for letter, size in sizes.items())
        return Question(
            self.name,
            sample.function,
            line,
            f"With {given}: which shape has `{text}` in line {line}?",
            options,
            key,
            f"The function was run with these sizes, and stopped there: {options[key]}.",
            tuple("" if place == key else "Another shape." for place in range(OPTIONS)),
            self.next,
        )


def near(shape: Shape, sizes: Collection[int]) -> set[Shape]:
    """Return shapes like one: two neighbouring axes exchanged, or one of the last two other."""
    places = range(1, len(shape))
    swapped = {(*shape[: n - 1], shape[n], shape[n - 1], *shape[n + 1 :]) for n in places}
    others = {(*shape[:n], size, *shape[n + 1 :]) for n in places[-2:] for size in sizes}
    return (swapped | others) - {shape}

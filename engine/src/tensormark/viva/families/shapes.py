"""Which shape has an expression?"""

import ast
import functools
import itertools
from collections.abc import Iterator, Mapping

from tensormark.viva.family import Draft, Sample, options_of
from tensormark.viva.question import OPTIONS, Question, named
from tensormark.viva.sameness import output_of
from tensormark.viva.study import USUAL

LOOKED_AT = 10  # expressions of a function
Shape = tuple[int, ...]
# what may run several times, each with another shape, or gives names another meaning
AGAIN = (
    *(ast.For, ast.AsyncFor, ast.While, ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda),
    *(ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.NamedExpr),
)


class Shapes:
    """Which shape has an expression?"""

    name = "shapes"
    next = "Which of its axes would change if the inputs were twice as long?"

    def drafts(self, sample: Sample) -> Iterator[Draft]:
        """Ask for the shape of an expression; wrong are those of others, or with mixed axes."""
        source = sample.study.source
        places: dict[ast.expr, ast.stmt] = {}
        arguments = {each.arg for each in source.function.args.args}  # the docstring tells these
        for node, around in source.nodes():
            called = isinstance(around[0], ast.Call) and around[0].func is node
            bound = isinstance(getattr(node, "ctx", None), ast.Store)
            plain = isinstance(node, ast.BinOp | ast.Call | ast.Name) and not (called or bound)
            once = not any(isinstance(each, AGAIN) for each in around)
            given = isinstance(node, ast.Name) and node.id in arguments
            if plain and once and not given and node.lineno == node.end_lineno:
                places[node] = source.statement_of(around)
        chosen = sample.random.sample([*places], min(LOOKED_AT, len(places)))
        chosen = [node for node in chosen if sample.study.reached(node.lineno)]
        shapes = {node: self.shape(sample, places[node], source.of(node)) for node in chosen}
        result = output_of(sample.study.own(0, [])[USUAL]).shape
        seen = {shape for shape in shapes.values() if shape is not None} | {result}
        by_shape: dict[Shape, list[ast.expr]] = {}
        for node, shape in shapes.items():
            if shape is not None and len(shape) > 1:
                by_shape.setdefault(shape, []).append(node)
        groups = sample.random.sample([*by_shape.values()], len(by_shape))
        rounds = itertools.zip_longest(*groups)  # each shape as often, and not the commonest
        for node in (node for one in rounds for node in one if node is not None):
            shape = shapes[node]
            assert shape is not None
            wrong = [f"`{other}`" for other in self.wrong(sample, shape, seen)]
            found = options_of(sample.random, f"`{shape}`", wrong)
            if found is None:
                continue
            again = functools.partial(self.still, shape, sample, places[node], source.of(node))
            yield Draft(self.question(sample, node, *found), holds=again)

    def wrong(self, sample: Sample, shape: Shape, seen: set[Shape]) -> list[Shape]:
        """Return three others of the function; or one, and one near each, so that none is central.

        Args:
            seen: the shapes of the function.
        """
        sizes = {*self.sizes(sample).values()}
        known = sizes | {1} | {one * other for one in sizes for other in sizes}
        others = sorted(seen - {shape})
        if not others or not known.issuperset(shape):  # of what the question does not say
            return []
        if len(others) >= OPTIONS - 1:
            return sample.random.sample(others, OPTIONS - 1)
        twin = sample.random.choice(others)
        likely = sizes & {size for one in seen for size in one}
        near = [self.near(sample, one, likely, seen) for one in (shape, twin)]
        return [twin, *filter(None, near)]

    def near(self, sample: Sample, shape: Shape, sizes: set[int], seen: set[Shape]) -> Shape | None:
        """Return a shape of which one axis has another size, if there is one that is not there."""
        first = 1 if len(shape) > 2 else 0  # the batch is the same everywhere
        changed = {
            (*shape[:axis], size, *shape[axis + 1 :])
            for axis in range(first, len(shape))
            for size in sizes
        }
        return sample.random.choice(sorted(changed - seen)) if changed - seen else None

    def sizes(self, sample: Sample) -> Mapping[str, int]:
        """Return the sizes of the call that is asked about, by letter."""
        subject = sample.study.subject
        return subject.sizes(subject.worlds[0])

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
        self, sample: Sample, node: ast.expr, options: tuple[str, ...], key: int
    ) -> Question:
        """Return the question."""
        sizes, source = self.sizes(sample), sample.study.source
        letters = (f"{letter} = {size}" for letter, size in sizes.items())
        given = sample.study.in_words(", ".join(letters))
        return Question(
            self.name,
            sample.function,
            node.lineno,
            f"With {given}: what is the shape of the expression marked {named(0)}?",
            options,
            key,
            f"The function was run with these sizes, and stopped there: {options[key]}.",
            tuple("" if place == key else "Another shape." for place in range(OPTIONS)),
            self.next,
            marks=(source.mark(*source.span(node)),),
        )

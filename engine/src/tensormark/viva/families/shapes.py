"""What is the shape of an expression?"""

import ast
import functools
import itertools
from collections.abc import Iterator, Mapping

from tensormark.viva.family import Draft, Sample, options_of
from tensormark.viva.question import OPTIONS, Question, named
from tensormark.viva.sameness import output_of
from tensormark.viva.study import USUAL

MOST = 10  # expressions of a function
Shape = tuple[int, ...]
# code in these may run several times with other shapes, or give names another meaning
REPEATED = (
    *(ast.For, ast.AsyncFor, ast.While, ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda),
    *(ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.NamedExpr),
)


class Shapes:
    """What is the shape of an expression?"""

    name = "shapes"
    next = "Which of its axes would change if the inputs were twice as long?"

    def drafts(self, sample: Sample) -> Iterator[Draft]:
        """Ask for the shape of an expression; see `wrong` for the other options."""
        source = sample.study.source
        places: dict[ast.expr, ast.stmt] = {}
        arguments = {each.arg for each in source.function.args.args}  # the docstring has these
        for node, around in source.nodes():
            called = isinstance(around[0], ast.Call) and around[0].func is node
            bound = isinstance(getattr(node, "ctx", None), ast.Store)
            plain = isinstance(node, ast.BinOp | ast.Call | ast.Name) and not (called or bound)
            once = not any(isinstance(each, REPEATED) for each in around)
            given = isinstance(node, ast.Name) and node.id in arguments
            if plain and once and not given and node.lineno == node.end_lineno:
                places[node] = source.statement_of(around)
        nodes = sample.random.sample([*places], min(MOST, len(places)))
        nodes = [node for node in nodes if sample.study.reached(node.lineno)]
        shapes = {node: self.shape(sample, places[node], source.of(node)) for node in nodes}
        result = output_of(sample.study.own(0, [])[USUAL]).shape
        own = {shape for shape in shapes.values() if shape is not None} | {result}
        by_shape: dict[Shape, list[ast.expr]] = {}
        for node, shape in shapes.items():
            if shape is not None and len(shape) > 1:
                by_shape.setdefault(shape, []).append(node)
        groups = sample.random.sample([*by_shape.values()], len(by_shape))
        rounds = itertools.zip_longest(*groups)  # so that no shape is asked for more than others
        for node in (node for row in rounds for node in row if node is not None):
            shape = shapes[node]
            assert shape is not None
            wrong = [f"`{other}`" for other in self.wrong(sample, shape, own)]
            chosen = options_of(sample.random, f"`{shape}`", wrong)
            if chosen is None:
                continue
            again = functools.partial(self.still, shape, sample, places[node], source.of(node))
            yield Draft(self.question(sample, node, *chosen), holds=again)

    def wrong(self, sample: Sample, shape: Shape, own: set[Shape]) -> list[Shape]:
        """Return three other shapes of the function; or one, and a near miss of it and of the key.

        With two near misses, the key is not the only shape that resembles others.

        Args:
            own: the shapes of the function.
        """
        sizes = {*self.sizes(sample).values()}
        derivable = sizes | {1} | {size * other for size in sizes for other in sizes}
        others = sorted(own - {shape})
        if not others or not derivable.issuperset(shape):  # the question does not give the rest
            return []
        if len(others) >= OPTIONS - 1:
            return sample.random.sample(others, OPTIONS - 1)
        twin = sample.random.choice(others)
        likely = sizes & {size for other in own for size in other}
        near = [self.near(sample, each, likely, own) for each in (shape, twin)]
        return [twin, *filter(None, near)]

    def near(self, sample: Sample, shape: Shape, sizes: set[int], own: set[Shape]) -> Shape | None:
        """Return a shape with another size for one axis that the function lacks, if any."""
        first = 1 if len(shape) > 2 else 0  # the batch is the same everywhere
        changed = {
            (*shape[:axis], size, *shape[axis + 1 :])
            for axis in range(first, len(shape))
            for size in sizes
        }
        return sample.random.choice(sorted(changed - own)) if changed - own else None

    def sizes(self, sample: Sample) -> Mapping[str, int]:
        """Return the sizes of the call in question, by letter."""
        subject = sample.study.subject
        return subject.sizes(subject.worlds[0])

    def still(self, shape: Shape, sample: Sample, statement: ast.stmt, expression: str) -> bool:
        """Return whether an expression has this shape in another run."""
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
        """Return the question with these options."""
        sizes, source = self.sizes(sample), sample.study.source
        letters = (f"{letter} = {size}" for letter, size in sizes.items())
        given = sample.study.in_words(", ".join(letters))
        return Question(
            self.name,
            sample.function,
            node.lineno,
            f"With {given}, what is the shape of the expression marked {named(0)}?",
            options,
            key,
            f"The function was run with these sizes, and the shape there was {options[key]}.",
            tuple("" if place == key else "It has another shape." for place in range(OPTIONS)),
            self.next,
            marks=(source.mark(*source.span(node)),),
        )

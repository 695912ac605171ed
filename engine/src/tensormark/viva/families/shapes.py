"""Ask for the shape of an expression."""

import ast
import functools
import itertools
from collections.abc import Iterator, Mapping

from tensormark.viva.family import Draft, Family, Sample, draw_options
from tensormark.viva.question import OPTIONS, named
from tensormark.viva.sameness import output_of
from tensormark.viva.study import USUAL

MAX_EXPRESSIONS = 10  # of a function
Shape = tuple[int, ...]
# code inside these may run several times with different shapes, or give names another meaning
REPEATED_CODE = (
    *(ast.For, ast.AsyncFor, ast.While, ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda),
    *(ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.NamedExpr),
)


class Shapes(Family):
    """Questions such as "With B = 2, what is the shape of the expression marked 1?"."""

    name = "shapes"
    follow_up = "Which of its axes would change if the inputs were twice as long?"

    def drafts(self, sample: Sample) -> Iterator[Draft]:
        """Ask for the shape of an expression; see `distractors` for the other options."""
        source = sample.study.source
        places: dict[ast.expr, ast.stmt] = {}
        argument_names = {each.arg for each in source.function.args.args}  # the docstring has these
        for node, ancestors in source.nodes():
            is_callee = isinstance(ancestors[0], ast.Call) and ancestors[0].func is node
            is_target = isinstance(getattr(node, "ctx", None), ast.Store)
            is_plain = isinstance(node, ast.BinOp | ast.Call | ast.Name) and not (
                is_callee or is_target
            )
            runs_once = not any(isinstance(each, REPEATED_CODE) for each in ancestors)
            is_argument = isinstance(node, ast.Name) and node.id in argument_names
            if is_plain and runs_once and not is_argument and node.lineno == node.end_lineno:
                places[node] = next(each for each in ancestors if isinstance(each, ast.stmt))
        nodes = sample.random.sample([*places], min(MAX_EXPRESSIONS, len(places)))
        nodes = [node for node in nodes if sample.study.reached(node.lineno)]
        shapes = {node: self.shape(sample, places[node], source.of(node)) for node in nodes}
        result = output_of(sample.study.original_replies(0, [])[USUAL]).shape
        own_shapes = {shape for shape in shapes.values() if shape is not None} | {result}
        by_shape: dict[Shape, list[ast.expr]] = {}
        for node, shape in shapes.items():
            if shape is not None and len(shape) > 1:
                by_shape.setdefault(shape, []).append(node)
        groups = sample.random.sample([*by_shape.values()], len(by_shape))
        rounds = itertools.zip_longest(*groups)  # so that no shape is asked for more than others
        for node in (node for row in rounds for node in row if node is not None):
            shape = shapes[node]
            assert shape is not None
            labels = [f"`{other}`" for other in self.distractors(sample, shape, own_shapes)]
            selection = draw_options(sample.random, f"`{shape}`", labels)
            if selection is None:
                continue
            holds = functools.partial(
                self.is_reproduced, shape, sample, places[node], source.of(node)
            )
            question = self.question(
                sample,
                f"With {self.sizes_in_words(sample)}, what is the shape of the expression marked "
                f"{named(0)}?",
                selection,
                f"The function was run with these sizes, and the shape there was `{shape}`.",
                ["It has another shape."] * OPTIONS,
                [source.mark(*source.span(node))],
            )
            yield Draft(question, holds=holds)

    def distractors(self, sample: Sample, shape: Shape, own_shapes: set[Shape]) -> list[Shape]:
        """Return three other shapes of the function; or one, and a near miss of it and of the key.

        With two near misses, the key is not the only shape that resembles others.

        Args:
            own_shapes: those of the function's expressions and of its result.
        """
        sizes = {*self.sizes(sample).values()}
        derivable = sizes | {1} | {size * other for size in sizes for other in sizes}
        others = sorted(own_shapes - {shape})
        if not others or not derivable.issuperset(shape):  # the question does not give the rest
            return []
        if len(others) >= OPTIONS - 1:
            return sample.random.sample(others, OPTIONS - 1)
        twin = sample.random.choice(others)
        likely_sizes = sizes & {size for other in own_shapes for size in other}
        near_misses = [
            self.near_miss(sample, each, likely_sizes, own_shapes) for each in (shape, twin)
        ]
        return [twin, *filter(None, near_misses)]

    def near_miss(
        self, sample: Sample, shape: Shape, sizes: set[int], own_shapes: set[Shape]
    ) -> Shape | None:
        """Return a shape that differs in one axis and does not occur in the function, if any."""
        first = 1 if len(shape) > 2 else 0  # the batch is the same everywhere
        changed = {
            (*shape[:axis], size, *shape[axis + 1 :])
            for axis in range(first, len(shape))
            for size in sizes
        }
        return sample.random.choice(sorted(changed - own_shapes)) if changed - own_shapes else None

    def sizes(self, sample: Sample) -> Mapping[str, int]:
        """Return the sizes of the call that is asked about, by letter."""
        subject = sample.study.subject
        return subject.sizes(subject.worlds[0])

    def is_reproduced(
        self, shape: Shape, sample: Sample, statement: ast.stmt, expression: str
    ) -> bool:
        """Return whether an expression has this shape in another run, too."""
        return self.shape(sample, statement, expression) == shape

    def shape(self, sample: Sample, statement: ast.stmt, expression: str) -> Shape | None:
        """Return the shape of an expression when its statement is first reached."""
        study = sample.study
        text = study.source.before(statement, f"return {expression}")
        (reply,) = study.answer(text, [study.world(0).runs[USUAL]])
        return output_of(reply).shape if reply.status == "ok" else None

    def sizes_in_words(self, sample: Sample) -> str:
        """Return the sizes as a question gives them."""
        letters = (f"{letter} = {size}" for letter, size in self.sizes(sample).items())
        return sample.study.in_words(", ".join(letters))

"""The kinds of questions: each proposes questions on a function, with the answers that runs gave.

One option is right, at the index `key`; each of the others was found to be wrong.
"""

import ast
import itertools
import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

from tensormark.viva.edits import DETACH, HARMLESS, Change, Place, changes
from tensormark.viva.question import OPTIONS, Question
from tensormark.viva.study import GRADIENT, Effects, Study

TRIED = 16  # changes to a function, of which about half raise
TRIED_ELSE = 6  # further ones that may make no difference, and as many that cut off a gradient
MAX_EXPRESSIONS = 10  # of a function, whose shape may be asked for
NAMED = 3  # inputs and weights in a question about gradients
SUPPOSE = "Suppose line {} read as shown here."
FOUND = "The changed function was run on inputs of three sizes."


class Sample:
    """Changes to one function, drawn by a seed, with what each of them does.

    Attributes:
        used: changes that a question was about.
    """

    def __init__(self, study: Study, generator: random.Random) -> None:
        self.study = study
        self.random = generator
        self.used: set[Change] = set()
        self.all = changes(study.source)

    @cached_property
    def changes(self) -> dict[Change, Effects]:
        """Changes of all kinds, and further ones that may make no difference."""
        found = self.tried([each for each in self.all if each.kind != DETACH], TRIED)
        harmless = [each for each in self.all if each.kind in HARMLESS and each not in found]
        return found | self.tried(harmless, TRIED_ELSE)

    @cached_property
    def cuts(self) -> dict[Change, Effects]:
        """Changes that cut off a gradient."""
        return self.tried([each for each in self.all if each.kind == DETACH], TRIED_ELSE)

    def shuffled(self, values: Iterable[Any]) -> list[Any]:
        """Return values in a random order."""
        listed = list(values)
        return self.random.sample(listed, len(listed))

    def in_turns(self, values: Iterable[Any], group: Callable[[Any], object]) -> list[Any]:
        """Return values in a random order in which their groups take turns."""
        groups: dict[object, list[Any]] = {}
        for value in self.shuffled(values):
            groups.setdefault(group(value), []).append(value)
        rounds = itertools.zip_longest(*self.shuffled(groups.values()))
        return [value for row in rounds for value in row if value is not None]

    def tried(self, candidates: Sequence[Change], count: int) -> dict[Change, Effects]:
        """Try some changes, drawn as evenly as possible over lines and kinds."""
        drawn = self.in_turns(candidates, lambda change: (change.line, change.kind))
        found = {change: self.study.effects(change) for change in drawn[:count]}
        return {change: effects for change, effects in found.items() if effects is not None}

    def question(
        self,
        family: str,
        prompt: str,
        answer: str,
        wrong: Iterable[str],
        reasons: Mapping[str, str],
        ask_next: str,
        line: int = 0,
        code: str = "",
    ) -> Iterator[Question]:
        """Yield a question if there are enough wrong options; lengths do not give its answer away.

        Args:
            reasons: why options are right or wrong.
        """
        others = self.shuffled(sorted({*wrong} - {answer}))
        shorter = [text for text in others if len(text) < len(answer)]
        shorter = shorter[: self.random.randrange(OPTIONS)]
        rest = [text for text in others if text not in shorter]
        rest.sort(key=lambda text: len(text) < len(answer))
        options = self.shuffled([answer, *[*shorter, *rest][: OPTIONS - 1]])
        if len(options) == OPTIONS:
            yield Question(
                family=family,
                function=self.study.subject.target,
                line=line,
                prompt=prompt,
                code=code,
                options=tuple(options),
                key=options.index(answer),
                reasons=tuple(reasons.get(option, "") for option in options),
                ask_next=ask_next,
            )


def effect_questions(sample: Sample) -> Iterator[Question]:
    """Ask what a change does; every option is true of some change."""
    true = [t for effects in sample.changes.values() for t, truth in effects.items() if truth]
    known = sorted(text for text in {*true} if not text.startswith(GRADIENT))
    for statement in sample.shuffled(known):
        for change, effects in sample.changes.items():
            if not effects[statement] or change in sample.used:
                continue
            drawn = sample.question(
                "effect",
                f"{SUPPOSE.format(change.line)} Which of these would then be true?",
                statement,
                [text for text in known if effects[text] is False],
                {statement: FOUND},
                "Which other line could you change to make up for it, and why?",
                change.line,
                change.shown,
            )
            for question in drawn:
                sample.used.add(change)
                yield question
            break


def same_questions(sample: Sample) -> Iterator[Question]:
    """Ask which of four changes makes no difference."""
    study = sample.study
    tried = sample.changes
    texts = {change: f"Line {change.line}: `{change.shown}`" for change in tried}
    same = {change for change, effects in tried.items() if effects[study.same]}
    other = [change for change, effects in tried.items() if effects[study.same] is False]
    for change in sample.shuffled(change for change in texts if change in same - sample.used):
        yield from sample.question(
            "same",
            "Only one of these changes has no effect at all. Which one?",
            texts[change],
            [texts[each] for each in other if each not in sample.used],
            {texts[each]: consequence(effects) for each, effects in tried.items()},
            "For which inputs do the results of the others differ, and by how much?",
        )


def consequence(effects: Effects) -> str:
    """Return a statement that is true of a change."""
    true = (text for text, truth in effects.items() if truth and not text.startswith(GRADIENT))
    return next(true, "The result changes.")


def gradient_questions(sample: Sample) -> Iterator[Question]:
    """Ask what gets no gradient once it is cut off somewhere."""
    study = sample.study
    for change, effects in sample.cuts.items():
        names = [name for name, truth in effects.items() if name.startswith(GRADIENT)]
        lost = sample.shuffled(name for name in names if effects[name])
        kept = sample.shuffled(name for name in names if effects[name] is False)
        drawn = {*lost[:2], *kept[: NAMED - len(lost[:2])]}
        asked = [name for name in names if name in drawn]
        answer = study.phrase([name for name in asked if effects[name]])
        subsets = (itertools.combinations(asked, count) for count in range(1, NAMED))
        if not lost or not kept:
            continue
        yield from sample.question(
            "gradient",
            f"{SUPPOSE.format(change.line)} After a backward pass, which of {study.phrase(asked)} "
            "would have no gradient?",
            answer,
            map(study.phrase, itertools.chain(*subsets)),
            {answer: FOUND},
            "What would that do to training, and how would you notice?",
            change.line,
            change.shown,
        )


def shape_questions(sample: Sample) -> Iterator[Question]:
    """Ask for the shape of an expression; other options are shapes of others, or end like these."""
    study = sample.study
    places = sample.shuffled(expressions(study))[:MAX_EXPRESSIONS]
    shapes = {place: study.shape_of(place) for place in places}
    known = {shape for shape in shapes.values() if shape}
    if len(known) < 2:
        return  # no need to read the function: all of it has the shape of its result
    sizes = study.subject.sizes(study.subject.worlds[0])
    if len(known) < OPTIONS:
        others = {(*shape[:-1], size) for shape in known for size in sizes.values()} - known
        known |= {*sample.shuffled(sorted(others))[: OPTIONS - len(known)]}
    derivable = {1, *sizes.values(), *(a * b for a in sizes.values() for b in sizes.values())}
    letters = study.in_words(", ".join(f"{letter} = {size}" for letter, size in sizes.items()))
    places_of = {
        f"`{shape}`": f"`{study.source.of(place.node)}` in line {place.node.lineno} has it."
        for place, shape in shapes.items()
    }
    for place in sample.in_turns(shapes, shapes.get):  # so that no shape is the likely one
        shape = shapes[place]
        if shape is None or len(shape) < 2 or not derivable.issuperset(shape):
            continue
        line = place.node.lineno
        yield from sample.question(
            "shape",
            f"With {letters}: what is the shape of `{study.source.of(place.node)}` in line {line}?",
            f"`{shape}`",
            [f"`{other}`" for other in known],
            {**places_of, f"`{shape}`": "The function was run with these sizes."},
            "Which of its axes would be longer if the inputs were twice as long?",
            line,
        )


def expressions(study: Study) -> Iterator[Place]:
    """Yield the expressions whose shape can be asked for: named by their text, and run once."""
    source = study.source
    for place in source.places():
        node = place.node
        inside = ast.walk(place.statement)
        runs_once = not any(isinstance(each, ast.comprehension | ast.Lambda) for each in inside)
        is_target = isinstance(getattr(node, "ctx", None), ast.Store)
        # the docstring has the shapes of arguments
        is_argument = isinstance(node, ast.Name) and not source.first_lines.get(node.id)
        is_unique = source.code(node.lineno).count(source.of(node)) == 1
        if place.is_callee or is_target or is_argument or not is_unique or not runs_once:
            continue
        if isinstance(node, ast.BinOp | ast.Call | ast.Name) and place.statement in source.body:
            yield place


# in the order in which a sheet asks
FAMILIES: Sequence[Callable[[Sample], Iterator[Question]]] = (
    effect_questions,
    shape_questions,
    gradient_questions,
    same_questions,
)

"""The kinds of questions: each proposes questions on a function, with the answers that runs gave.

One option is right, at the index `key`; each of the others was found to be wrong.
"""

import itertools
import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from tensormark.viva.edits import MARKUP, Change, changes
from tensormark.viva.question import OPTIONS, Question
from tensormark.viva.study import Effects, Study

TRIED = 20  # changes to a function, of which about half raise
SUPPOSE = "Suppose line {} read as shown here."
RUN = "The changed function was run on inputs of three sizes."


class Sample:
    """Changes to one function, drawn by a seed, with what each of them does."""

    def __init__(self, study: Study, generator: random.Random) -> None:
        self.study = study
        self.random = generator
        self.all = changes(study.source)

    def shuffled(self, values: Iterable[Any]) -> list[Any]:
        """Return values in a random order."""
        listed = list(values)
        return self.random.sample(listed, len(listed))

    def tried(self, count: int) -> dict[Change, Effects]:
        """Try some changes, drawn as evenly as possible over lines and kinds."""
        groups: dict[object, list[Change]] = {}
        for change in self.shuffled(self.all):
            groups.setdefault((change.line, change.kind), []).append(change)
        rounds = itertools.zip_longest(*self.shuffled(groups.values()))
        drawn = [change for row in rounds for change in row if change is not None]
        found = {change: self.study.effects(change) for change in drawn[:count]}
        return {change: effects for change, effects in found.items() if effects is not None}

    def question(
        self,
        family: str,
        change: Change,
        prompt: str,
        answer: str,
        wrong: Iterable[str],
        ask_next: str,
    ) -> Iterator[Question]:
        """Yield a question if there are enough wrong options; lengths do not give its answer away.

        Args:
            prompt: the question about the change.
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
                line=change.line,
                prompt=f"{SUPPOSE.format(change.line)} {prompt}",
                code=change.shown,
                options=tuple(options),
                key=options.index(answer),
                reason=RUN,
                ask_next=ask_next,
            )


def line_questions(sample: Sample) -> Iterator[Question]:
    """Ask which line is the first that depends on an input, a weight or dropout."""
    study = sample.study
    source = study.source
    lines = source.statement_lines()
    first, text = source.listing()[0]
    for name, (line, reason) in sample.shuffled(study.first_lines().items()):
        if line not in lines or len(lines) < OPTIONS or not MARKUP.isdisjoint(text):
            continue
        others = [each for each in lines if each != line]
        chosen = sorted([line, *sample.random.sample(others, OPTIONS - 1)])
        yield Question(
            family="line",
            function=study.subject.target,
            line=first,
            prompt=f"Which is the first line whose result {name}?",
            code=text.strip(),
            options=tuple(f"line {each}" for each in chosen),
            key=chosen.index(line),
            reason=reason,
            ask_next="Which later lines does it reach, and which not?",
        )


def effect_questions(sample: Sample) -> Iterator[Question]:
    """Ask what a change does; if possible, every option is true of some change."""
    tried = sample.tried(TRIED)
    known = sorted({text for effects in tried.values() for text in effects})
    true = [text for text in known if any(effects[text] for effects in tried.values())]
    statements = known if len(true) < OPTIONS else true
    used: set[tuple[int, int]] = set()  # where expressions begin: none is asked about twice
    for statement in sample.shuffled(statements) * 2:
        lines = {line for line, _ in used}
        for change, effects in sorted(tried.items(), key=lambda each: each[0].line in lines):
            place = change.line, change.marked.index("«")
            if not effects[statement] or place in used:
                continue
            drawn = sample.question(
                "effect",
                change,
                "Which of these would then be true?",
                statement,
                [text for text in statements if effects[text] is False],
                "Which other line could you change to make up for it, and why?",
            )
            for question in drawn:
                used.add(place)
                yield question
            break


# in the order in which a sheet asks
FAMILIES: Sequence[Callable[[Sample], Iterator[Question]]] = (line_questions, effect_questions)

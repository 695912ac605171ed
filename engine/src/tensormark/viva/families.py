"""The kinds of questions: each proposes questions on a function, with the answers that runs gave.

One option is right, at the index `key`; each of the others was found to be wrong.
"""

import collections
import itertools
import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from tensormark.viva.question import OPTIONS, Question
from tensormark.viva.source import Change, Statement
from tensormark.viva.study import Effects, Study

TRIED = 12  # changes to a function, of which about half raise
MIN_STATEMENTS = 2  # that other options belong to: else, the key is the odd one out
FIRST = (
    "The statement on line {} is the first that computes a tensor from one of these. From which?"
)
SUPPOSE = "Suppose line {} read as shown here."
RUN = "The changed function was run on inputs of three sizes."


class Sample:
    """Changes to one function, drawn by a seed, with what each of them does."""

    def __init__(self, study: Study, generator: random.Random) -> None:
        self.study = study
        self.random = generator

    def shuffled(self, values: Iterable[Any]) -> list[Any]:
        """Return values in a random order."""
        listed = list(values)
        return self.random.sample(listed, len(listed))

    def tried(self, count: int) -> dict[Change, Effects]:
        """Try some changes, drawn as evenly as possible over lines and kinds."""
        groups: dict[object, list[Change]] = {}
        for change in self.shuffled(self.study.source.changes):
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
    """Ask what a statement is the first to compute with: an input, a weight or dropout."""
    study = sample.study
    names = [sample.random.choice(each) for each in study.changeable().values()]
    first = study.first_statements(names)
    asked: set[Statement] = set()
    for name in sample.shuffled(first):
        statement, reason = first[name]
        if statement in asked or not statement.is_simple:
            continue
        others = [each for each in sample.shuffled(first) if first[each][0] != statement]
        seen: collections.Counter[Statement] = collections.Counter()
        order = {}
        for each in others:
            order[each] = seen[first[each][0]]
            seen[first[each][0]] += 1
        chosen = sorted(others, key=order.__getitem__)[: OPTIONS - 1]
        if len(chosen) < OPTIONS - 1 or len(seen) < MIN_STATEMENTS:
            continue
        asked.add(statement)
        options = sample.shuffled([name, *chosen])
        yield Question(
            family="line",
            function=study.subject.target,
            line=statement.first,
            prompt=FIRST.format(statement.first),
            code="",
            options=tuple(map(study.phrase, options)),
            key=options.index(name),
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

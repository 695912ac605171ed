"""The kinds of questions: each proposes questions on a function, with the answers that runs gave.

One option is right, at the index `key`; each of the others was found to be wrong.
"""

import itertools
import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from tensormark.viva.question import OPTIONS, Question
from tensormark.viva.source import Change, Statement
from tensormark.viva.study import Effects, Study

MOST = 10  # tensors of a function, which are changed one by one
TRIED = 20  # changes to a function, of which about half raise
MIN_STATEMENTS = 2  # that other options belong to: else, the key is the odd one out
# Their lines are marked in the listing: a number would tell how far down they are.
FIRST = "The marked statement is the first to use one of these in computing a tensor. Which one?"
SUPPOSE = "Suppose the marked line read as shown below it. Which of these would then be true?"
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

    def dealt(self, values: Iterable[Any], kind: Callable[[Any], object]) -> list[Any]:
        """Return values in a random order, in which the kinds take turns."""
        groups: dict[object, list[Any]] = {}
        for value in self.shuffled(values):
            groups.setdefault(kind(value), []).append(value)
        rounds = itertools.zip_longest(*self.shuffled(groups.values()))
        return [value for value in itertools.chain(*rounds) if value is not None]

    def tried(self, count: int) -> dict[Change, Effects]:
        """Try some changes, drawn as evenly as possible over lines and kinds."""
        drawn = self.dealt(self.study.source.changes, lambda change: (change.line, change.kind))
        found = {change: self.study.effects(change) for change in drawn[:count]}
        return {change: effects for change, effects in found.items() if effects is not None}


def line_questions(sample: Sample) -> Iterator[Question]:
    """Ask which input, weight or dropout a statement is the first to use."""
    study = sample.study
    names = sample.dealt(study.changeable(), study.own_name)[:MOST]
    first = study.first_statements(names)
    asked: set[Statement] = set()
    for name in sample.shuffled(first):
        statement, reason = first[name]
        if statement in asked:
            continue
        others = [each for each in first if first[each][0] != statement]
        chosen = sample.dealt(others, lambda each: first[each][0])[: OPTIONS - 1]
        belong = {first[each][0] for each in chosen}
        if len(chosen) < OPTIONS - 1 or len(belong) < MIN_STATEMENTS:
            continue
        asked.add(statement)
        options = sample.shuffled([name, *chosen])
        yield Question(
            family="line",
            function=study.subject.target,
            line=statement.first,
            prompt=FIRST,
            code="",
            options=tuple(map(study.phrase, options)),
            key=options.index(name),
            reason=f"With other {study.phrase(name).removeprefix('the ')}, {reason}",
            ask_next="Which later lines does it reach, and which not?",
        )


def effect_questions(sample: Sample) -> Iterator[Question]:
    """Ask what a change does; as many options as possible are true of some change."""
    tried = sample.tried(TRIED)
    known = sorted(set().union(*tried.values()))
    true = [text for text in known if any(effects[text] for effects in tried.values())]
    used: set[tuple[int, int]] = set()  # where expressions begin: none is asked about twice
    for statement in sample.shuffled(true) * 2:
        lines = {line for line, _ in used}
        for change, effects in sorted(tried.items(), key=lambda each: each[0].line in lines):
            place = change.line, change.marked.index("«")
            wrong = [text for text in sample.shuffled(known) if effects[text] is False]
            wrong.sort(key=lambda text: text not in true)
            if not effects[statement] or place in used or len(wrong) < OPTIONS - 1:
                continue
            used.add(place)
            options = sample.shuffled([statement, *wrong[: OPTIONS - 1]])
            yield Question(
                family="effect",
                function=sample.study.subject.target,
                line=change.line,
                prompt=SUPPOSE,
                code=change.shown,
                options=tuple(options),
                key=options.index(statement),
                reason=RUN,
                ask_next="Which other line could you change to make up for it, and why?",
            )
            break


# in the order in which a sheet asks
FAMILIES: Sequence[Callable[[Sample], Iterator[Question]]] = (line_questions, effect_questions)

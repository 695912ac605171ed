"""What the families of questions share: drafts, samples of changed copies, and options.

A family proposes drafts, and draw.py confirms them: every finding that a draft claims must also
hold in calls of other sizes. One option is the answer, at the index `key`; the others are
distractors.
"""

import abc
import dataclasses
import functools
import itertools
import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

import numpy as np

from tensormark.viva import study as findings
from tensormark.viva.question import OPTIONS, Mark, Picture, Question
from tensormark.viva.sameness import all_of, output_of
from tensormark.viva.source import DETACH, Change
from tensormark.viva.study import USUAL, Study

SAMPLE_SIZE = 10  # changed copies of a function, from which the questions on it are drawn
MAX_DETACHED = 4  # further copies, with a gradient cut off, only for questions about gradients
PICTURE_SIZE = 6  # most rows, and most columns, of a picture
ONLY_TRAINING = "only training"
GENERAL_STATEMENTS: Mapping[str, str] = {
    findings.RAISES: "The call raises an exception.",
    findings.SHAPE: "The result has a different shape.",
    findings.EVERYWHERE: "Results and gradients stay the same in both modes.",
    findings.FACTOR: "All results are multiplied by the same number.",
    ONLY_TRAINING: "Results change only in training mode.",
}
Claim = tuple[Change, str, bool]
Selection = tuple[Sequence[str], int]  # options, and the index of the answer


@dataclasses.dataclass(frozen=True)
class Draft:
    """A question that is not confirmed yet.

    Attributes:
        change: the change that it is about; a sheet has at most one question on each.
        claims: the findings that it rests on: a change, the finding's name, and its value.
        holds: checks, in another run, everything else that it rests on.
    """

    question: Question
    change: Change | None = None
    claims: tuple[Claim, ...] = ()
    holds: Callable[[], bool] = lambda: True


class Family(abc.ABC):
    """A kind of question.

    Attributes:
        follow_up: what to ask next in a conversation.
    """

    name: str
    follow_up: str

    @abc.abstractmethod
    def drafts(self, sample: "Sample") -> Iterator[Draft]:
        """Propose questions on the function of a sample."""

    def question(
        self,
        sample: "Sample",
        prompt: str,
        selection: Selection,
        explanation: str,
        others: Sequence[str],
        marks: Sequence[Mark],
        picture: Picture | None = None,
    ) -> Question:
        """Return a question.

        Args:
            others: why each option is wrong; not used for the answer.
            marks: the places that its texts refer to.
        """
        options, key = selection
        return Question(
            family=self.name,
            function=sample.function,
            line=min(mark.line for mark in marks),  # of all, as the key's would give it away
            prompt=prompt,
            options=tuple(options),
            key=key,
            explanation=explanation,
            others=tuple("" if place == key else why for place, why in enumerate(others)),
            ask_next=self.follow_up,
            picture=picture,
            marks=tuple(marks),
        )


class Sample:
    """Changed copies of one function, drawn by a seed, with the findings on each."""

    def __init__(self, study: Study, generator: random.Random) -> None:
        self.study, self.random = study, generator
        detached = [change for change in study.changes if change.kind == DETACH]
        unrevealing = [c for c in study.changes if c.kind != DETACH and not c.reveals]
        name_edits = [change for change in unrevealing if change.kind == "name"]
        code_edits = [change for change in unrevealing if change.kind != "name"]
        code_changes = self.draw_evenly(code_edits, SAMPLE_SIZE * 2 // 3)
        self.changes = [
            *code_changes,
            *self.draw_evenly(name_edits, SAMPLE_SIZE - len(code_changes)),
        ]
        self.random.shuffle(self.changes)
        self.detached = self.draw_evenly(detached, MAX_DETACHED)

    @property
    def function(self) -> str:
        """The name of the function."""
        return self.study.subject.target

    def draw_evenly(self, changes: Sequence[Change], count: int) -> list[Change]:
        """Draw changes, as evenly as possible over lines and kinds."""
        groups: dict[tuple[int, str], list[Change]] = {}
        for change in self.random.sample(changes, len(changes)):
            groups.setdefault((change.line, change.kind), []).append(change)
        rounds = itertools.zip_longest(*self.random.sample([*groups.values()], len(groups)))
        drawn = (change for row in rounds for change in row if change is not None)
        return [*itertools.islice(drawn, count)]

    def finding(self, change: Change, name: str) -> bool | None:
        """Return whether a finding is true of a changed copy; None if that cannot be told."""
        finding = functools.partial(self.study.finding, change)
        if name != findings.RAISES and finding(findings.RAISES):
            return False
        if name != ONLY_TRAINING:
            return finding(name)
        return all_of(map(finding, (findings.SAME, findings.GRADIENTS, findings.TRAINING)))

    @property
    def fact_statements(self) -> dict[str, str]:
        """The statements about the subject's facts, by the name of the finding."""
        facts = [*enumerate(self.study.subject.facts)]
        texts = {f"gained {place}": fact.gained for place, fact in facts if fact.gained}
        texts |= {f"lost {place}": fact.lost for place, fact in facts if fact.lost}
        return {name: self.study.in_words(text) for name, text in texts.items()}

    @property
    def statements(self) -> dict[str, str]:
        """All statements that can be made about a change, by the name of the finding."""
        return {**GENERAL_STATEMENTS, **self.fact_statements}

    def basis(self, change: Change, name: str, value: bool) -> tuple[Claim, ...]:
        """Return the findings on which a statement about a change rests."""
        if not value and self.finding(change, findings.RAISES):
            return ((change, findings.RAISES, True),)
        parts: tuple[str, ...] = (name,)
        if name == ONLY_TRAINING:
            parts = (findings.SAME, findings.GRADIENTS, findings.TRAINING)
        return tuple((change, part, bool(self.finding(change, part))) for part in parts)

    def true_statements(self, change: Change) -> list[str]:
        """Return the names of the statements that are true of a change."""
        return [name for name in self.statements if self.finding(change, name) is True]

    def false_statements(self, change: Change) -> list[str]:
        """Return the names of the statements that are false of a change."""
        return [name for name in self.statements if self.finding(change, name) is False]

    def picture(self, change: Change) -> Picture | None:
        """Return the first numbers of the usual call's result, before and after a change.

        There is no picture if they are the same, if the call fails, or if it has no numbers.
        """
        texts = self.study.source.text, change.text
        own, changed = (self.study.replies(text, 0, [])[USUAL] for text in texts)
        if changed.status != "ok" or not output_of(changed).size:
            return None
        before, after = corner(output_of(own)), corner(output_of(changed))
        if before == after:
            return None
        return Picture("the beginning of a call's result", before, after)


def corner(values: np.ndarray) -> tuple[tuple[float, ...], ...]:
    """Return the first numbers of a tensor along its last two axes, rounded to two decimals."""
    while values.ndim > 2:
        values = values[0]
    rows = np.atleast_2d(values)[:PICTURE_SIZE, :PICTURE_SIZE]
    return tuple(tuple(round(float(value), 2) for value in row) for row in rows)


def width(option: str) -> int:
    """Return the length of an option without the backticks, which are not shown."""
    return len(option.replace("`", ""))


def draw_options(
    generator: random.Random, answer: str, distractors: Iterable[str]
) -> Selection | None:
    """Choose options in random order, so that their lengths do not give away the answer.

    Returns: None if there are not enough distractors.
    """
    others = [option for option in dict.fromkeys(distractors) if option != answer]
    generator.shuffle(others)
    rank = generator.randrange(OPTIONS)
    shorter = [option for option in others if width(option) < width(answer)][:rank]
    longer = [option for option in others if width(option) > width(answer)]
    drawn = [*shorter, *longer[: OPTIONS - 1 - len(shorter)]]
    drawn += [option for option in others if option not in drawn][: OPTIONS - 1 - len(drawn)]
    if len(drawn) < OPTIONS - 1:
        return None
    options = [answer, *drawn]
    generator.shuffle(options)
    return options, options.index(answer)


def draw_changes(
    generator: random.Random, answer: Change, distractors: Sequence[Change]
) -> tuple[list[Change], int] | None:
    """Choose changes as options, in random order.

    Returns: the changes and the index of the answer; None if there are not enough distractors.
    """
    by_text = {change.short(place): change for place, change in enumerate([answer, *distractors])}
    selection = draw_options(generator, answer.short(0), by_text)
    return ([by_text[text] for text in selection[0]], selection[1]) if selection else None


def as_options(changes: Sequence[Change]) -> tuple[list[str], list[Mark]]:
    """Return changes as options, and the marks that these refer to."""
    marks = list(dict.fromkeys(change.mark for change in changes))
    return [change.short(marks.index(change.mark)) for change in changes], marks


def as_clause(sentence: str) -> str:
    """Return a sentence as a clause that can end another one."""
    return sentence[0].lower() + sentence[1:].rstrip(".")

"""Made-up classes of any size for tests of the gradebook, with every kind of student."""

import copy
import datetime
import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from tensormark.classroom.entry import Entry, HandIn
from tensormark.result import Finding, Grade, Outcome, Result

CORE = {"attention": 25, "add_norm": 10, "layer": 15, "embed": 20, "encode": 10, "sentiment": 20}
BONUS = {"layer_norm": 6, "adamw": 10, "pretraining": 12}
MISTAKES = {
    "attention": ("no_attention_dropout", "no dropout on the attention probabilities in training"),
    "add_norm": ("add_norm_dropout_before_dense", "dropout comes before the dense layer"),
    "layer": ("gelu_missing", "there is no GELU between the dense layers"),
    "embed": ("embed_no_dropout", "no dropout on the embeddings in training"),
}
BEGAN = datetime.datetime(2026, 11, 22, 10, tzinfo=datetime.UTC)
FIRST = "Ada Grace Alan Emmy Edsger Barbara Donald Radia Ken Frances Zoë Wei Yuki Olu".split()
LAST = "Lovelace Hopper Turing Noether Dijkstra Liskov Knuth Perlman Zhang Ångström Sato".split()


def outcome_of(chance: random.Random, bonus: bool) -> Outcome:
    kinds = [Outcome.PASSED, Outcome.FAILED, Outcome.NOT_WRITTEN, Outcome.COULD_NOT_GRADE]
    return chance.choices(kinds, (15, 10, 75, 0) if bonus else (78, 15, 6, 1))[0]


def result_of(chance: random.Random, name: str) -> dict[str, Any]:
    results = []
    for exercise, most in (CORE | BONUS).items():
        outcome = outcome_of(chance, exercise in BONUS)
        mistake, headline = MISTAKES.get(exercise, (None, "60 of 210 values differ"))
        finding = Finding(headline, ("read: handout.md",), mistake)
        score = {Outcome.PASSED: float(most), Outcome.COULD_NOT_GRADE: None}.get(outcome, 0.0)
        results.append(
            Result(
                exercise,
                outcome,
                score,
                most,
                (finding,) if outcome is Outcome.FAILED else (),
                bonus=exercise in BONUS,
                title=f"the {exercise}",
                file="bert.py",
            )
        )
    flags = ["bert.py:3: import os"] if chance.random() < 0.03 else []
    return Grade(
        submission=f"/home/prof/hand-ins/{name}",
        tier="contained",
        results=results,
        name=name,
        assignment="minBERT",
        private=True,
        flags=flags,
        reference_digest="0" * 64,
        started=BEGAN.isoformat(),
        seconds=chance.uniform(0.5, 30),
    ).as_json()


def entry(chance: random.Random, number: int) -> Entry:
    name = f"{chance.choice(FIRST)} {chance.choice(LAST)}"
    late = chance.choice([0] * 9 + [chance.randrange(1, 3000)])
    hand_in = HandIn(str(10_000 + number), name, Path(f"in/{10_000 + number}_bert.py"), BEGAN, late)
    draw = chance.random()
    if draw < 0.02:
        return Entry(replace(hand_in, path=None, submitted=None, minutes_late=None))
    if draw < 0.025:
        return Entry(hand_in, problem="there is no bert.py in it", attempts=0)
    if draw < 0.03:
        return Entry(hand_in, problem="its worker was lost", attempts=3)
    result = result_of(chance, f"{10_000 + number}_bert.py")
    student = Entry(hand_in, result, seconds=result["time"]["seconds"])
    if draw < 0.05:
        before = copy.deepcopy(result)
        before["exercises"][0] |= {"outcome": "not written yet", "score": 0.5}
        before["score"] += 0.5
        student = replace(student, previous=before)
    if draw < 0.06:
        notes = ("the newest of several was chosen by the dates of the files",)
        hand_in = replace(hand_in, others=(Path("in/old.py"),), notes=notes)
        student = replace(student, hand_in=hand_in)
    return student


def a_class(size: int, seed: int = 1) -> list[Entry]:
    chance = random.Random(seed)
    return [entry(chance, number) for number in range(size)]


def with_student_text(change: Callable[[str], str], entry: Entry) -> Entry:
    """Return an entry with all text from students changed: names, findings, flags, problems."""
    entry = copy.deepcopy(entry)
    result: Any = entry.result
    if result is not None:
        result["name"] = change(result["name"])
        result["flags"] = [change(flag) for flag in (*result["flags"], "flag")]
        for exercise in result["exercises"]:
            exercise["flags"] = [change("flag")]
            for finding in exercise["findings"]:
                finding["headline"] = change(finding["headline"])
    hand_in = entry.hand_in
    hand_in = replace(
        hand_in,
        student=change(hand_in.student),
        name=change(hand_in.name),
        notes=tuple(map(change, (*hand_in.notes, "note"))),
    )
    problem = change(entry.problem or "problem")
    return replace(entry, hand_in=hand_in, result=result, problem=problem)

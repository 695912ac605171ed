"""Near-identical submissions are grouped; those that are alike because the exercise is, are not."""

import ast
import random
from pathlib import Path

import pytest

from grader.assignment import MINBERT
from instructor.course import similar
from instructor.course.statements import Given, names_of
from instructor.references.honest import Honest, honest

from conftest import ROOT

STARTER, SOLUTION = (
    {
        name.removesuffix(".py"): (ROOT / folder / name).read_text("utf-8")
        for name in MINBERT.editable
    }
    for folder in ("starter", "solution")
)
GIVEN = Given.of([*STARTER.values()])


def bodies() -> dict[str, list[str]]:
    """Return the ways that each function of bert.py is written in."""
    found: dict[str, list[str]] = {}
    for one in honest():
        if one.module == "bert" and not one.edits and one.whole is str:
            for exercise, body in one.bodies.items():
                found.setdefault(exercise, []).append(body)
    return found


def made_up(count: int, seed: int) -> list[dict[str, str]]:
    """Return solutions, each of which has a way of its own to write each function."""
    chance = random.Random(seed)
    pool = bodies()
    chosen = [{name: chance.choice(ways) for name, ways in pool.items()} for _ in range(count)]
    texts = [Honest("x", each).apply(SOLUTION["bert"]) for each in chosen]
    return [STARTER | {"bert": text} for text in texts]


class Renamed(ast.NodeTransformer):
    """Gives every local name another one, and forgets annotations and docstrings."""

    def __init__(self, own: frozenset[str]) -> None:
        self.names = {name: f"{name}_2" for name in own}

    def visit_Name(self, node: ast.Name) -> ast.Name:
        node.id = self.names.get(node.id, node.id)
        return node

    def visit_arg(self, node: ast.arg) -> ast.arg:
        node.arg, node.annotation = self.names.get(node.arg, node.arg), None
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        self.generic_visit(node)
        node.returns = None
        if ast.get_docstring(node):
            node.body = node.body[1:]
        return node


def disguised(submission: dict[str, str]) -> dict[str, str]:
    """Return a copy with other names, no comments, and functions and classes in another order."""
    tree = ast.parse(submission["bert"])
    tree = Renamed(names_of(tree, GIVEN.names).own).visit(tree)
    classes = [node for node in tree.body if isinstance(node, ast.ClassDef)]
    for one in classes:
        one.body.reverse()
    tree.body = [node for node in tree.body if node not in classes] + classes[::-1]
    return submission | {"bert": ast.unparse(tree)}


def members(submissions: list[dict[str, str]], known=(SOLUTION,), kept=None) -> list[tuple]:
    found = similar.similar(submissions, STARTER, known, kept)
    return sorted(group.members for group in found.groups)


def test_honest_solutions_are_not_grouped() -> None:
    """Each differs from the solution in one place, and is graded as right."""
    texts = [one.apply(SOLUTION["bert"]) for one in honest() if one.module == "bert"]

    assert members([STARTER | {"bert": text} for text in texts]) == []


@pytest.mark.parametrize("count", [2, 5, 30, 100])
def test_independent_solutions_are_not_grouped(count: int) -> None:
    assert members(made_up(count, seed=2)) == []


def test_the_starter_and_the_solution_are_never_a_group() -> None:
    assert members([STARTER] * 8) == []
    assert members([SOLUTION] * 8) == []
    assert members([disguised(SOLUTION)] * 8) == []


@pytest.mark.parametrize("count", [2, 6, 100])
def test_a_copy_in_disguise_is_found(count: int) -> None:
    submissions = made_up(count, seed=3)
    copy = disguised(submissions[0])
    assert copy["bert"] != submissions[0]["bert"]

    found = similar.similar([*submissions, copy], STARTER, [SOLUTION])

    (group,) = (one for one in found.groups if count in one.members)
    assert group.members == (0, count)
    assert group.share == 1
    assert "BertSelfAttention.attention" in group.places


def test_a_copy_with_a_change_in_one_function_is_found() -> None:
    submissions = made_up(40, seed=4)
    copy = disguised(submissions[7])
    old = "class BertSelfAttention(nn.Module):"
    copy["bert"] = copy["bert"].replace(old, f"def mine(x):\n    y = x + 1\n    return y\n\n{old}")

    assert members([*submissions, copy]) == [(7, 40)]


def test_three_copies_are_one_group() -> None:
    submissions = made_up(40, seed=5)

    assert members([*submissions, disguised(submissions[3]), submissions[3]]) == [(3, 40, 41)]


def test_what_resembles_a_published_solution_is_not_grouped() -> None:
    published = made_up(1, seed=6)[0]

    assert members([*made_up(10, seed=7), published, disguised(published)], [SOLUTION]) != []
    assert members([*made_up(10, seed=7), published, disguised(published)], [published]) == []


def test_the_solutions_that_are_known_can_all_be_read() -> None:
    known = [SOLUTION | {one.module: one.apply(SOLUTION[one.module])} for one in honest()]

    assert similar.similar(known, STARTER).unread == 0


HOSTILE = {
    "deep": "(" * 100_000,
    "deep attributes": "x" + ".a" * 60_000,
    "deep operators": "x = " + "-" * 50_000 + "1",
    "many brackets": "[" * 90 + "]" * 90 + "\n" + "x = " + "(" * 80 + "1" + ")" * 80,
    "not python": "def f(:\n",
    "nul": "x = 1\0",
    "surrogate": "x = '\ud800'",
    "many": "x = 1\n" * 40_000,
    "many functions": "".join(f"def f{n}(a):\n    b = a\n    return b\n" for n in range(5000)),
    "long number": "x = " + "9" * 100_000,
    "empty": "",
}


def test_hostile_sources_do_not_keep_others_from_being_compared(tmp_path: Path) -> None:
    submissions = made_up(5, seed=8)
    hostile = [STARTER | {"bert": text} for text in HOSTILE.values()]
    kept = tmp_path / "kept.json"

    found = similar.similar([*hostile, *submissions, submissions[2]], STARTER, [SOLUTION], kept)

    assert [group.members for group in found.groups] == [(len(hostile) + 2, len(hostile) + 5)]
    assert 1 <= found.unread <= len(hostile)
    again = similar.similar([*hostile, *submissions, submissions[2]], STARTER, [SOLUTION], kept)
    assert again == found


def test_what_was_described_once_is_kept(tmp_path: Path, monkeypatch) -> None:
    submissions = made_up(5, seed=9)
    kept = tmp_path / "kept.json"
    expected = similar.similar([*submissions, submissions[0]], STARTER, [SOLUTION], kept)
    monkeypatch.setattr(similar, "run", lambda *_: pytest.fail("described again"))

    assert similar.similar([*submissions, submissions[0]], STARTER, [SOLUTION], kept) == expected
    assert len(expected.groups) == 1


@pytest.mark.parametrize("damage", ["", "[]", "{", '{"version": 1}', "null"])
def test_damaged_descriptions_are_made_again(tmp_path: Path, damage: str) -> None:
    submissions = made_up(5, seed=9)
    kept = tmp_path / "kept.json"
    kept.write_text(damage, encoding="utf-8")

    assert members([*submissions, submissions[0]], kept=kept) == [(0, 5)]


def test_code_of_students_is_only_read(tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    text = f"open({str(mark)!r}, 'w')\nimport os\nos.abort()\n"

    assert similar.similar([STARTER | {"bert": text}], STARTER).unread == 0
    assert not mark.exists()

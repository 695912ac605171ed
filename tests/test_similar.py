"""Near-identical submissions are grouped, unless only the exercise makes them alike."""

import ast
import random
from pathlib import Path

import pytest

from grader.assignment import ASSIGNMENT
from tensormark.authoring.course import open_course
from tensormark.authoring.honest import Honest
from tensormark.classroom.reports import similar
from tensormark.intake.statements import Given, names_of

from conftest import ROOT

STARTER, SOLUTION = (
    {
        name.removesuffix(".py"): (ROOT / folder / name).read_text("utf-8")
        for name in ASSIGNMENT.editable
    }
    for folder in ("starter", "solution")
)
GIVEN = Given.of([*STARTER.values()])
HONEST = open_course(ASSIGNMENT).honest


def bodies() -> dict[str, list[str]]:
    """Return the ways that each function of bert.py is written in."""
    ways: dict[str, list[str]] = {}
    for honest in HONEST:
        if honest.module == "bert" and not honest.edits and honest.whole is str:
            for exercise, body in honest.bodies.items():
                ways.setdefault(exercise, []).append(body)
    return ways


def random_solutions(count: int, seed: int) -> list[dict[str, str]]:
    """Return solutions that each choose at random how to write each function."""
    chance = random.Random(seed)
    pool = bodies()
    chosen = [{name: chance.choice(ways) for name, ways in pool.items()} for _ in range(count)]
    texts = [Honest("x", choice).apply(SOLUTION["bert"]) for choice in chosen]
    return [STARTER | {"bert": text} for text in texts]


class Renamer(ast.NodeTransformer):
    """Gives every local name another one, and removes annotations and docstrings."""

    def __init__(self, local_names: frozenset[str]) -> None:
        self.names = {name: f"{name}_2" for name in local_names}

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
    tree = Renamer(names_of(tree, GIVEN.names).own).visit(tree)
    classes = [node for node in tree.body if isinstance(node, ast.ClassDef)]
    for definition in classes:
        definition.body.reverse()
    tree.body = [node for node in tree.body if node not in classes] + classes[::-1]
    return submission | {"bert": ast.unparse(tree)}


def members(submissions: list[dict[str, str]], published=(SOLUTION,), cache=None) -> list[tuple]:
    result = similar.similar(submissions, STARTER, published, cache)
    return sorted(group.members for group in result.groups)


def test_honest_solutions_are_not_grouped() -> None:
    """Each of them differs from the solution in one place, and is graded as right."""
    texts = [honest.apply(SOLUTION["bert"]) for honest in HONEST if honest.module == "bert"]

    assert members([STARTER | {"bert": text} for text in texts]) == []


@pytest.mark.parametrize("count", [2, 30, 100])
def test_independent_solutions_are_not_grouped(count: int) -> None:
    assert members(random_solutions(count, seed=2)) == []


def test_the_starter_and_the_solution_are_never_a_group() -> None:
    assert members([STARTER] * 8) == []
    assert members([SOLUTION] * 8) == []
    assert members([{"bert": text} for text in layouts(STARTER["bert"]) for _ in "two"]) == []
    assert members([{"bert": text} for text in layouts(SOLUTION["bert"]) for _ in "two"]) == []
    assert members([disguised(SOLUTION), SOLUTION] * 3, published=()) != []


@pytest.mark.parametrize("count", [2, 100])
def test_equal_files_are_a_group_whatever_the_others_have(count: int) -> None:
    submissions = random_solutions(count, seed=11)
    text = SOLUTION["bert"].replace("(1)", "(1) ").replace('"""', '"""So: ', 1)

    result = similar.similar([*submissions, {"bert": text}, {"bert": text}], STARTER, [SOLUTION])

    assert [(group.members, group.places, group.equal) for group in result.groups] == [
        ((count, count + 1), ("bert.py",), "equal byte for byte")
    ]


@pytest.mark.parametrize("text", ["def f(:\n", "x = '\ud800'", "(" * 100_000])
def test_equal_files_that_are_not_python_are_a_group(text: str) -> None:
    assert members([{"bert": text}, *random_solutions(3, seed=12), {"bert": text}]) == [(0, 4)]


def layouts(text: str) -> list[str]:
    """Return a source in the layouts that editors and systems give it."""
    return [text, text.replace("\n", "\r\n"), f"\ufeff{text}", text.replace("\n\n", "\n \n") + "\n"]


def with_junk_between(text: str) -> str:
    """Return a source with an assignment that nobody reads before each statement of a function."""
    tree = ast.parse(text)
    for node in [part for part in ast.walk(tree) if isinstance(part, ast.FunctionDef)]:
        pairs = (
            (ast.parse(f"junk{n} = {n}").body[0], statement)
            for n, statement in enumerate(node.body)
        )
        node.body = [statement for pair in pairs for statement in pair]
    return ast.unparse(tree)


DISGUISES = {
    "carriage returns": lambda text: text.replace("\n", "\r"),
    "ends of lines": lambda text: text.replace("\n", " \r\n"),
    "junk before": lambda text: "".join(f"x{n} = {n}\n" for n in range(4000)) + text,
    "calls before": lambda text: "".join(f"print({n})\n" for n in range(4000)) + text,
    "junk between": with_junk_between,
    "comments": lambda text: text.replace("\n", "  # mine\n"),
}


@pytest.mark.parametrize("name", DISGUISES)
def test_changes_without_effort_do_not_hide_a_copy(name: str) -> None:
    submissions = random_solutions(30, seed=3)
    change = DISGUISES[name]
    source = with_unique_statements(submissions[4]["bert"])
    submissions[4] = {"bert": source}

    assert (4, 30) in members([*submissions, {"bert": change(source)}])


def with_unique_statements(text: str) -> str:
    """Return a source with some lines that nobody else has."""
    lines = [f"    scale = scale * size + {n}.5" for n in range(9)]
    return "\n".join([text, "def own(size, scale):", *lines, "    return scale", ""])


@pytest.mark.parametrize("count", [2, 100])
def test_a_copy_in_disguise_is_found(count: int) -> None:
    submissions = random_solutions(count, seed=3)
    copy = disguised(submissions[0])
    assert copy["bert"] != submissions[0]["bert"]

    result = similar.similar([*submissions, copy], STARTER, [SOLUTION])

    (group,) = (candidate for candidate in result.groups if count in candidate.members)
    assert group.members == (0, count)
    assert group.share == 1
    assert "BertSelfAttention.attention" in group.places


def test_a_copy_with_a_change_in_one_function_is_found() -> None:
    submissions = random_solutions(40, seed=4)
    copy = disguised(submissions[7])
    old = "class BertSelfAttention(nn.Module):"
    copy["bert"] = copy["bert"].replace(old, f"def mine(x):\n    y = x + 1\n    return y\n\n{old}")

    assert members([*submissions, copy]) == [(7, 40)]


def test_three_copies_are_one_group() -> None:
    submissions = random_solutions(40, seed=5)

    copies = [disguised(submissions[3]), submissions[3]]

    assert members([*submissions, *copies]) == [(3, 40, 41), (3, 41)]


def test_what_resembles_a_published_solution_is_not_grouped() -> None:
    published = random_solutions(1, seed=6)[0]

    assert (
        members([*random_solutions(10, seed=7), published, disguised(published)], [SOLUTION]) != []
    )
    assert (
        members([*random_solutions(10, seed=7), published, disguised(published)], [published]) == []
    )


def test_all_known_solutions_can_be_read() -> None:
    solutions = [
        SOLUTION | {honest.module: honest.apply(SOLUTION[honest.module])} for honest in HONEST
    ]

    assert similar.similar(solutions, STARTER).unread == ()


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
    submissions = random_solutions(5, seed=8)
    hostile = [STARTER | {"bert": text} for text in HOSTILE.values()]
    cache = tmp_path / "kept.json"

    result = similar.similar([*hostile, *submissions, submissions[2]], STARTER, [SOLUTION], cache)

    assert [group.members for group in result.groups] == [(len(hostile) + 2, len(hostile) + 5)]
    assert 1 <= len(result.unread) <= len(hostile)
    assert all(place < len(hostile) for place in result.unread)
    repeated = similar.similar([*hostile, *submissions, submissions[2]], STARTER, [SOLUTION], cache)
    assert repeated == result


def test_many_sources_that_end_the_reading_do_not_keep_others_from_being_compared() -> None:
    submissions = random_solutions(3, seed=8)
    deep = [{name: f"# {n} {name}\n" + "(" * 100_000 for name in STARTER} for n in range(6)]

    result = similar.similar([*deep, *submissions, disguised(submissions[2])], STARTER, [SOLUTION])

    assert [group.members for group in result.groups] == [(8, 9)]
    assert result.unread == tuple(range(6))


def test_a_source_with_more_statements_than_are_compared_is_named() -> None:
    many = "".join(f"f({n})\n" for n in range(10_100))

    assert similar.similar([{"bert": "x = f(1)\n"}, {"bert": many}], STARTER).unread == (1,)


def test_a_source_is_described_only_once(tmp_path: Path, monkeypatch) -> None:
    submissions = random_solutions(5, seed=9)
    cache = tmp_path / "kept.json"
    expected = similar.similar([*submissions, submissions[0]], STARTER, [SOLUTION], cache)
    monkeypatch.setattr(similar, "describe", lambda *_: pytest.fail("described again"))

    assert similar.similar([*submissions, submissions[0]], STARTER, [SOLUTION], cache) == expected
    assert len(expected.groups) == 1


@pytest.mark.parametrize("damage", ["", "[]", "{", '{"version": 1}', "null"])
def test_damaged_descriptions_are_made_again(tmp_path: Path, damage: str) -> None:
    submissions = random_solutions(5, seed=9)
    cache = tmp_path / "kept.json"
    cache.write_text(damage, encoding="utf-8")

    assert members([*submissions, submissions[0]], cache=cache) == [(0, 5)]


def test_code_of_students_is_only_read(tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    text = f"open({str(mark)!r}, 'w')\nimport os\nos.abort()\n"

    assert similar.similar([STARTER | {"bert": text}], STARTER).unread == ()
    assert not mark.exists()

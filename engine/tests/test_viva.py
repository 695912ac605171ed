"""Tests of questions on one's own code: keys are right, sheets repeatable, texts harmless."""

import ast
import dataclasses
import re
from functools import partial
from operator import add

import pytest

from tensormark.viva import sheet_page, study
from tensormark.viva.question import OPTIONS
from tensormark.viva.source import Source, UnfitError
from tensormark.viva.study import SAME
from testkit import toy
from testkit.formats import Tags
from testkit.graded import edited
from testkit.payloads import PAYLOADS
from testkit.resident import called
from testkit.studies import change_of, check_words, sheet_of, small_sheet, study_of, with_text

CODE = '''
class Outer:
    @decorated
    def größe(self, été, n=3):
        """Return “something” über alles."""
        if n > 2: ß = été.sum(dim=-1, keepdim=True) * 0.5  # «größer», (2, n): ß
        for k in self.kept:
            ß = k(ß, n)
        assert n, f"{n + 2}"
        print(n + 1)
        z = (ß - été) * 2 + torch.sqrt(ß + été)  # (2, n)
        return self.dropout(self.norm(z)).transpose(1, 7)
'''


@pytest.mark.parametrize("ends", ["\n", "\r\n", "\r"], ids=ascii)
@pytest.mark.parametrize("indentation", ["    ", "\t"], ids=ascii)
def test_what_is_shown_is_what_runs_and_all_else_stays(ends, indentation):
    text = CODE.replace("    ", indentation)
    lines = text.split("\n")
    source = Source(text.replace("\n", ends), "Outer.größe")

    assert {change.line for change in source.changes} == {7, 8, 11, 12}  # line 6 has « in its text
    for change in source.changes:
        after = source.changed(change).split("\n")
        line = after.pop(change.line - 1)
        assert after == lines[: change.line - 1] + lines[change.line :]
        assert line.strip() == re.sub("[«»]", "", change.shown)
        assert "«print»" not in change.shown  # it is no variable of the function


METHOD = "class A:\n    def f(self, x):\n        "
UNFIT = {
    "nothing": "",
    "a comment": "# def f(): pass\n",
    "a class without it": "class A:\n    pass\n",
    "only a docstring": f'{METHOD}return x\n    def f(self, x):\n        """Return x."""\n',
    "a lambda": "class A:\n    f = lambda self, x: x\n",
    "within a condition": "if True:\n    class A:\n        def f(self, x): return x\n",
    "no Python": f"{METHOD}return (\n",
    "a zero byte": f"{METHOD}return x\0\n",
    "a long line": f"{METHOD}return {'self.a + ' * 15_000}x\n",
    "a chain": f"{METHOD}return x{'.a' * 60_000}\n",
    "brackets": f"{METHOD}return {'[' * 5_000}{']' * 5_000}\n",
}


@pytest.mark.parametrize("name", UNFIT)
def test_a_function_without_code_is_not_asked_about(name):
    with pytest.raises(UnfitError, match="not found, or is too complex"):
        Source(UNFIT[name], "A.f")


@pytest.mark.parametrize("body", ["x = 1; " * 6_000, "x = x + x\n        " * 2_000], ids=len)
def test_a_text_is_parsed_in_another_process(monkeypatch, body):
    with monkeypatch.context() as patched:
        patched.setattr(ast, "parse", None)

        assert Source(f"{METHOD}{body}return x\n", "A.f").statements


FIT = {
    "return x": [7],
    "y = x; return y": [7, 7],
    "if x: y = x\n        return x": [7, 7, 8],
    "\f\n        return (\n            x\n        )": [8],
    "@g\n        def h(): return 1\n        return x": [7, 8, 9],
    "return (y := (lambda z: z)(x))": [7],
    "match x:\n            case 1:\n                pass\n        return x": [7, 9, 10],
    "async def g():\n            await x\n        return x": [7, 8, 9],
}


@pytest.mark.parametrize("body", FIT, ids=ascii)
@pytest.mark.parametrize("indentation", ["    ", "\t"], ids=ascii)
@pytest.mark.parametrize("kind", ["", "async "])
def test_each_statement_is_found_where_it_is(body, indentation, kind):
    start = f"class A:\n    @g\n    {kind}def f(\n        self, x\n    ):\n"
    text = f'{start}        """ü"""\n        {body}\n'.replace("    ", indentation)

    source = Source(text, "A.f")

    assert sorted(statement.first for statement in source.statements) == FIT[body]
    for statement in source.statements:
        ast.parse(source.before(statement, "raise RuntimeError"))
    assert [number for number, _ in source.listing()] == [2, 3, 4, 5, *range(7, source.last + 1)]


SUM = 'torch.einsum("bdwk,pdk->bpw", windows, self.weight)'
RETURN = f"return {SUM}{toy.BIAS}"
SHORT = (RETURN, f"sums = {SUM}\n        return sums{toy.BIAS}")
EFFECTS = (  # what is true after a change, as worked out by hand
    (toy.BIAS, "", {"The bias no longer matters."}),
    (f"sums{toy.BIAS}", "self.bias[:, None] + sums", {SAME}),
    ("sums +", "sums -", set()),
    ("shape[-1], 1)", "shape[-1], 2)", set()),
    ("unfold(-1", "unfold(-2", None),  # raises
)


def test_effects_are_what_was_worked_out_by_hand(folder, solution_source):
    with study_of(folder, edited(solution_source, SHORT)) as studied:
        check_words(studied)
        for old, new, expected in EFFECTS:
            effects = studied.effects(change_of(studied, old, new))
            found = None if effects is None else {name for name in effects if effects[name]}
            assert found == expected, new


@pytest.mark.tier("contained")
def test_a_seed_draws_the_same_sheet_again_in_any_tier(folder, solution_source):
    sheet = sheet_of(folder, solution_source)

    assert sheet_of(folder, solution_source, tier="contained") == sheet
    assert sheet_of(folder, solution_source, seed="8", number=1).questions[0] not in sheet.questions
    for question in sheet.questions:
        assert len(set(question.options)) == OPTIONS


COUNTS = f"CALLS.append(0)\n        return ({SUM}{toy.BIAS}) * (1 + (len(CALLS) > 2))"
PATCH = f"Convolution.forward = lambda self, signals: {SUM}{toy.BIAS}"
PATCH = PATCH.replace("windows", toy.WINDOWS.removeprefix("windows = "))


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        (RETURN, COUNTS, "the same result twice"),
        (RETURN, f"{RETURN} * float('nan')", "the same result twice"),
        (RETURN, f"assert len(signals) == 2\n        {RETURN}", "fails on some calls"),
        ("\n\nclass Detector", f"\n\n{PATCH}\n\n\nclass Detector", "differs from its source"),
        (RETURN, "# why\n" * 60 + f"        {RETURN}", "too long"),
    ],
)
def test_a_function_that_is_not_what_it_seems_is_not_asked_about(
    folder, solution_source, old, new, why
):
    text = edited(solution_source, ("import torch\n", "import torch\n\nCALLS = []\n"), (old, new))

    drawn = sheet_of(folder, text, right=["conv"])

    assert drawn.questions == ()
    assert why in drawn.notes[0]


def test_copies_that_do_not_end_cost_a_bounded_time(folder, solution_source, monkeypatch):
    loop = f"n = 1\n        while n != 1:\n            pass\n        {SHORT[1]}"
    monkeypatch.setattr(study, "SECONDS", 0.5)

    drawn = sheet_of(folder, edited(solution_source, (RETURN, loop)), right=["conv"], number=20)

    assert "no more questions: changed copies of its functions hang or crash" in drawn.notes


# --- pages ----------------------------------------------------------------------------------

PAGES = (
    sheet_page.practice,
    lambda sheet: sheet_page.paper(sheet, "Ada"),
    lambda sheet: sheet_page.key(sheet, "Ada"),
)
HOSTILE = [*PAYLOADS, "\x00", "\u202e", "\ud800", "`", "«", "»<b>", "</style>", "e\u0301" * 9]


def test_texts_of_a_student_change_no_element_of_a_page():
    plain = with_text(small_sheet(), lambda text: f"x {re.sub('[`«»]', '', text)}")
    tags = [Tags(make(plain)).tags for make in PAGES]

    for payload in HOSTILE:
        hostile = with_text(plain, partial(add, payload.replace("`", "")))
        assert [Tags(make(hostile)).tags for make in PAGES] == tags, ascii(payload)


def test_a_paper_has_everything_but_answers():
    sheet = small_sheet()
    questions = [dataclasses.replace(each, key=2, ask_next="") for each in sheet.questions]
    other = dataclasses.replace(sheet, questions=tuple(questions), seed="8", notes=())

    paper = sheet_page.paper(sheet, "Ada")

    assert paper == sheet_page.paper(other, "Ada")
    changed = "question 2:</span> return softmax(<mark>mask + key</mark>)</pre>"
    assert changed in paper.partition('<li value="5" id="Mixer.mix-5">')[2].partition("</li>")[0]
    assert '<a href="#Mixer.mix-5">' in paper
    assert "The answer is <b>B</b>." in sheet_page.key(sheet, "Ada")


# --- the command ----------------------------------------------------------------------------


def test_the_command_writes_a_page_as_a_whole(folder, tmp_path):
    out = tmp_path / "mine.html"
    out.write_text(sheet_page.practice(small_sheet()), encoding="utf-8")

    completed = called(folder, "viva", "solution", "--n", "1", "--out", str(out))

    assert (completed.returncode, completed.stderr) == (0, "")
    assert completed.stdout.startswith(f"1 question: {out}; open it in a browser\n")
    assert [path.name for path in tmp_path.iterdir()] == ["mine.html"]


@pytest.mark.parametrize(
    ("words", "complaint"),
    [(["none.py"], "none.py"), (["solution", "--n", "21"], "--n 21: must be an integer, 1 to 20")],
)
def test_bad_arguments_are_reported_before_anything_runs(folder, words, complaint):
    completed = called(folder, "viva", *words)

    assert (completed.returncode, completed.stdout) == (2, "")
    assert re.fullmatch(f"viva: .*{re.escape(complaint)}.*\n", completed.stderr)

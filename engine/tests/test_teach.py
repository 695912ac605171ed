"""teach.html: what a class did, without anything by which one of its members could be known."""

import datetime
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tensormark.authoring.course import open_course
from tensormark.classroom import command, teach
from tensormark.classroom.entry import Entry, HandIn
from tensormark.classroom.lesson import Lesson, lesson_of
from tensormark.classroom.run import Run
from tensormark.classroom.store import Attempt, Store
from tensormark.exercise import Assignment
from tensormark.judging import general
from tensormark.references import References
from tensormark.result import Finding, Grade, Outcome, Result

import formats
import toy
from test_payloads import PAYLOADS, is_clean

SECRET = "Xanthippe"
PASSED, DEADLINE = "passed", datetime.datetime(2027, 3, 1, 18, tzinfo=datetime.UTC)
MISSING = "the last window is missing"


def result(conv: str | None, text: str = "", score: float = 0.0) -> dict[str, Any]:
    """Return a result whose conv passed, or failed with a mistake of this id or without any."""
    wrong = Result(
        "conv",
        Outcome.FAILED,
        score,
        40,
        (Finding(f"raised ValueError: {text}", (text,), conv),),
        note=text,
        flags=(text,),
        title=f"a title {text}",
    )
    right = Result("conv", Outcome.PASSED, 40, 40)
    detector = Result("detector", Outcome.PASSED, 40, 40)
    detection = Result("detection", Outcome.NOT_WRITTEN, 0, 20)
    results = [right if conv == PASSED else wrong, detector, detection]
    name = f"{text}.py"
    return Grade(name, "process", results, [text], [text], name=name, printed=text).as_json()


def students(*graded: dict[str, Any], name: str = "s") -> list[Entry]:
    ids = [f"{name}{number}" for number in range(len(graded))]
    pairs = zip(ids, graded, strict=True)
    return [Entry(HandIn(one, one, Path(f"in/{one}")), found) for one, found in pairs]


def made(*mistakes: str | None) -> list[Entry]:
    return students(*(result(mistake) for mistake in mistakes))


def lesson(assignment: Assignment, entries: Sequence[Entry], **more: Any) -> Lesson:
    recorded = References(assignment.references).manifest["exercises"]
    return lesson_of(assignment, recorded, entries, **more)


def words(page: str, section: str = "") -> str:
    """Return the text of a page, or of one section of it, with its alternatives for figures."""
    if section:
        (page,) = re.findall(rf'<section id="{section}".*?</section>', page, flags=re.S)
    plain = re.sub(r"<style>.*?</style>", "", page, flags=re.S)
    return " ".join(re.sub(r"<[^>]*>", " ", plain).split())


def shown(assignment: Assignment, entries: Sequence[Entry], section: str = "", **more: Any) -> str:
    return words(teach.page(lesson(assignment, entries, **more)), section)


CONV = "exercise-conv"


def test_no_word_of_a_student_is_on_the_page(assignment: Assignment) -> None:
    hidden = [f"{SECRET}|bias_forgotten", "last_window_missing", SECRET, None]
    entries = students(*(result(own, SECRET) for own in hidden * 5), name=SECRET)
    told = {"notes": (SECRET,), "others": (Path(SECRET),), "keys": (SECRET,), "fault": SECRET}
    told["submitted"] = DEADLINE
    entries = [replace(e, problem=SECRET, hand_in=replace(e.hand_in, **told)) for e in entries]
    entries = [replace(e, previous=e.result, sources={SECRET: SECRET}) for e in entries]
    versions = {entry.hand_in.student: 2 for entry in entries}
    last = lesson(assignment, entries).term

    page = teach.page(lesson(assignment, entries, deadline=DEADLINE, versions=versions, last=last))

    assert SECRET.lower() not in page.lower()
    assert MISSING in page
    assert "This term and the last" in page


@pytest.mark.parametrize("payload", PAYLOADS, ids=range(len(PAYLOADS)))
def test_whatever_a_student_writes_the_page_is_the_same(
    assignment: Assignment, payload: str
) -> None:
    def drawn(text: str) -> str:
        graded = [result("bias_forgotten", text)] * 10 + [result(text, text)] * 3
        return teach.page(lesson(assignment, students(*graded, name=text)))

    assert drawn(payload) == drawn("harmless")


@pytest.mark.parametrize("payload", PAYLOADS, ids=range(len(PAYLOADS)))
def test_what_an_assignment_says_is_text(assignment: Assignment, payload: str) -> None:
    says = {"conv": {"variants": {"a": {"says": payload, "section": payload}}}}
    plain = {"conv": {"variants": {"a": {"says": "a", "section": "b"}}}}

    def drawn(recorded: dict[str, Any], name: str) -> str:
        of = replace(assignment, name=name)
        return teach.page(lesson_of(of, recorded, made(*["a"] * 12)))

    page = drawn(says, payload)
    assert formats.Tags(page).tags == formats.Tags(drawn(plain, "plain")).tags
    assert is_clean(page)


def test_mistakes_are_counted_one_by_one_and_once_for_each_student(assignment: Assignment) -> None:
    both = "last_window_missing+bias_forgotten"
    twice = result(both)
    twice["exercises"][0]["findings"] *= 2
    entries = students(twice, *map(result, [both] * 3 + ["bias_forgotten"] * 4 + [PASSED] * 8))

    said = shown(assignment, entries, CONV)

    assert f"{MISSING} 4 of 16, 25%" in said
    assert "the bias is forgotten 8 of 16, 50%" in said
    assert said.index("the bias is forgotten") < said.index(MISSING)


def test_one_of_several_names_is_unsure(assignment: Assignment) -> None:
    either = "last_window_missing+bias_forgotten|patterns_reversed+bias_forgotten"
    entries = made(*[either] * 4, *["patterns_reversed"] * 5, *[PASSED] * 11)

    said = shown(assignment, entries, CONV)

    assert "the bias is forgotten 4 of 20, 20%" in said
    assert f"the patterns are reversed 5 of 20, 25%; perhaps 4 more: {teach.UNSURE}" in said
    assert f"{MISSING} perhaps 4 of 20, 20%: {teach.UNSURE}" in said


def test_a_mistake_of_two_is_not_named(assignment: Assignment) -> None:
    rare = ["bias_forgotten"] * 2 + ["patterns_reversed"]
    entries = made(*rare, *["last_window_missing"] * 3, *[PASSED] * 10)

    said = shown(assignment, entries, CONV)

    assert "bias is forgotten" not in said
    assert "patterns are reversed" not in said
    assert "other mistakes, rare or without a name 3 of 16, 19%" in said


def test_a_team_counts_as_one_where_it_is_asked_who_can_be_known(assignment: Assignment) -> None:
    entries = made(*["bias_forgotten"] * 4, *[PASSED] * 10)
    team = [replace(e, hand_in=replace(e.hand_in, path=Path("in/team"))) for e in entries[:4]]

    assert "bias is forgotten" in shown(assignment, entries, CONV)
    assert "bias is forgotten" not in shown(assignment, [*team, *entries[4:]], CONV)


def test_a_general_mistake_has_its_words_and_an_unknown_one_has_none(
    assignment: Assignment,
) -> None:
    entries = made(*["input_changed"] * 4, *["forbidden"] * 3, *["new_one"] * 3)

    said = shown(assignment, entries, CONV)

    assert "inputs are changed in place 4 of 10" in said
    assert "something is called that is not allowed in this assignment 3 of 10" in said
    assert "other mistakes, rare or without a name 3 of 10" in said


def test_every_name_that_judging_gives_has_words() -> None:
    source = Path(general.__file__).read_text(encoding="utf-8")
    names = set(re.findall(r'General\(\s*"(\w+)"', source)) | {general.RETURNED, general.KEPT}

    assert len(names) > 12
    assert names == set(general.WORDS)


def test_outcomes_are_a_histogram_by_points(assignment: Assignment) -> None:
    graded = [result(None, score=score) for score in [0.0] * 3 + [25.0] * 4]
    entries = students(*graded, *map(result, [PASSED] * 13))

    page = teach.page(lesson(assignment, entries))

    labels = re.findall(r'<svg[^>]* aria-label="(not [^"]*|passed[^"]*)"', page)
    assert labels[:3] == [
        "not passed, 0 points: 3 of 20, 15%",
        "not passed, 25 points: 4 of 20, 20%",
        "passed: 13 of 20, 65%",
    ]
    assert "not written all" in words(page, "exercise-detection")


@pytest.mark.parametrize("few", [1, 2])
@pytest.mark.parametrize("others", [0, 5])
def test_one_or_two_are_in_no_number_and_no_difference_of_two(
    assignment: Assignment, few: int, others: int
) -> None:
    graded = [result(None, score=25.0)] * few + [result(None)] * others
    entries = students(*graded, *map(result, [PASSED] * 14))

    said = shown(assignment, entries, CONV)

    numbers = [int(number) for number in re.findall(r"(\d+) of \d+, ", said)]
    assert sorted(set(numbers)) == ([5 + few, 14] if others else [])
    assert ("passed nearly all" in said) == (not others)


def test_what_overview_and_histogram_say_of_the_passed_is_the_same(assignment: Assignment) -> None:
    scores = [0.0] * 5 + [25.0] * 2
    entries = students(*(result(None, score=s) for s in scores), *map(result, [PASSED] * 4))

    page = teach.page(lesson(assignment, entries))

    assert "conv 6 of 11, 55% *" in words(page, "class")
    assert "passed 6 of 11, 55% *" in words(page, CONV)


def test_a_small_class_has_no_number_at_all(assignment: Assignment) -> None:
    entries = made(*["last_window_missing"] * 4, "bias_forgotten", *[PASSED] * 4)
    versions = {entry.hand_in.student: 2 for entry in entries}

    page = teach.page(lesson(assignment, entries, versions=versions))

    assert "<svg" not in page
    assert MISSING in page
    assert "bias is forgotten" not in page
    assert not re.search(r"\d+ of \d|%", words(page))


def test_a_class_of_which_nothing_is_graded_has_a_page(assignment: Assignment) -> None:
    assert "nothing is counted here" in shown(assignment, [Entry(HandIn("a", "a", None))])


def test_the_example_is_the_projects_with_the_wrong_line_and_the_right_one(
    assignment: Assignment,
) -> None:
    page = teach.page(lesson(assignment, made(*["last_window_missing"] * 10)))

    wrong = toy.WINDOWS.replace(".unfold", "[..., :-1].unfold")
    assert f'<dt>wrong</dt><dd class="wrong"><pre>{wrong}  # (' in page
    assert f'<dt>right</dt><dd class="right"><pre>{toy.WINDOWS}  # (' in page
    assert "→ handout.md, Problem (conv), “The windows”" in words(page)


def test_without_mistakes_or_solution_there_are_words_alone(
    assignment: Assignment, tmp_path: Path
) -> None:
    whole = lesson(assignment, made(*["last_window_missing"] * 10))
    without = replace(whole.course, variants=())
    elsewhere = replace(whole.course, assignment=replace(assignment, folder=tmp_path))

    assert open_course(assignment).variants
    for course in (without, elsewhere):
        page = teach.page(replace(whole, course=course))
        assert MISSING in page
        assert "<pre>" not in page


# --- handing in -------------------------------------------------------------------------------


def at(entries: Sequence[Entry], hours: Sequence[float | None]) -> Iterator[Entry]:
    """Yield students with the hours before the deadline when they handed in."""
    for entry, before in zip(entries, hours, strict=True):
        time = None if before is None else DEADLINE - datetime.timedelta(hours=before)
        yield replace(entry, hand_in=replace(entry.hand_in, submitted=time))


def test_how_long_before_the_deadline_is_shown_where_it_is_known(assignment: Assignment) -> None:
    hours = [-1.0] * 3 + [0.5] * 4 + [12.0] + [100.0] * 4 + [None] * 3
    entries = list(at(made(*[PASSED] * 15), hours))

    said = shown(assignment, entries, "times", deadline=DEADLINE)

    assert "after the deadline 3 of 12" in said
    assert "in the last hour 5 of 12, 42% *" in said
    assert "6 to 24 hours before" not in said
    assert "handed in anew" not in said


@pytest.mark.parametrize("known", [0, 9])
def test_what_is_hardly_known_of_handing_in_is_left_out(assignment: Assignment, known: int) -> None:
    entries = list(at(made(*[PASSED] * 15), [1.0] * known + [None] * (15 - known)))
    versions = dict.fromkeys(["s0", "s1"], 2)

    page = teach.page(lesson(assignment, entries, deadline=DEADLINE, versions=versions))

    assert 'id="times"' not in page


def test_tries_are_counted_where_runs_saw_several(assignment: Assignment) -> None:
    versions = {f"s{n}": min(n, 3) for n in range(2, 12)}

    said = shown(assignment, made(*[PASSED] * 15), "times", versions=versions)

    assert "once 6 of 15, 40% *" in said
    assert "three times 9 of 15, 60%" in said


# --- two terms --------------------------------------------------------------------------------


def test_shares_of_two_terms_stand_side_by_side(assignment: Assignment) -> None:
    then = made(*["bias_forgotten"] * 5, *[PASSED] * 5)
    now = made(*["last_window_missing"] * 4, *["bias_forgotten"], *[PASSED] * 15)
    last = lesson(assignment, then).term

    said = shown(assignment, now, "terms", last=last)

    assert "conv 50% 75%" in said
    assert "conv : the bias is forgotten 50% -" in said
    assert f"conv : {MISSING} - 20%" in said


def test_a_small_class_is_not_compared(assignment: Assignment) -> None:
    last = lesson(assignment, made(*[PASSED] * 5)).term

    said = shown(assignment, made(*[PASSED] * 12), "terms", last=last)

    assert "nothing is compared" in said
    assert "%" not in said


# --- by the command ---------------------------------------------------------------------------


@pytest.fixture
def hand_ins(tmp_path: Path, solution_source: str, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Twelve submissions whose grading is instant: all have the same result."""

    def grade(self: Run, works: Sequence[Any]) -> None:
        for work in works:
            found = result("bias_forgotten") | {"references": self.terms.references}
            self.store.add(work.digest, self.terms, Attempt("here", 1.0, "", found))

    monkeypatch.setattr(Run, "grade", grade)
    for number in range(12):
        path = tmp_path / "in" / f"student{number}" / toy.MAIN
        path.parent.mkdir(parents=True)
        path.write_text(f"{solution_source}\n# {number}\n", encoding="utf-8")
    return tmp_path / "in"


def graded(folder: Path, hand_ins: Path, name: str, *options: str) -> int:
    own = ["--check", "--tier", "process", "--out", str(hand_ins.parent / name), "--workers", "1"]
    return command.main(folder, "class", [str(hand_ins), *own, *options])


def test_a_class_is_compared_with_an_earlier_one_that_stays_as_it_is(
    folder: Path, hand_ins: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, last = hand_ins.parent / "now", hand_ins.parent / "last"
    assert graded(folder, hand_ins, "last") == 0
    before = {path.name: path.read_bytes() for path in last.iterdir() if path.is_file()}

    assert graded(folder, hand_ins, "now", "--last", str(last)) == 0
    page = (out / "teach.html").read_text(encoding="utf-8")
    assert graded(folder, hand_ins, "now", "--only", "student3") == 0

    assert "the bias is forgotten all all" in words(page, "terms")
    assert (out / "teach.html").read_text(encoding="utf-8") == page
    assert f"--last {last}" in capsys.readouterr().out
    assert {path.name: path.read_bytes() for path in last.iterdir() if path.is_file()} == before
    assert "terms" not in (last / "teach.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("store", "says"),
    [
        (None, "is not the folder of a class: it has no store.sqlite"),
        (b"no store at all, but long enough to be looked at", "cannot be read (file is not"),
        (b"", "was written by another version"),
    ],
)
def test_what_is_no_class_is_one_line_before_anything_is_graded(
    folder: Path,
    hand_ins: Path,
    capsys: pytest.CaptureFixture[str],
    store: bytes | None,
    says: str,
) -> None:
    other = hand_ins.parent / "other"
    other.mkdir()
    if store is not None:
        (other / "store.sqlite").write_bytes(store)
    capsys.readouterr()

    status = graded(folder, hand_ins, "now", "--last", str(other))

    said = capsys.readouterr().err
    assert status == 2
    assert says in said
    assert [line for line in said.splitlines() if line.startswith("class: --last ")]
    assert not (hand_ins.parent / "now/gradebook.html").exists()
    assert not list(other.glob("*-*"))


def test_a_class_is_not_compared_with_itself_or_with_another_assignment(
    folder: Path, hand_ins: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert graded(folder, hand_ins, "last") == 0
    last = tmp_path / "last"

    assert graded(folder, hand_ins, "last", "--last", str(last)) == 2
    assert "is this class; name an earlier one" in capsys.readouterr().err

    with Store(last / "store.sqlite") as store, store.change() as file:
        file.execute('UPDATE attempt SET result = replace(result, \'"id": "\', \'"id": "x\')')
    assert graded(folder, hand_ins, "now", "--last", str(last)) == 2
    assert "has no results of Detector" in capsys.readouterr().err

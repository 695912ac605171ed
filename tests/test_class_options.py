"""Options of `tensormark class`, its progress lines, and the files that its workers get."""

import argparse
import datetime
import io
import json
import sys
import zipfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from test_class_store import graded, unfinished

from grader.assignment import ASSIGNMENT
from tensormark import cli
from tensormark.classroom import run
from tensormark.classroom.jobs import rounds
from tensormark.classroom.jobs.estimate import spent
from tensormark.classroom.jobs.parcel import Parcel, ParcelError, packed, unpack
from tensormark.classroom.jobs.progress import Progress
from tensormark.classroom.jobs.store import Attempt, Store
from tensormark.classroom.jobs.work import Work
from tensormark.classroom.options import parse
from tensormark.exercise import Assignment
from tensormark.intake.submission import SubmissionError
from tensormark.references import ReferencesError
from tensormark.sandbox.interface import CONTAINED, LOCKED, PROCESS
from tensormark.settings import Settings
from tensormark.strictest import Strictest
from tensormark.usage import UserError

from conftest import ROOT
from formats import Terminal
from graded import ran


def options(folder: Path, *more: str) -> argparse.Namespace:
    (folder / "in").mkdir(exist_ok=True)
    return parse(ROOT, "class", [str(folder / "in"), "--out", str(folder / "out"), *more])


INVALID = {  # with options as users of make write them, and as users of tensormark do
    True: [
        ([""], "give the folder with the submissions: make class SUBMISSIONS=dir"),
        (["nowhere"], "SUBMISSIONS=nowhere: there is no such folder"),
        (["solution", "--workers", "0"], "WORKERS=0: must be a whole number, 1 to 1024"),
        (["solution", "--deadline", "soon"], "DEADLINE=soon: must be like 2027-03-01T18:00"),
        (["solution", "--tier", "none"], "TIER=none: there is no such tier; "),
        (["solution", "--out", "solution/x"], "OUT=solution/x: must not be inside the folder"),
        (["Makefile"], "SUBMISSIONS=Makefile: is a file, not a folder; unpack it"),
        (["solution", "--out", "/proc/nope"], "OUT=/proc/nope: cannot be written to ("),
    ],
    False: [
        ([""], "give the folder with the submissions: tensormark class dir"),
        (["nowhere"], "nowhere: there is no such folder"),
        (["solution", "--workers", "0"], "--workers 0: must be a whole number, 1 to 1024"),
    ],
}


@pytest.mark.parametrize(
    ("make", "line", "message"), [(make, *row) for make, rows in INVALID.items() for row in rows]
)
def test_an_invalid_option_is_one_sentence(
    make: bool, line: list[str], message: str, monkeypatch, capsys
) -> None:
    if not make:
        monkeypatch.delenv("TENSORMARK_MAKE", raising=False)

    status = cli.run(ROOT, "class", line)

    errors = capsys.readouterr().err
    assert status == 2
    assert errors.startswith(f"class: {message}")
    assert errors.count("\n") == 1


@pytest.mark.parametrize(
    ("text", "hour"), [("2027-03-01", 23), ("2027-03-01T18:00", 18), ("2027-03-01T18:00+00:00", 18)]
)
def test_a_deadline_is_a_moment_or_the_end_of_a_day(tmp_path: Path, text: str, hour: int) -> None:
    deadline = options(tmp_path, "--deadline", text).deadline

    zone = datetime.UTC if text.endswith("+00:00") else None
    assert deadline.astimezone(zone).hour == hour


def test_without_a_tier_the_strictest_is_taken_and_later_runs_keep_it(
    tmp_path: Path, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    requests = []

    def strictest(assignment: Assignment, settings: Settings, tiers: tuple[str, ...]) -> Strictest:
        requests.append(tiers)
        return Strictest(LOCKED, ("contained: no",))

    monkeypatch.setattr(run, "strictest", strictest)
    assert run.chosen_tier(options(tmp_path), store, ASSIGNMENT) == LOCKED
    store.choose("tier", LOCKED)
    assert run.chosen_tier(options(tmp_path), store, ASSIGNMENT) == LOCKED
    explicit = options(tmp_path, "--tier", CONTAINED)
    assert run.chosen_tier(explicit, store, ASSIGNMENT) == CONTAINED

    assert requests == [(CONTAINED, LOCKED)]


def test_nothing_is_graded_without_isolation_unless_it_is_asked_for(
    tmp_path: Path, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run, "strictest", lambda *_: Strictest(None, ("contained: no bubblewrap",)))
    explicit = options(tmp_path, "--tier", PROCESS)
    assert run.chosen_tier(explicit, store, ASSIGNMENT) == PROCESS
    store.choose("tier", PROCESS)

    with pytest.raises(
        SubmissionError, match=r"cannot isolate submissions \(contained: no bubblewrap\)"
    ):
        run.chosen_tier(options(tmp_path), store, ASSIGNMENT)


def test_a_run_without_readable_submissions_says_what_is_wrong_with_each(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "ada.zip").touch()

    status = cli.run(ROOT, "class", [str(tmp_path / "in"), "--out", str(tmp_path / "out")])

    captured = capsys.readouterr()
    assert status == 2
    assert "could not be read: ada: it is an empty file" in captured.out
    assert captured.err.endswith(f"class: there is nothing to grade in {tmp_path / 'in'}\n")


def test_without_a_terminal_there_is_a_line_a_minute(monkeypatch: pytest.MonkeyPatch) -> None:
    stream, now = io.StringIO(), [0.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    progress = Progress(10, stream)

    for second in range(0, 121, 20):
        now[0] = float(second)
        progress.done(graded(), final=True)
        progress.tick(2, 2)

    lines = stream.getvalue().splitlines()
    assert len(lines) == 2
    assert lines[0].startswith("4 of 10: 4 not all passed; 4.0 a minute, ")


def test_on_a_terminal_there_is_a_bar_with_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "100")
    stream = Terminal()
    progress = Progress(3, stream)

    progress.done(graded(), final=True)
    progress.done(Attempt("", problem="killed"), final=False)
    progress.done(Attempt("", 1, "", unfinished()), final=True)
    progress.say("a line")
    progress.close()

    assert "2/3" in stream.getvalue()
    assert "1 could not be graded, 1 not all passed" in stream.getvalue()
    assert "a line\n" in stream.getvalue()


def test_the_bar_begins_below_the_line_that_says_what_is_graded(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, store: Store, capfd: pytest.CaptureFixture[str]
) -> None:
    printed = []

    def progress(total: int, **_: Any) -> Progress:
        printed.extend(capfd.readouterr())
        raise UserError("it ends here")

    monkeypatch.setattr(rounds, "packed", lambda *_: None)
    monkeypatch.setattr(rounds, "Progress", progress)
    terms = SimpleNamespace(tier=PROCESS, mode="grade")

    class_run: Any = SimpleNamespace(
        options=options(tmp_path),
        terms=terms,
        assignment=ASSIGNMENT,
        store=store,
        references=None,
        again="",
    )
    with pytest.raises(UserError):
        run.Run.grade(class_run, [Work({"bert": "x = 1"})])

    out, err = printed
    assert out.startswith("1 to grade, tier process, workers: ")
    assert out.endswith(" on this machine; no estimate before 8 are graded\n")
    assert err == f"{rounds.NO_TIER}\n"


@pytest.mark.parametrize(
    ("seconds", "text"), [(5, "5 s"), (300, "5 min"), (7260, "2 h 1 min"), (89, "89 s")]
)
def test_durations_are_written_as_people_say_them(seconds: float, text: str) -> None:
    assert spent(seconds) == text


@pytest.fixture(scope="module")
def parcel() -> Parcel:
    return packed(Settings.of(ROOT), ASSIGNMENT.data_files)


def test_packed_files_arrive_unchanged(parcel: Parcel, tmp_path: Path) -> None:
    (place := tmp_path / "place").mkdir()

    unpack(parcel.content, parcel.digest, place)

    for name in ("references/attention.safetensors", "checkpoint/config.json", "data/dev.txt"):
        source = ROOT / name.replace("references/", "reference_outputs/")
        assert (place / name).read_bytes() == source.read_bytes()
    assert not (place / "data" / "test.txt").exists()
    assert (place / "references").stat().st_mode & 0o077 == 0


def test_a_parcel_that_was_changed_on_the_way_is_refused(parcel: Parcel, tmp_path: Path) -> None:
    with pytest.raises(ParcelError):
        unpack(parcel.content + b"x", parcel.digest, tmp_path)

    assert list(tmp_path.iterdir()) == []


def test_damaged_references_are_detected_before_anything_is_graded(tmp_path: Path) -> None:
    for path in (ROOT / "reference_outputs").glob("*.*"):
        (tmp_path / path.name).write_bytes(path.read_bytes())
    (tmp_path / "embed.safetensors").write_bytes(b"damaged")

    with pytest.raises(ReferencesError, match=r"embed.safetensors is damaged"):
        packed(Settings.of(ROOT, references=tmp_path), ())


def test_without_a_checkpoint_none_is_packed_and_a_missing_one_is_an_error(tmp_path: Path) -> None:
    settings = Settings.of(ROOT, references=tmp_path, checkpoint=None)
    manifest = json.loads((ROOT / "reference_outputs/manifest.json").read_bytes())
    manifest["files"] = {}

    for name, digests in (("none", {}), ("lacking", manifest["checkpoint"])):
        text = json.dumps(manifest | {"checkpoint": digests})
        (tmp_path / "manifest.json").write_text(text, encoding="utf-8")
        if name == "lacking":
            with pytest.raises(ReferencesError, match="there is no checkpoint; restore"):
                packed(settings, ())
        else:
            content = packed(settings, ()).content
            assert zipfile.ZipFile(io.BytesIO(content)).namelist() == ["references/manifest.json"]


def test_work_is_anonymous_and_the_same_for_the_same_files() -> None:
    work, reordered = (
        Work({"bert": "x = 1", "optimizer": "y"}),
        Work({"optimizer": "y", "bert": "x = 1"}),
    )

    assert work.digest == reordered.digest
    assert work.digest != Work({"bert": "x = 2", "optimizer": "y"}).digest
    assert work.digest != Work({"bert": "x = 1", "optimizer": "y"}, others=("a",)).digest
    assert work.submission("bert.py").name == "bert.py"


INTERRUPTED = """
import runpy, signal, sys

module = sys.argv[1]

class Pressed:
    def find_spec(self, name, path=None, target=None):
        if name == module:
            signal.raise_signal(signal.SIGINT)

signal.signal(signal.SIGINT, signal.default_int_handler)  # shells ignore it in the background
sys.meta_path.insert(0, Pressed())
sys.argv[1:] = ["class", "."]
runpy.run_module("tensormark", run_name="__main__")
"""


@pytest.mark.parametrize("module", ["tensormark.references", "tensormark.classroom.run"])
def test_ctrl_c_before_anything_has_begun_prints_no_traceback(module: str) -> None:
    command_line = [sys.executable, "-c", INTERRUPTED, module]

    completed = ran(*command_line, cwd=ROOT)

    assert (completed.returncode, completed.stdout) == (130, "")
    assert completed.stderr == "\nclass: interrupted; what is graded is kept\n"

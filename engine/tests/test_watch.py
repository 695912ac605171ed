"""`tensormark watch`: each save is graded, however an editor saves, and nothing is left behind."""

import os
import re
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path

import pytest

from asking import all_end
from graded import Grade, ran, tensormark
from watching import Watching, descriptors_of, memory_of

RIGHT = "found = torch.relu("
WRONG = "found = 1.01 * torch.relu("
HANGS = "while True: ("
ALL = "score   80 / 80"
SOME = "score   40 / 80"
SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"]
ON_LINUX = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")


@pytest.fixture
def path(tmp_path: Path, solution_source: str) -> Path:
    """A file with a mistake."""
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "detector.py").write_text(solution_source.replace(RIGHT, WRONG), encoding="utf-8")
    return folder / "detector.py"


def in_place(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")


def by_renaming(path: Path, text: str) -> None:
    """Save as many editors do, and `git checkout`."""
    new = path.with_name(".detector.py.tmp")
    new.write_text(text, encoding="utf-8")
    new.rename(path)


def with_a_backup(path: Path, text: str) -> None:
    """Save as vim does: for a moment there is no such file."""
    swap = path.with_name(".detector.py.swp")
    swap.write_bytes(b"vim")
    path.rename(path.with_name("detector.py~"))
    path.write_text(text, encoding="utf-8")
    path.with_name("detector.py~").unlink()
    swap.unlink()


def in_two_halves(path: Path, text: str) -> None:
    """Save with a pause in which the file ends in the middle."""
    with path.open("w", encoding="utf-8") as file:
        file.write(text[: len(text) // 2])
        file.flush()
        threading.Event().wait(0.3)
        file.write(text[len(text) // 2 :])


def after_deleting(path: Path, text: str) -> None:
    path.unlink()
    threading.Event().wait(0.3)
    path.write_text(text, encoding="utf-8")


def with_the_folder(path: Path, text: str) -> None:
    """Save as switching branches may: the folder is another one."""
    path.unlink()
    path.parent.rmdir()
    path.parent.mkdir()
    path.write_text(text, encoding="utf-8")


WAYS = [in_place, by_renaming, with_a_backup, in_two_halves, after_deleting, with_the_folder]


@pytest.fixture(scope="module")
def watched(
    folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Path, Watching]]:
    """A file, and the command that watches it for several tests."""
    path = tmp_path_factory.mktemp("watched") / "mine" / "detector.py"
    path.parent.mkdir()
    path.touch()
    with Watching(folder, path) as watching:
        watching.report()
        yield path, watching


@pytest.mark.parametrize("save", WAYS)
def test_a_save_is_graded_however_an_editor_saves(
    watched: tuple[Path, Watching], solution_source: str, save: Callable[[Path, str], None]
) -> None:
    path, watching = watched
    in_place(path, solution_source.replace(RIGHT, WRONG))
    first = watching.until(SOME)
    watching.report()

    save(path, solution_source)

    watching.until(ALL)
    output = watching.report()
    assert "FAILED           detector" in first
    assert f"waiting for a change to {path}; Ctrl-C ends" in output


def test_a_report_is_that_of_check_below_the_time(
    watched: tuple[Path, Watching], solution_source: str, grade: Grade
) -> None:
    path, watching = watched
    in_place(path, solution_source.replace(RIGHT, WRONG))

    report = watching.report()

    assert re.match(r"\n-- \d\d:\d\d:\d\d -+\nDetector ", report)
    assert grade(path).output in report


def test_a_syntax_error_is_reported_and_the_next_save_graded(
    watched: tuple[Path, Watching], solution_source: str
) -> None:
    path, watching = watched
    in_place(path, solution_source.replace("class Detector(", "class Detector(x x "))
    broken = watching.report()
    in_place(path, solution_source)
    watching.until(ALL)  # a save that a busy machine takes in two steps is reported twice
    watching.report()

    assert "detector.py cannot be imported" in broken
    line = solution_source.partition("class Detector(")[0].count("\n") + 1
    assert f"detector.py:{line}: invalid syntax" in broken


def test_a_file_that_is_gone_is_waited_for(
    watched: tuple[Path, Watching], solution_source: str
) -> None:
    path, watching = watched
    path.unlink()
    watching.until(f"{path}: there is no such file or folder")
    watching.report()
    in_place(path, solution_source)
    watching.until(ALL)
    watching.report()


def test_a_save_ends_a_call_that_hangs(folder: Path, path: Path, solution_source: str) -> None:
    in_place(path, solution_source.replace(RIGHT, HANGS))
    with Watching(folder, path) as watching:
        watching.until("conv")  # detector is next, and hangs
        in_place(path, solution_source)
        report = watching.report()

    assert "saved again" in report
    assert " detector " not in report.partition("saved again")[0]
    assert ALL in report


def test_exercises_and_folders_are_watched_as_they_are_checked(
    folder: Path, path: Path, solution_source: str
) -> None:
    with Watching(folder, path.parent, "--only", "conv") as watching:
        watching.report()
        in_place(path.with_name("notes.py"), "nobody grades this")
        in_place(path, solution_source)
        report = watching.report()

    assert "score   40 / 40" in report
    assert report.count("Detector   submission") == 1


@pytest.mark.parametrize(
    ("options", "error"),
    [
        (("nowhere.py",), "there is no such file"),
        (("starter", "--only", "detectro"), "did you mean detector?"),
        (("starter", "--only", "detection"), "needs training"),
    ],
)
def test_a_file_or_an_exercise_that_cannot_be_watched_is_an_error(
    folder: Path, options: tuple[str, ...], error: str
) -> None:
    completed = ran(*tensormark("watch", *options), cwd=folder)

    assert completed.returncode == 2
    assert completed.stderr.startswith("watch: ")
    assert error in completed.stderr
    assert completed.stdout == ""


@pytest.mark.parametrize("name", ["pipe", "device", "link to a device", "link in a folder"])
def test_a_path_that_cannot_be_read_is_not_waited_for(
    folder: Path, tmp_path: Path, name: str
) -> None:
    path = {"device": Path("/dev/zero")}.get(name, tmp_path / "detector.py")
    if name == "pipe":
        os.mkfifo(path)
    elif path.parent == tmp_path:
        path.symlink_to("/dev/zero")
    watched = tmp_path if name.endswith("folder") else path

    completed = ran(*tensormark("watch", str(watched)), cwd=folder)

    assert completed.returncode == 2
    assert re.fullmatch(r"watch: .*\n", completed.stderr)


def test_nothing_that_a_submission_leaves_reaches_its_next_grading(
    watched: tuple[Path, Watching], solution_source: str
) -> None:
    path, watching = watched
    look = (
        "import os, torch\n"
        "left = getattr(torch, 'left', 'nothing')\n"
        "print('left:', left, os.listdir('.'), torch.get_num_threads())\n"
        "torch.left = 'something'\ntorch.set_num_threads(2)\nopen('file', 'w').close()\n"
    )
    reports = []
    for text in (solution_source + look, f"{solution_source}{look}\n"):
        in_place(path, text)
        reports.append(watching.report())

    assert [report.count("| left: nothing [] 1") for report in reports] == [1, 1]


@ON_LINUX
@pytest.mark.sampled(2)  # each signal once
@pytest.mark.parametrize(("busy", "name"), [*product([False, True], SIGNALS)])
def test_the_command_may_be_ended_at_any_time_and_leaves_nothing(
    folder: Path, path: Path, solution_source: str, tmp_path: Path, monkeypatch, busy: bool, name
) -> None:
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    in_place(path, solution_source.replace(RIGHT, HANGS) if busy else solution_source)
    with Watching(folder, path) as watching:
        watching.until("conv" if busy else "waiting")
        below = watching.below()
        output = watching.ended_by(name)

    assert below
    assert output.endswith("\nwatch: ended\n")
    assert "Traceback" not in output
    assert watching.process.returncode == 0
    assert all_end(below)
    assert list(temporary.iterdir()) == []


@ON_LINUX
def test_processes_that_the_command_started_end_when_it_is_killed(
    folder: Path, path: Path, solution_source: str
) -> None:
    in_place(path, solution_source.replace(RIGHT, HANGS))
    with Watching(folder, path) as watching:
        watching.until("conv")
        below = watching.below()
        watching.ended_by("SIGKILL")

    assert len(below) >= 2
    assert all_end(below)


@ON_LINUX
def test_the_process_that_waits_is_replaced_if_it_dies(
    folder: Path, path: Path, solution_source: str
) -> None:
    with Watching(folder, path) as watching:
        watching.report()
        below = watching.below()
        for process in below:
            os.kill(process, signal.SIGKILL)
        in_place(path, solution_source)
        report = watching.report()

    assert below
    assert ALL in report


@ON_LINUX
def test_twenty_saves_in_a_row_leave_nothing_behind(
    folder: Path, path: Path, solution_source: str
) -> None:
    with Watching(folder, path, "--only", "conv") as watching:
        watching.report()
        for number in range(25):
            in_place(path, f"{solution_source}# {number}\n")
            watching.until("40/40")
            watching.report()
            if number == 4:
                before = watching.below()
                memory = {}
                open_files = descriptors_of(watching.process.pid)
                for process in (watching.process.pid, *before):
                    memory[process] = memory_of(process)
        after = watching.below()
        grown = {process: memory_of(process) - memory[process] for process in memory}
        descriptors = descriptors_of(watching.process.pid)

    assert after == before
    assert descriptors == open_files
    assert all(kilobytes < 4096 for kilobytes in grown.values()), grown

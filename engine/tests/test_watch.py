"""`tensormark watch`: each save is graded, however an editor saves, and nothing is left behind."""

import contextlib
import os
import re
import signal
import sys
import threading

import pytest

from tensormark import watch
from testkit.asking import all_end
from testkit.graded import ran, tensormark
from testkit.watching import Watching

RIGHT = "found = torch.relu("
WRONG = "found = 1.01 * torch.relu("
HANGS = "while True: ("
ALL = "score   80 / 80"
SOME = "score   40 / 80"
ON_LINUX = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")


@pytest.fixture
def path(tmp_path, solution_source):
    """A file of which the second exercise hangs."""
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "detector.py").write_text(solution_source.replace(RIGHT, HANGS), "utf-8")
    return folder / "detector.py"


def in_place(path, text):
    path.write_text(text, "utf-8")


def in_two_halves(path, text):
    """Save with a pause in which the file ends in the middle."""
    with path.open("w", encoding="utf-8") as file:
        file.write(text[: len(text) // 2])
        file.flush()
        threading.Event().wait(0.3)
        file.write(text[len(text) // 2 :])


def with_the_folder(path, text):
    """Save as switching branches may: the folder is another one, after a while."""
    path.unlink()
    path.parent.rmdir()
    threading.Event().wait(0.3)
    path.parent.mkdir()
    path.write_text(text, "utf-8")


@pytest.fixture(scope="module")
def watched(folder, tmp_path_factory):
    """A file, and the command that watches it for several tests."""
    path = tmp_path_factory.mktemp("watched") / "mine" / "detector.py"
    path.parent.mkdir()
    path.touch()
    with Watching(folder, path) as watching:
        watching.report()
        yield path, watching


@pytest.mark.parametrize("save", [in_two_halves, with_the_folder])
def test_a_save_is_graded_however_an_editor_saves(watched, solution_source, grade, save):
    path, watching = watched
    in_place(path, solution_source.replace(RIGHT, WRONG))
    first = watching.until(SOME)
    first += watching.report()
    as_checked = grade(path).output

    save(path, solution_source)

    watching.until(ALL)
    assert f"waiting for changes to {path}; Ctrl-C stops" in watching.report()
    assert re.search(r"\n-- \d\d:\d\d:\d\d -+\nDetector ", first)
    assert as_checked in first


def test_a_syntax_error_or_a_file_that_is_gone_is_reported_and_the_next_save_graded(
    watched, solution_source
):
    path, watching = watched
    in_place(path, solution_source.replace("class Detector(", "class Detector(x x "))
    broken = watching.until("invalid syntax")
    watching.report()
    path.unlink()
    watching.until(f"{path}: there is no such file or folder")
    watching.report()
    in_place(path, solution_source)
    watching.until(ALL)  # a save that a busy machine takes in two steps is reported twice
    watching.report()

    line = solution_source.partition("class Detector(")[0].count("\n") + 1
    assert f"detector.py:{line}: invalid syntax" in broken


def test_only_another_text_starts_a_grading_over_and_the_same_one_is_a_save(
    path, tmp_path, monkeypatch
):
    monkeypatch.setattr(watch, "INTERVAL", 0.0)
    link = tmp_path / "link.py"
    link.symlink_to(path)
    report = watch.WatchReport(str(link), ["detector.py"])

    (path.parent / "new").write_text(path.read_text("utf-8"), "utf-8")
    (path.parent / "new").rename(path)
    report.progress("conv", 0, 1)
    report.wait()
    in_place(path, "x = 1\n")
    with pytest.raises(watch.SavedAgain):
        report.progress("conv", 0, 1)


def test_a_new_file_that_would_be_graded_is_a_save(path):
    report = watch.WatchReport(str(path.parent), ["detector.py", "optimizer.py"])

    in_place(path.with_name("optimizer.py"), "x = 1\n")

    report.wait()


def test_a_grading_that_was_ended_begins_again_even_if_the_file_is_as_it_was(
    folder, path, monkeypatch
):
    ends = [watch.SavedAgain, KeyboardInterrupt]

    def grade(*_, **__):
        raise ends.pop(0)

    monkeypatch.setattr("tensormark.grading.Grading.grade", grade)

    with pytest.raises(KeyboardInterrupt):
        watch.watch(folder, str(path), None)


def test_a_save_ends_a_call_that_hangs(folder, path, solution_source):
    with Watching(folder, path) as watching:
        watching.until("conv")  # detector is next
        in_place(path, solution_source)
        report = watching.report()

    assert "saved again" in report
    assert " detector " not in report.partition("saved again")[0]
    assert ALL in report


@pytest.mark.parametrize(
    ("options", "error"),
    [
        (("nowhere.py",), "there is no such file"),
        (("starter", "--only", "detectro"), "did you mean detector?"),
    ],
)
def test_what_cannot_be_watched_is_an_error(folder, options, error):
    completed = ran(*tensormark("watch", *options), cwd=folder)

    assert (completed.returncode, completed.stdout) == (2, "")
    assert re.fullmatch(f"watch: .*{re.escape(error)}.*\n", completed.stderr)


@ON_LINUX
@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP", "SIGKILL"])
def test_the_command_may_be_ended_during_a_call_and_leaves_nothing(
    folder, path, tmp_path, monkeypatch, name
):
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    with Watching(folder, path) as watching:
        watching.until("conv")
        below = watching.below()
        output = watching.ended_by(name)

    assert len(below) >= 2
    assert all_end(below)
    if name != "SIGKILL":
        assert output.endswith("\nwatch: ended\n")
        assert "Traceback" not in output
        assert watching.process.returncode == 0
        assert list(temporary.iterdir()) == []


@ON_LINUX
def test_a_process_that_dies_is_replaced_and_other_files_are_no_saves(
    folder, path, solution_source
):
    in_place(path, solution_source)
    with Watching(folder, path.parent, "--only", "conv") as watching:
        watching.report()
        in_place(path.with_name("notes.py"), "nobody grades this")
        for process in watching.below():
            with contextlib.suppress(ProcessLookupError):  # it ends with another one
                os.kill(process, signal.SIGKILL)
        in_place(path, f"{solution_source}# again\n")
        last = watching.until("40/40")
        ended = watching.ended_by("SIGINT")  # while it waits for a save

    assert last.count("Detector   submission") == 1
    assert ended.endswith("\nwatch: ended\n")

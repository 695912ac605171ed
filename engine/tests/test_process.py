"""The one process that reads submissions: what it may cost, what ends it, and what it says then."""

import contextlib
import sys
import time
from pathlib import Path

import pytest

from tensormark.intake import process
from tensormark.intake.process import READER, InspectionError, ReaderProcess
from tensormark.intake.sources import MAX_SOURCE
from tensormark.intake.submission import Submission, inspected, read_submission
from testkit import toy
from testkit.graded import ran
from testkit.packing import EDITABLE, MARKS, SOURCE, tarred, unpacked, zipped

NAMES = [f"{'-1_2_' * 45}{number}main-1.py" for number in range(9_000)]
ENDING = {
    "main.py": "x = " + "-" * 200_000 + "1\n",
    "optimizer.py": "y\n" * 128_000,
    "pretraining.py": "x" + ".a" * 120_000 + "\n",
    "transformer.py": "x\n" * 128_000,
}
COST = """
import contextlib, resource, sys
from tensormark.intake.process import READER
from tensormark.intake.submission import SubmissionError, inspected, read_submission

with contextlib.suppress(SubmissionError):
    inspected(read_submission(sys.argv[1], sys.argv[2:]))
READER.close()
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)
"""


def many_files(path):
    path.mkdir()
    for number in range(11_000):
        (path / f"{number}.txt").touch()
    return path


ATTACKS = {
    "names": lambda path: zipped(path, dict.fromkeys(NAMES, b"")),
    "a zip of zeros": lambda path: zipped(path, {"main.py": bytes(80 << 20)}),
    "a gz of zeros": lambda path: tarred(path, {"x": bytes(70 << 20)}, "w:gz"),
    "entries": many_files,
    "four sources": lambda path: unpacked(path, {n: t.encode() for n, t in ENDING.items()}),
    # takes seconds, or none where Python sorts marks in linear time
    "a name": lambda path: unpacked(path, {"main.py": f"a{MARKS * 12_000} = 1\n".encode()}),
    "a tuple": lambda path: unpacked(path, {"main.py": b"x = (" + b"a,b," * 60_000 + b")"}),
}


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="counts memory in kB")
@pytest.mark.parametrize("name", ATTACKS)
def test_no_hand_in_costs_more_than_a_few_seconds_and_200_mb_in_all(tmp_path, name):
    path = ATTACKS[name](tmp_path / "work")

    completed = ran(sys.executable, "-c", COST, path, *EDITABLE)

    seconds, megabytes = map(float, completed.stdout.split())
    assert seconds < 1.0 + len(EDITABLE) * 0.4 + 0.4  # reading, each source, starting
    assert megabytes < 200


@pytest.fixture
def reader():
    with contextlib.closing(ReaderProcess()) as instance:
        yield instance


def read(reader, path):
    part = {"root": str(path), "below": [], "name": path.name}
    return reader.ask("read", 1.0, parts=[part], editable=["main.py"], given={})


def test_a_process_that_was_killed_is_started_again(tmp_path, reader):
    unpacked(tmp_path, {"main.py": SOURCE})
    read(reader, tmp_path)
    started = reader.start()
    started.kill()
    started.wait()

    assert read(reader, tmp_path)["sources"] == {"main": SOURCE.decode()}


def test_a_process_that_never_answers_is_ended_and_is_the_graders_fault(
    tmp_path, reader, monkeypatch
):
    script = tmp_path / "sleep.py"
    script.write_text("import time; print('{}', flush=True); time.sleep(1000)\n", "utf-8")
    monkeypatch.setattr(process, "LIMITED", script)
    monkeypatch.setattr(process, "DEADLINE", 0.3)

    with pytest.raises(InspectionError):
        read(reader, tmp_path)


@pytest.mark.parametrize("end", ["", "\\n"])
def test_an_endless_answer_is_none(tmp_path, reader, monkeypatch, end):
    script = tmp_path / "flood.py"
    script.write_text(f"while True: print('{{}}' + ' ' * 1000, end='{end}')\n", "utf-8")
    monkeypatch.setattr(process, "LIMITED", script)
    monkeypatch.setattr(process, "MAX_ANSWER", 1 << 16)

    assert read(reader, tmp_path) == {}


def test_a_process_with_the_limits_cannot_write_to_a_file(tmp_path):
    code = (
        f"import sys; sys.path.insert(0, {str(Path(process.__file__).parents[2])!r})\n"
        "from tensormark.intake.limited import limit; limit(5)\n"
        f"print('x', file=open({str(tmp_path / 'x')!r}, 'w'), flush=True)\n"
    )

    assert "File too large" in ran(sys.executable, "-c", code).stderr
    assert not (tmp_path / "x").read_bytes()


def test_the_largest_sources_fit_into_an_answer(tmp_path):
    text = "\x01" * MAX_SOURCE
    unpacked(tmp_path, {name: text.encode() for name in EDITABLE})

    submission = read_submission(tmp_path, EDITABLE)

    assert set(submission.sources.values()) == {text}


def test_a_process_that_does_not_start_is_no_fault_of_the_submission(grade, tmp_path, monkeypatch):
    monkeypatch.setattr(process, "LIMITED", tmp_path / "missing.py")
    READER.close()

    with pytest.raises(InspectionError):
        inspected(Submission("x", {"main": "import torch\n"}, {}))
    graded = grade("solution")
    assert (graded.status, graded.result) == (2, {})


def test_a_source_that_ends_the_process_fails_alone_with_its_file_named(grade, tmp_path):
    files = {name: text.encode() for name, text in ENDING.items()} | {"main.py": SOURCE}
    path = tmp_path / toy.MAIN
    path.write_text(ENDING["main.py"], "utf-8")

    before = time.process_time()
    submission = inspected(read_submission(unpacked(tmp_path / "work", files), EDITABLE))
    graded = grade(path)

    assert time.process_time() - before < 1.0  # it takes the grader no longer than the answer
    assert submission.faults.keys() == {"optimizer", "pretraining", "transformer"}
    assert submission.sources["main"] == SOURCE.decode()
    assert set(graded.outcomes().values()) == {"failed"}
    assert toy.MAIN in graded.exercise("conv")["message"]

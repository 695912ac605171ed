"""The one process that reads hand-ins: what it may cost, what ends it, and what it says then."""

import contextlib
import json
import os
import random
import sys
import tarfile
import time
import zipfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tensormark.intake import door, limited
from tensormark.intake.door import DOOR, Answer, Door, InspectionError
from tensormark.intake.inspection import inspected
from tensormark.intake.submission import SubmissionError, read_submission
from tensormark.intake.texts import MAX_SOURCE

from graded import ran
from packing import EDITABLE, SOURCE, tarred, unpacked, zipped

MARKS = "".join(map(chr, (0x334, 0x327, 0x31B, 0x316, 0x301)))
NAMES = [f"{'-1_2_' * 45}{number}main-1.py" for number in range(9_000)]
ENDING = {
    "main.py": "x = " + "-" * 200_000 + "1\n",
    "optimizer.py": "y\n" * 128_000,
    "pretraining.py": "x" + ".a" * 120_000 + "\n",
    "transformer.py": "x\n" * 128_000,
}


@pytest.fixture
def answers(monkeypatch: pytest.MonkeyPatch) -> list[Answer]:
    """Return a list that gets every answer of the process that reads."""
    log: list[Answer] = []
    ask = DOOR.ask
    monkeypatch.setattr(DOOR, "ask", lambda *words: log.append(ask(*words)) or log[-1])
    return log


def nested_zips(path: Path) -> Path:
    content = os.urandom(30 << 20)
    for _ in range(4):
        content = zipped(path, {"work.zip": content}, zipfile.ZIP_STORED).read_bytes()
    return path


def long_header(path: Path) -> Path:
    """Pack a tar with a header of a million records."""
    records = b"".join(b"13 k%06d=1\n" % number for number in range(1_000_000))
    header = tarfile.TarInfo("header")
    header.type, header.size = tarfile.XHDTYPE, len(records)
    content = header.tobuf(tarfile.USTAR_FORMAT) + records + bytes(-len(records) % 512)
    path.write_bytes(content + tarfile.TarInfo("x").tobuf(tarfile.USTAR_FORMAT) + bytes(1024))
    return path


def many_files(path: Path) -> Path:
    path.mkdir()
    for number in range(11_000):
        (path / f"{number}.txt").touch()
    return path


ATTACKS = {
    "names": lambda path: zipped(path, dict.fromkeys(NAMES, b"")),
    "folders": lambda path: zipped(path, {f"{'a/' * 16_000}{n}.py": b"" for n in range(300)}),
    "members": lambda path: zipped(path, {str(n): b"" for n in range(30_000)}),
    "a zip of zeros": lambda path: zipped(path, {"main.py": bytes(80 << 20)}),
    "a bzip2 of zeros": lambda path: zipped(path, {"main.py": bytes(80 << 20)}, zipfile.ZIP_BZIP2),
    "an xz": lambda path: tarred(path, {"x": random.Random(1).randbytes(5 << 20)}, "w:xz"),
    "an xz of zeros": lambda path: tarred(path, {"x": bytes(70 << 20)}, "w:xz"),
    "a gz of zeros": lambda path: tarred(path, {"x": bytes(70 << 20)}, "w:gz"),
    "zips in zips": nested_zips,
    "a header": long_header,
    "entries": many_files,
    "four sources": lambda path: unpacked(path, {n: t.encode() for n, t in ENDING.items()}),
    # takes seconds, or none where Python sorts marks in linear time
    "a name": lambda path: unpacked(path, {"main.py": f"a{MARKS * 12_000} = 1\n".encode()}),
    "a tuple": lambda path: unpacked(path, {"main.py": b"x = (" + b"a,b," * 60_000 + b")"}),
}


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="counts memory in kB")
@pytest.mark.parametrize("name", ATTACKS)
def test_no_hand_in_costs_more_than_two_seconds_and_200_mb_in_all(
    tmp_path: Path, name: str, answers: list[Answer]
) -> None:
    path = ATTACKS[name](tmp_path / "work")

    before = time.process_time()
    with contextlib.suppress(SubmissionError):
        inspected(read_submission(path, EDITABLE))
    seconds = time.process_time() - before

    assert seconds + sum(answer.seconds for answer in answers) < 2.0
    assert max(answer.peak for answer in answers) / 1024 < 200


def test_a_source_that_ends_the_inspector_does_not_affect_other_files(tmp_path: Path) -> None:
    files = {name: text.encode() for name, text in ENDING.items()} | {"main.py": SOURCE}

    submission = inspected(read_submission(unpacked(tmp_path, files), EDITABLE))

    ended = ("optimizer", "pretraining", "transformer")
    assert submission.faults == {name: f"{name}.py: too complex to be read" for name in ended}
    assert submission.sources["main"] == SOURCE.decode()


@pytest.fixture
def new_door() -> Iterator[Door]:
    with contextlib.closing(Door()) as instance:
        yield instance


def read(new_door: Door, path: Path) -> Answer:
    part = {"root": str(path), "below": [], "name": path.name}
    return new_door.ask("read", 1.0, {"parts": [part], "editable": ["main.py"], "given": {}})


def test_a_process_that_was_killed_is_started_again(tmp_path: Path, new_door: Door) -> None:
    unpacked(tmp_path, {"main.py": SOURCE})
    read(new_door, tmp_path)
    new_door.process.kill()
    new_door.process.wait()

    assert read(new_door, tmp_path).rows[0]["sources"] == {"main": SOURCE.decode()}


def test_a_process_that_never_answers_is_ended_and_is_the_graders_fault(
    tmp_path: Path, new_door: Door, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = tmp_path / "sleep.py"
    script.write_text("import time; print('{}', flush=True); time.sleep(1000)\n", encoding="utf-8")
    monkeypatch.setattr(door, "LIMITED", script)
    monkeypatch.setattr(door, "DEADLINE", 0.3)

    with pytest.raises(InspectionError, match=r"cannot be read in 0\.3 seconds"):
        read(new_door, tmp_path)


def test_an_endless_answer_is_not_complete(
    tmp_path: Path, new_door: Door, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = tmp_path / "flood.py"
    script.write_text("while True: print('{\"x\": 1}' + ' ' * 1000)\n", encoding="utf-8")
    monkeypatch.setattr(door, "LIMITED", script)
    monkeypatch.setattr(door, "MAX_ANSWER", 1 << 16)

    assert not read(new_door, tmp_path).complete


def test_the_process_answers_several_threads_in_turn(tmp_path: Path, new_door: Door) -> None:
    folders = [
        unpacked(tmp_path / str(number), {"main.py": b"x = %d\n" % number}) for number in range(8)
    ]

    with ThreadPoolExecutor(len(folders)) as pool:
        answers = list(pool.map(lambda folder: read(new_door, folder), folders))

    sources = [answer.rows[0]["sources"] for answer in answers]
    assert sources == [{"main": f"x = {number}\n"} for number in range(8)]


def test_without_fork_the_process_does_one_job_itself(tmp_path: Path) -> None:
    unpacked(tmp_path, {"main.py": SOURCE})
    part = {"root": str(tmp_path), "below": [], "name": "work"}
    request = {"parts": [part], "editable": ["main.py"], "given": {}, "job": "read", "seconds": 9}
    code = "import os, runpy, sys; del os.fork; runpy.run_path(sys.argv[1], run_name='__main__')"

    command = [sys.executable, "-I", "-S", "-c", code, limited.__file__]
    completed = ran(*command, input=json.dumps(request))

    ready, answer, end = map(json.loads, completed.stdout.splitlines())
    assert (ready, end) == ({"ready": True}, {"ended": 0})
    assert answer["sources"] == {"main": SOURCE.decode()}


def test_a_process_with_the_limits_cannot_write_to_a_file(tmp_path: Path) -> None:
    code = (
        f"import sys; sys.path.insert(0, {str(Path(door.__file__).parents[2])!r})\n"
        "from tensormark.intake.limited import limit; limit(5)\n"
        f"print('x', file=open({str(tmp_path / 'x')!r}, 'w'), flush=True)\n"
    )

    assert "File too large" in ran(sys.executable, "-c", code).stderr
    assert not (tmp_path / "x").read_bytes()


def test_the_largest_sources_fit_into_an_answer(tmp_path: Path) -> None:
    text = "\x01" * MAX_SOURCE
    unpacked(tmp_path, {name: text.encode() for name in EDITABLE})

    submission = read_submission(tmp_path, EDITABLE)

    assert set(submission.sources.values()) == {text}

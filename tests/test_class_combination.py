"""A folder of results is for one class, graded in one way; nothing in the folder is overwritten."""

import json
import shlex
from pathlib import Path
from typing import Any

import pytest
from teaching import grade_at_once
from test_class_store import result

from tensormark import cli
from tensormark.classroom import run
from tensormark.classroom.jobs.store import Store

from conftest import ROOT
from downloads import handed_in
from graded import files_in


@pytest.fixture(autouse=True)
def instant_grading(monkeypatch: pytest.MonkeyPatch) -> None:
    grade_at_once(monkeypatch, lambda work: result())
    monkeypatch.setattr(run, "known_sources", lambda _: [])  # which is slow
    monkeypatch.setattr(run, "chosen_tier", lambda options, *_: options.tier or "contained")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    handed_in(tmp_path / "in", "ada_1_10_bert.py", "grace_2_11_bert.py")
    handed_in(tmp_path / "others", "bob_3_10_bert.py")
    record(tmp_path / "private", 7)
    assert grade(tmp_path) == 0
    return tmp_path


def record(place: Path, seed: int) -> None:
    """Write references with a seed; no test runs anything with them."""
    manifest = json.loads((ROOT / "reference_outputs/manifest.json").read_bytes())
    place.mkdir(exist_ok=True)
    (place / "manifest.json").write_text(
        json.dumps(manifest | {"seed": seed, "private": True}), encoding="utf-8"
    )


def grade(folder: Path, *options: str, **others: str) -> int:
    arguments = {"references": str(folder / "private"), "out": str(folder / "out")} | others
    hand_ins = arguments.pop("hand_ins", "in")
    line = [part for name, text in arguments.items() if text for part in (f"--{name}", text)]
    return cli.run(ROOT, "class", [str(folder / hand_ins), *line, *options])


def contents(folder: Path) -> dict[str, bytes]:
    """Return the files in a folder of results, except the store's own."""
    return {name: text for name, text in files_in(folder).items() if "store" not in name}


OTHERS: dict[str, tuple[dict[str, str], list[str]]] = {
    "SUBMISSIONS": ({"hand_ins": "others"}, []),
    "REFERENCES (private)": ({"references": ""}, []),
    "CHECK": ({}, ["--check"]),
    "TIER": ({}, ["--tier", "locked"]),
    "BUDGET": ({}, ["--budget", "100"]),
    "TRAINING_TIMES": ({}, ["--training-times", "3"]),
}


@pytest.mark.parametrize("name", OTHERS)
def test_another_combination_is_refused_with_commands_to_continue_or_to_start_over(
    folder: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    others, options = OTHERS[name]
    before = contents(folder / "out")

    assert grade(folder, *options, **others) == 2

    errors = capsys.readouterr().err
    assert errors.startswith(f"class: OUT={folder / 'out'}: holds results with different {name}; ")
    assert errors.count("\n") == 1
    assert contents(folder / "out") == before
    continuing = options_in(errors.partition("to continue that run: ")[2].partition(";")[0])
    fresh = options_in(errors.partition("to start over: ")[2].partition(" (or")[0])
    assert fresh["out"] == f"{folder / 'out'}-2"
    assert [status_of(folder, command_options) for command_options in (continuing, fresh)] == [0, 0]
    assert contents(folder / "out-2")


def options_in(command_line: str) -> dict[str, str]:
    words = shlex.split(command_line)
    assert words[:2] == ["make", "class"]
    return {name.lower(): text for name, _, text in (word.partition("=") for word in words[2:])}


def test_without_make_the_message_has_tensormarks_own_command(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("TENSORMARK_MAKE", raising=False)
    assert grade(folder, "--check", "--training-times", "3") == 2
    error = capsys.readouterr().err

    assert "holds results with different --check, --training-times; to continue that run: " in error
    fresh = shlex.split(error.partition("to start over: ")[2].partition(" (or --force, which")[0])
    assert fresh[:3] == ["tensormark", "class", str(folder / "in")]
    assert cli.run(ROOT, "class", fresh[2:]) == 0
    assert len(contents(folder / "out-2")) > 0


def status_of(folder: Path, command_options: dict[str, str]) -> int:
    line = [command_options.pop("submissions")]
    for name, text in command_options.items():
        line += [f"--{name.replace('_', '-')}", *([] if name == "check" else [text])]
    return cli.run(ROOT, "class", line)


@pytest.mark.parametrize("name", OTHERS)
def test_force_takes_the_folder_and_keeps_its_earlier_results(
    folder: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    others, options = OTHERS[name]
    before = contents(folder / "out")

    assert grade(folder, *options, "--force", **others) == 0
    assert grade(folder, *options, **others) == 0

    assert f"moved to {folder / 'out/earlier-1'}" in capsys.readouterr().out
    after = contents(folder / "out")
    results = [name for name in before if name.startswith(("gradebook", "feedback/"))]
    visible = [name for name in results if "/." not in name]
    assert len(visible) == 6
    assert all(after[f"earlier-1/{name}"] == before[name] for name in visible)


def test_references_that_were_recorded_again_are_different_ones(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    record(folder / "private", 8)

    assert grade(folder) == 2

    errors = capsys.readouterr().err
    assert "holds results with different REFERENCES; " in errors
    assert "that run cannot continue, as its references are no longer in " in errors


def test_options_that_decide_no_result_may_change(folder: Path) -> None:
    (folder / "roster.csv").write_text("id,name\n1,Ada\n", encoding="utf-8")
    options = ["--roster", str(folder / "roster.csv"), "--deadline", "2026-11-20", "--workers", "1"]

    assert grade(folder, *options) == 0


def test_an_appeal_with_other_references_compares_only_if_forced_and_leaves_the_gradebook(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = contents(folder / "out")

    assert grade(folder, "--only", "1", references="") == 2
    assert "FORCE=1 compares anyway, and leaves the gradebook" in capsys.readouterr().err
    assert grade(folder, "--only", "1", "--force", references="") == 0

    assert contents(folder / "out") == before
    assert grade(folder) == 0


def test_a_run_that_graded_nothing_does_not_bind_its_folder(tmp_path: Path) -> None:
    handed_in(tmp_path / "in", "ada_1_10_bert.py")
    (tmp_path / "wrong").mkdir()
    (tmp_path / "wrong" / "bob.zip").touch()
    record(tmp_path / "private", 7)

    assert grade(tmp_path, hand_ins="wrong") == 2
    assert grade(tmp_path) == 0


def test_results_of_an_older_version_are_not_overwritten(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with Store(folder / "out/store.sqlite") as store, store.change() as file:
        file.execute("DELETE FROM setting WHERE name = 'combination'")

    assert grade(folder, hand_ins="others") == 2
    assert grade(folder, references="") == 2
    assert "with different REFERENCES" in capsys.readouterr().err
    assert grade(folder) == 0


@pytest.mark.parametrize("references", ["", "private"])
def test_the_first_line_says_whether_everybody_has_the_inputs(
    folder: Path, references: str, capsys: pytest.CaptureFixture[str]
) -> None:
    place: Any = references and str(folder / references)
    capsys.readouterr()

    assert grade(folder, references=place, out=str(folder / "new")) == 0

    line = capsys.readouterr().out.splitlines()[0]
    assert line.startswith("graded on the public inputs, which every student has") == (not place)

"""The command tensormark, and what it reports on a submission.

The fixtures need another: `solution`, the path of the assignment's first file with right code.
"""

import json
import shutil
import subprocess
import sys
from typing import Any, NamedTuple

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from tensormark.files import sha256
from testkit.resident import called


class Graded(NamedTuple):
    status: int
    output: str
    errors: str
    result: dict[str, Any]

    def exercise(self, name):
        return next(entry for entry in self.result["exercises"] if entry["id"] == name)

    def outcomes(self):
        return {entry["id"]: entry["outcome"] for entry in self.result["exercises"]}


def tensormark(*words):
    return [sys.executable, "-P", "-m", "tensormark", *words]


def ran(*command, **options):
    """Run a program to its end, whatever its exit status."""
    line = list(map(str, command))
    return subprocess.run(line, capture_output=True, text=True, check=False, **options)


def program(path, lines=f'exec "{sys.executable}" "$@"'):
    """Write an executable script, and its folder; by default it runs this Python."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{lines}\n", "utf-8")
    path.chmod(0o755)
    return path


def files_in(folder):
    """Return the contents of all files in a folder, by their paths in it."""
    paths = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}


def in_manifest(folder, **values):
    """Change values in the manifest of a folder of references."""
    path = folder / "manifest.json"
    path.write_text(json.dumps(json.loads(path.read_text("utf-8")) | values), "utf-8")


def grader_of(folder, scratch):
    """Return a function that grades with the command, in an assignment's folder."""

    def run(submission, *options, training=False):
        path = scratch / "result.json"
        path.unlink(missing_ok=True)
        name = "grade" if training else "check"
        done = called(folder, name, str(submission), "--json", str(path), *options)
        result = json.loads(path.read_text("utf-8")) if path.is_file() else {}
        return Graded(done.returncode, done.stdout, done.stderr, result)

    return run


def edited(source, *edits):
    """Return a source with some texts replaced, each of which must occur once."""
    for old, new in edits:
        assert source.count(old) == 1, f"{old!r} occurs {source.count(old)} times"
        source = source.replace(old, new)
    return source


def edit(path, old, new):
    """Replace a text in a file, in which it must occur once."""
    path.write_text(edited(path.read_text("utf-8"), (old, new)), "utf-8")


@pytest.fixture(scope="session")
def solution_source(solution):
    return solution.read_text("utf-8")


@pytest.fixture(scope="session")
def private(solution, tmp_path_factory):
    """The references again, called private, with every number moved in its last bit.

    Recording new ones takes minutes.
    """
    public = solution.parents[1] / "reference_outputs"
    folder = tmp_path_factory.mktemp("private") / "references"
    shutil.copytree(public, folder, ignore=shutil.ignore_patterns("private"))
    digests = {}
    for path in folder.iterdir():
        if path.suffix == ".safetensors":
            tensors = load_file(path)
            for name, value in tensors.items():
                if value.dtype.kind == "f":
                    tensors[name] = np.asarray(np.nextafter(value, value + 1), value.dtype)
            save_file(tensors, path)
        if path.name != "manifest.json":
            digests[path.name] = sha256(path)
    in_manifest(folder, seed=7, private=True, files=digests)
    return folder


@pytest.fixture
def grade(solution, tmp_path):
    """Grade a submission with the command, in the assignment's folder."""
    return grader_of(solution.parents[1], tmp_path)


@pytest.fixture
def submit(solution, solution_source, grade, tmp_path):
    """Grade the solution with some of its text replaced: submit((old, new), ..., options)."""

    def run(*edits, options=()):
        path = tmp_path / solution.name
        path.write_text(edited(solution_source, *edits), "utf-8")
        return grade(path, *options)

    return run

"""Which packages a submission may read, however and wherever they are installed."""

import dataclasses
import itertools
import os
import shutil
import sys
from pathlib import Path
from unittest import mock

import pytest

import tensormark
from tensormark.authoring.course import open_course
from tensormark.exercise import Call
from tensormark.folder import open_assignment
from tensormark.sandbox import packages
from tensormark.sandbox.bubblewrap import Bubblewrap
from tensormark.sandbox.container import NoContainer, ServerKey
from tensormark.sandbox.interface import Request
from tensormark.sandbox.sandbox import Sandbox
from tensormark.sandbox.tiers import ISOLATING
from testkit import toy
from testkit.asking import HERE, REQUIREMENTS, X, program_with
from testkit.graded import ran
from testkit.resident import called
from testkit.tiers import marked

NEEDED = ("numpy", "safetensors", "torch", "sympy")  # by a worker, the last by torch


def install(folder, name, needs="", *files):
    """Write what an installer leaves of a package."""
    metadata = folder / f"{name.replace('-', '_')}-1.0.dist-info"
    metadata.mkdir(parents=True)
    lines = [f"Requires-Dist: {need}\n" for need in needs.split(", ") if need]
    text = f"Name: {name}\n{''.join(lines)}\nRequires-Dist: only-in-its-description\n"
    (metadata / "METADATA").write_text(text, "utf-8")
    recorded = [f"{metadata.name}/METADATA", *files]
    for file in files:
        path = folder / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    record = "".join(f"{file},sha256=abc,1\n" for file in [*recorded, "../../bin/command"])
    (metadata / "RECORD").write_text(record, "utf-8")


def readable_paths(requirements, *folders):
    path = folders[0] / "requirements.txt"
    path.write_text(requirements, "utf-8")
    with mock.patch.object(sys, "path", [str(folder) for folder in folders]):
        readable = packages.packages(path)
    return {os.path.relpath(path, folders[0].parent) for path in readable}


def test_a_package_comes_with_what_it_needs_from_every_folder(tmp_path):
    one = tmp_path / "one"
    two = tmp_path / "two"
    install(
        one, "my-model", "base.Lib>=1 ; python_version > '3', extra-one ; extra == 'x'", "m/a.py"
    )
    install(two, "base-lib", "", "base.py", "__pycache__/base.cpython-311.pyc", "base.libs/x.so")
    install(two, "extra-one", "", "extra/a.py")
    install(two, "other", "", "other/a.py", "__pycache__/other.cpython-311.pyc")

    assert readable_paths("# a comment\nmy_model==1.0  # why\n-r more.txt\n", one, two) == {
        "one/m",
        "one/my_model-1.0.dist-info",
        "two/base.py",
        "two/base.libs",
        "two/base_lib-1.0.dist-info",
        "two/__pycache__/base.cpython-311.pyc",
    }


def test_a_debian_package_is_found_without_a_record(tmp_path):
    about = tmp_path / "system" / "thing-1.0.egg-info"
    about.mkdir(parents=True)
    (about / "PKG-INFO").write_text("Name: thing\n", "utf-8")
    (about / "top_level.txt").write_text("thing\nhelper\n", "utf-8")
    (tmp_path / "system" / "thing").mkdir()
    (tmp_path / "system" / "helper.py").touch()

    assert readable_paths("thing\n", tmp_path / "system") == {"system/thing", "system/helper.py"}


def test_without_requirements_only_the_standard_library_can_be_imported(tmp_path):
    empty = tmp_path / "none.txt"
    empty.write_text("# none\n", "utf-8")

    assert readable_paths("torch\n", tmp_path) == set()
    assert packages.modules(empty) == ("builtins",)


def test_packages_are_hidden_by_every_path_that_leads_to_them(tmp_path):
    site = "lib/python3.11/site-packages"
    (tmp_path / "real" / site).mkdir(parents=True)
    (tmp_path / "linked").symlink_to("real")

    assert packages.hidden([tmp_path / "linked" / "lib"]) == [
        tmp_path / "linked" / site,
        tmp_path.resolve() / "real" / site,
    ]


def test_only_packages_and_libraries_are_readable_and_mounts_agree():
    key = ServerKey(HERE / "no_harness.py", REQUIREMENTS, Path("/checkpoint"), ())
    readable = NoContainer().readable(key)
    mounted = Bubblewrap().mounts(key)

    assert len(readable) < 1000
    assert not any(Path(path).name in packages.FOLDERS for path in readable)
    assert not any(Path(path).name in ("pytest", "pip") for path in readable)
    assert set(packages.packages(REQUIREMENTS)) <= set(readable) & set(mounted)
    assert set(packages.packages(REQUIREMENTS, packages.WORKER)) <= set(mounted)
    bound = {after for word, after in itertools.pairwise(mounted) if word == "--ro-bind"}
    assert not {sys.prefix, str(Path(sys.prefix, "lib")), *packages.folders(REQUIREMENTS)} & bound


@pytest.mark.parametrize("tier", marked(ISOLATING))
def test_what_only_the_worker_needs_cannot_be_imported_by_any_finder(tier):
    code = "".join(
        f"def {name}(x):\n    import importlib.machinery as m\n"
        f"    m.PathFinder.find_spec('{name}').loader.load_module()\n    return x\n\n"
        for name in NEEDED
    )
    numpy_only = REQUIREMENTS.parents[1] / "template_numpy" / "requirements.txt"
    program = dataclasses.replace(program_with(code), requirements=numpy_only)
    calls = (Call(name, ("x",), "main", kind="function", arrays="numpy") for name in NEEDED)
    requests = [Request("one", frozenset(), call.message(), {"x": X}) for call in calls]

    with Sandbox(tier, program) as sandbox:
        replies = list(sandbox.run(requests))

    assert [reply.status for reply in replies] == ["ok", "error", "error", "error"]


@pytest.mark.tier("contained")
@pytest.mark.parametrize("system", [False, True], ids=["environment", "system Python"])
def test_packages_in_several_folders_are_found_also_by_a_linked_python(tmp_path, system):
    # the Python that environments are made from has its packages elsewhere, like a system Python
    package_folders = packages.folders(REQUIREMENTS)
    site = next(path for path in package_folders if Path(path, "mpmath").is_dir())
    (tmp_path / "more").mkdir()
    for path in Path(site).glob("mpmath*"):
        shutil.copytree(path, tmp_path / "more" / path.name)
    (tmp_path / "linked").symlink_to(sys.base_prefix)
    python = tmp_path / "linked" / "bin" / f"python3.{sys.version_info.minor}"
    code = (
        "from testkit.asking import ask, sandbox_of, CODE\n"
        "code = CODE + 'import mpmath\\n'\n"
        "code += 'Thing.double = lambda s, x: print(mpmath.__file__) or x\\n'\n"
        "with sandbox_of('contained', code) as sandbox: print(*sandbox.run([ask('double')]))\n"
        "print(sandbox.printed.text())\n"
    )
    folders = [
        tmp_path / "more",
        Path(tensormark.__file__).parents[1],
        HERE.parent,
        *([site] if system else []),
    ]

    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": os.pathsep.join(map(str, folders))}
    completed = ran(python if system else sys.executable, "-c", code, env=environment)

    assert "status='ok'" in completed.stdout, completed.stdout + completed.stderr
    assert str(tmp_path / "more" / "mpmath") in completed.stdout


def test_a_listed_package_that_is_not_installed_is_said_to_be_missing(copy):
    with (copy / "requirements.txt").open("a", encoding="utf-8") as opened:
        opened.write("nosuch==1.0\n")
    file = copy / "solution" / toy.MAIN
    text = file.read_text("utf-8")
    missing = "nosuch may be imported, but is not installed: `pip install nosuch`"

    for name, is_missing in {"nosuch": True, "torch.nosuch": False}.items():
        file.write_text(f"import {name}\n{text}", "utf-8")
        said = called(copy, "check", "solution").stdout
        assert "cannot be imported" in said
        assert (missing in said, "is not installed" in said) == (is_missing, is_missing)


def test_staff_are_told_what_is_listed_and_not_installed(copy, capsys):
    with (copy / "requirements.txt").open("a", encoding="utf-8") as opened:
        opened.write("nosuch==1.0\n")

    open_course(open_assignment(copy))

    said = capsys.readouterr().err
    assert said == "requirements.txt lists what is not installed: nosuch\n"

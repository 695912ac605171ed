"""Mistakes of authors that recording reports: nothing is recorded that would not be graded."""

import shutil

import pytest

from tensormark.authoring import record
from tensormark.cli import run
from testkit.graded import edit, files_in
from testkit.resident import called
from testkit.texts import blocks

CONV = "grader/exercises/conv.py"
DETECTOR = "grader/exercises/detector.py"


def refused(folder, *words):
    """Return why a recording is refused, in one line; it must have written nothing."""
    before = files_in(folder / "reference_outputs")
    completed = called(folder, "references", *words)
    (error,) = [line for line in completed.stderr.splitlines() if "recording " not in line]
    assert completed.returncode == 2
    assert files_in(folder / "reference_outputs") == before
    return error


# a part of what is said, and what is changed, each in which file
FAULTS = r"""
another shape: conv: draw says that output has shape (4, 7, 5), but the solution returns (4, 5, 7)
    grader/exercises/conv.py
    - (s.B, s.P, s.W)
    + (s.B, s.W, s.P)
a stand-in: detector: with the stand-in convolutoin at conv.forward:
    grader/exercises/detector.py
    - "conv.forward": "convolution"
    + "conv.forward": "convolutoin"
a module: Detector has no module cnv
    grader/exercises/detector.py
    - "conv.forward": "convolution"
    + "cnv.forward": "convolution"
a method: detector: there is nothing at conv.forwards for a stand-in to replace
    grader/exercises/detector.py
    - "conv.forward": "convolution"
    + "conv.forwards": "convolution"
another type: conv: the solution would not pass: the dtype changes along the way; output should be
    solution/detector.py
    - self.bias[:, None]
    + self.bias[:, None] + torch.zeros(1, dtype=torch.float64)
a mistake: line 22: bias_forgotten finds '+ self.bias[:, None]' 0 times, not once in
    solution/detector.py
    - self.bias[:, None]
    + self.bias.unsqueeze(-1)
honest code: conv: honest one_window_at_a_time is 2e-02 off, compared with the solution
    grader/honest/others.py
    - @ flat + self.bias
    + @ flat + 1.01 * self.bias
an exception: conv: output: draw raises AttributeError: there is no size PP
    grader/exercises/conv.py
    - rng.standard_normal(s.P)
    + rng.standard_normal(s.PP)
a name of an input: draw returns 'cotangents/output', which
    grader/exercises/conv.py
    - "cotangent/out
    + "cotangents/out
an argument: draw returns no 'signals', which args
    grader/exercises/conv.py
    - "signals": rng
    + "before/signals": rng
a weight: conv: output: Convolution.forward of the solution, called as its exercise says: Conv
    grader/exercises/conv.py
    - weights/weight
    + weights/wight
nothing drawn: conv: output: draw returns NoneType; expected a dict of names to arrays
    grader/exercises/conv.py
    - return {
    + return None and {
a number for a name: conv: output: draw returns dict; expected a dict of names to arrays
    grader/exercises/conv.py
    - return {
    + return {1: 2.0,
literals: conv: output: draw returns 'literals'; expected what **packed({...})
    grader/exercises/conv.py
    - return {
    + return {'literals': [7, 8],
complex numbers: draw returns 'signals' as list of complex128; expected an array of bool,
    grader/exercises/conv.py
    - rng.standard_normal((s.B, s.D, s.T))
    + [1j]
an array of them: draw returns 'signals' as ndarray of complex128; expected
    grader/exercises/conv.py
    - rng.standard_normal((s.B, s.D, s.T))
    + rng.standard_normal(3) * 1j
an object: draw returns 'signals' as object of object; expected
    grader/exercises/conv.py
    - rng.standard_normal((s.B, s.D, s.T))
    + object()
a ragged list: draw returns 'signals' as list; expected
    grader/exercises/conv.py
    - rng.standard_normal((s.B, s.D, s.T))
    + [[1], [2, print]]
strings: conv: output: Convolution.forward of the solution, called as its exercise says: raised
    grader/exercises/conv.py
    - rng.standard_normal((s.B, s.D, s.T))
    + ['a', 'b']
other numbers: conv: output: draw returns other inputs each time
    grader/exercises/conv.py
    - rng.standard_normal((s.B, s.D, s.T))
    + rng.standard_normal((s.B, s.D, s.T)) * __import__('random').random()
a part: conv: points has an unknown part 'property'; known: values, training, properties
    grader/exercises/conv.py
    - points=40
    + points={"values": 30, "property": 10}
a form: conv: form must be one of tensor, tuple, dict, rows, value
    grader/exercises/conv.py
    - points=40
    + points=40, call={"form": "tupel"}
arrays of another kind: conv: arrays must be 'torch', 'numpy' or None
    grader/exercises/conv.py
    - points=40
    + points=40, arrays="numpi"
negative points: conv: points must not be negative, infinite or NaN
    grader/exercises/conv.py
    - points=40
    + points=-8
points: conv: points must be a number, or by part
    grader/exercises/conv.py
    - points=40
    + points="40"
a kind: there is no 'own' in KINDS of the harness
    grader/exercises/conv.py
    - sizes=MAIN,
    + sizes=MAIN, call={"kind": "own"},
the harness: grader/harness.py cannot be imported: ModuleNotFoundError: No module named 'nosuch'
    grader/harness.py
    - import torch
    + import nosuch, torch
no answer: it returns None: is the return missing?; expected torch.float64 with 3 axes
    grader/harness.py
    - return torch.sin(rates * steps.sum(1, keepdim=True)) + levels
    + return None
fewer axes: it returns torch.float64 with 2 axes; expected torch.float64 with 3 axes
    grader/harness.py
    - return torch.sin(rates * steps.sum(1, keepdim=True)) + levels
    + return levels
no name: grader/assignment.py: torch.convolutoin cannot be forbidden: there is no such name
    grader/assignment.py
    - torch.convolution
    + torch.convolutoin
a method of C: torch.Tensor.size cannot be forbidden: nothing stops a call to it
    grader/assignment.py
    - torch.convolution
    + torch.Tensor.size
a base class: torch.optim.lr_scheduler._LRScheduler cannot be forbidden: nothing stops a call to it
    grader/assignment.py
    - torch.convolution
    + torch.optim.lr_scheduler._LRScheduler
a dict of a kind: its exercise says: 'own' of KINDS returns a dict; expected an Answer
    grader/harness.py
    - KINDS = {
    + KINDS = {"own": lambda context, call, tensors, progress: tensors,
    grader/exercises/conv.py
    - sizes=MAIN,
    + sizes=MAIN, call={"kind": "own"},
a number of a kind: its exercise says: Convolution.forward should return a tensor, got a float
    grader/harness.py
    - KINDS = {
    + KINDS = {"own": lambda *_: Answer({}, {"out/output": 2.0}),
    grader/exercises/conv.py
    - sizes=MAIN,
    + sizes=MAIN, call={"kind": "own"},
an unnamed tensor of a kind: its exercise says: its answer has no out/<name>
    grader/harness.py
    - KINDS = {
    + KINDS = {"own": lambda *_: Answer({}, {"output": torch.zeros(3)}),
    grader/exercises/conv.py
    - sizes=MAIN,
    + sizes=MAIN, call={"kind": "own"},
no gradient: has a gradient; the stand-in convolution must depend on its arguments
    grader/harness.py
    - return torch.sin(rates * steps.sum(1, keepdim=True)) + levels
    + return (torch.sin(rates * steps.sum(1, keepdim=True)) + levels).detach()
    solution/detector.py
    - self.head(found)
    + found
    grader/honest/others.py
    - self.head(self.conv(signals).max(-1).values.clamp(min=0))
    + torch.relu(self.conv(signals)).amax(-1)
    grader/exercises/detector.py
    - (s.B, s.C)
    + (s.B, s.P)
no new text: patterns_reversed: each line of an old text must begin
    grader/mistakes/conv.py
    - + windows.flip(-1),
    + - windows.flip(-1),
no old text: patterns_reversed: each line of an old text must begin
    grader/mistakes/conv.py
    - - windows,
    + + windows,
no description: conv: neither a section, a mistake nor a form
    grader/mistakes/conv.py
    - patterns_reversed: the patterns are reversed
    + patterns_reversed:
no colon: conv: neither a section, a mistake nor a form
    grader/mistakes/conv.py
    - patterns_reversed: the
    + patterns_reversed the
a form of nothing: conv: neither a section, a mistake nor a form
    grader/mistakes/conv.py
    - patterns_reversed: the patterns are reversed
    + patterns_reversed = nothing
a name twice: conv: more than one mistake is named last_window_missing
    grader/mistakes/conv.py
    - patterns_reversed:
    + last_window_missing:
"""


@pytest.mark.parametrize("case", blocks(FAULTS), ids=lambda case: case[0].partition(":")[0])
def test_recording_refuses_what_is_faulty_in_one_line(copy, case):
    fault, *changes = case
    for file, old, new in zip(changes[::3], changes[1::3], changes[2::3], strict=True):
        edit(copy / file, old.removeprefix("- "), new.removeprefix("+ "))

    assert fault.partition(": ")[2] in refused(copy)


def test_a_task_that_returns_false_has_not_passed(copy):
    edit(copy / "grader/task.py", "def training(self, run: TaskRun)", "def grade(self, run)")
    edit(copy / "grader/task.py", 'return Signals(run.references.manifest["seed"])', "return False")

    graded = called(copy, "grade", "solution").stdout

    assert "its task returns False; expected words, or CheckFailed raised" in graded


def test_a_mistake_that_is_no_python_is_refused_with_its_line(copy):
    edit(copy / "grader/mistakes/conv.py", "    +\n", "    + + (\n")

    error = refused(copy)

    assert "mistakes/conv.py, line 22: bias_forgotten is no Python: SyntaxError: '(' was" in error
    assert called(copy, "prove").stderr.partition(": ")[2] == error.partition(": ")[2] + "\n"


HIDDEN = """from tensormark.authoring.course import Staff


def hidden({parameters}):
    return {{"more.txt": "known to staff only"}}


STAFF = Staff(hidden=hidden, hidden_files={names!r}{more})
"""


def write_staff(folder, parameters, names, more=""):
    text = HIDDEN.format(parameters=parameters, names=names, more=more)
    (folder / "grader/staff.py").write_text(text, "utf-8")


@pytest.mark.parametrize(
    ("parameters", "names", "more", "message"),
    [
        ("seed", ("more.txt",), "", "`hidden` of STAFF: TypeError: hidden() takes 1 positional"),
        ("*_", (), "", "`hidden` of STAFF must return texts by names in hidden_files"),
        ("*_", ("more.txt",), ", measured=len", "`measured` of STAFF: TypeError: len() takes"),
    ],
)
def test_a_faulty_staff_file_is_named_and_nothing_is_written(
    copy, parameters, names, more, message
):
    write_staff(copy, parameters, names, more)

    assert f"grader/staff.py: {message}" in refused(copy, "--seed", "77", "--out", "private")
    assert not (copy / "private").exists()


def test_what_is_hidden_is_in_private_references_only(copy):
    write_staff(copy, "assignment, seed", ("more.txt",))

    assert run(copy, "references", []) == 0
    assert run(copy, "references", ["--seed", "77", "--out", str(copy / "private")]) == 0

    assert not (copy / "reference_outputs/more.txt").exists()
    assert (copy / "private/more.txt").read_text("utf-8") == "known to staff only"
    assert (copy / "private/.gitignore").read_text("utf-8").endswith("\n*\n")


def test_all_exercises_with_public_inputs_are_named_at_once(folder, monkeypatch):
    monkeypatch.setattr(record, "_is_public", lambda *_: True)

    message = refused(folder, "--seed", "77", "--out", "new")

    assert "the inputs of conv (" in message
    assert ", detector (" in message


def test_without_its_solution_nothing_can_be_recorded(copy):
    shutil.rmtree(copy / "solution")

    assert "there is no solution/detector.py" in refused(copy)


def test_recording_lists_what_is_new_or_gone_and_then_nothing(copy, capsys):
    out = copy / "reference_outputs"
    (out / "conv.safetensors").unlink()
    for path in (DETECTOR, "grader/exercises/detection.py", "grader/mistakes/detector.py"):
        (copy / path).unlink()
    (copy / "grader/honest/others.py").write_text("HONEST = ()\n", "utf-8")

    assert run(copy, "references", []) == run(copy, "references", []) == 0

    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "conv.safetensors: new"
    assert lines[-2:] == [
        "detector.safetensors: removed, as it is no longer recorded",
        f"{out} is up to date",
    ]
    assert {path.name for path in out.glob("*.safetensors")} == {"conv.safetensors"}


def test_an_interrupted_recording_has_written_nothing_and_continues_with_what_is_missing(
    copy, monkeypatch, capsys
):
    out = copy / "reference_outputs"
    before = files_in(out)
    shutil.rmtree(out)
    whole = record.Recorder.record

    def stopped(recorder, *before):
        if recorder.exercise.id != "conv":
            raise KeyboardInterrupt
        return whole(recorder, *before)

    monkeypatch.setattr(record.Recorder, "record", stopped)
    assert run(copy, "references", []) == 130
    assert not (out / "manifest.json").exists()
    monkeypatch.setattr(record.Recorder, "record", whole)
    capsys.readouterr()
    assert run(copy, "references", []) == 0

    said = capsys.readouterr().err
    assert "recording conv" not in said
    assert "recording detector, 2 of " in said
    assert files_in(out) == before


def test_references_are_written_whole_or_not_at_all(copy, monkeypatch):
    def full(path, content):
        if path.name == "manifest.json":
            raise OSError(28, "No space left on device")
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content)

    edit(copy / CONV, "rng.standard_normal(s.P)", "2.0 * rng.standard_normal(s.P)")
    monkeypatch.setattr(record, "write_whole", full)

    assert "No space left" in refused(copy)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("(conv): a convolution (40 points", "(conv): a convolution (41 points", "it has 40"),
        ("**The windows**", "**All windows**", "there is no **The windows**, which the mistake"),
        ("## Rules", "## Our rules", "there is no heading 'Rules', which reports of"),
    ],
)
def test_a_handout_that_disagrees_with_the_exercises_is_found(copy, old, new, message):
    edit(copy / "handout.md", old, new)

    completed = called(copy, "handout", "--check")

    assert completed.returncode == 1
    assert message in completed.stderr

"""`make debug` runs the call that fails in Python's debugger, on the line where that begins."""

import os
import pty
import subprocess
import sys

from testkit.graded import edited, ran, tensormark
from tests.helpers import ROOT


def debugged(*words, typed=(), before="pass"):
    """Run the command on a terminal; return what it has printed.

    Args:
        typed: lines, such as the debugger's commands: p prints, s steps into, w says where, c goes
            on, q quits.
        before: a statement that is run first, in the same process.
    """
    ours, theirs = pty.openpty()
    program = f"import sys; {before}; from tensormark.cli import main; sys.exit(main())"
    command = [sys.executable, "-P", "-c", program, "debug", *words]
    os.write(ours, "".join(f"{line}\n" for line in typed).encode())
    done = subprocess.run(
        command, cwd=ROOT, stdin=theirs, capture_output=True, text=True, check=False, timeout=200
    )
    os.close(ours)
    os.close(theirs)
    assert done.returncode == 0, done.stderr + done.stdout
    return done.stdout


def wrong(tmp_path, solution_source, *edits):
    """Write the solution with edits; return its path."""
    path = tmp_path / "bert.py"
    path.write_text(edited(solution_source, *edits), "utf-8")
    return str(path)


def test_it_stops_on_the_line_with_the_correct_output_at_hand(tmp_path, solution_source):
    unevaluated = ("value: Tensor", "value: Optional[Tensor]")  # which is not imported
    path = wrong(tmp_path, solution_source, ("probs @ value", "probs @ key"), unevaluated)

    shown = debugged("--only", "attention", "--", path, typed=["p expected.shape", "c"])

    assert "the keys are averaged in place of the values" in shown
    assert "-> context = probs @ key" in shown
    assert "torch.Size([3, 7, 10])" in shown
    assert "is off by up to" in shown


def test_neither_the_stack_nor_steps_lead_out_of_the_students_file(tmp_path, solution_source):
    path = wrong(tmp_path, solution_source, ("probs @ value", "probs @ key"))

    shown = debugged("--only", "attention", "--", path, typed=["w", "s", "w", "q"])

    assert shown.count("bert.py(") == 4  # where it stops, the same again, and so after a step
    assert shown.count(".py(") == shown.count("bert.py(")


def test_it_stops_where_an_exception_is_raised(tmp_path, solution_source):
    path = wrong(tmp_path, solution_source, ("probs @ value", "probs @ value.mT"))

    shown = debugged("--", path, typed=["p value.shape", "q"])

    assert "-> context = probs @ value.mT" in shown
    assert "torch.Size([3, 2, 7, 5])" in shown


def test_in_an_editor_it_runs_the_call_and_leaves_the_rest_to_its_debugger(
    tmp_path, solution_source
):
    path = wrong(tmp_path, solution_source, ("probs @ value", "probs @ key"))

    shown = debugged("--", path, before="sys.modules['debugpy'] = sys")

    assert "(debug)" not in shown
    assert "is off by up to" in shown


def test_right_code_has_nothing_to_debug(solution):
    assert "nothing fails" in debugged("--only", "attention", "--", str(solution))


def test_without_a_terminal_it_says_what_to_do():
    command = tensormark("debug", "solution", "--only", "embed")
    done = ran(*command, cwd=ROOT, stdin=subprocess.DEVNULL)

    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "needs a terminal" in done.stderr
    assert done.stderr.endswith("the module tensormark with `debug solution --only embed`\n")

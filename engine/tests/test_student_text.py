"""With private references a report has no text of a submission, which has seen the inputs."""

import json

import pytest
import torch

from tensormark.judging.replies import without_text
from tensormark.sandbox.interface import Reply
from tensormark.worker.protocol import ARGUMENTS, GENERATORS, GPU, SEEDED, STATE
from tensormark.worker.state import Model, Snapshot
from testkit.toy import WINDOWS

SOURCES = {"main": "line\n" * 9}
SECRET = "the_hidden_input"


def abridged(text, status="error", **message):
    reply = Reply(status, text, {"status": status, **message})
    return without_text(reply, {"Conv.forward": "conv"}, SOURCES)


# what a worker says, and what is left of it
SAID = """
raised ValueError: SECRET (main.py, line 7) -> raised ValueError (main.py, line 7)
raised ValueError: SECRET (main.py, line 70) -> raised ValueError
raised ValueError: SECRET (SECRET.py, line 7) -> raised ValueError
raised ValueError: SECRET -> raised ValueError
raised ValueError: (main.py, line 1) SECRET -> raised ValueError
raised SECRET: x (main.py, line 10) -> raised an exception of another type (main.py, line 10)
Conv.forward should return a tensor, got a SECRET -> did not return what it should have
SECRET should return a tensor, got a list -> did not return what it should have
output SECRET of Conv.forward should return a tensor, got a list: SECRET -> Conv.forward should \
return a tensor, got a list
main.py has no class Conv; its names are fixedSECRET -> main.py has no class Conv
SECRET has no class A; its names are fixed -> failed for a reason that is not shown here
"""


@pytest.mark.parametrize("case", SAID.strip().splitlines())
def test_only_the_type_and_the_line_of_an_exception_are_left(case):
    text, remaining = case.replace("SECRET", SECRET).split(" -> ")

    assert abridged(text).text == remaining


def test_only_the_id_of_an_exercise_is_left_of_a_hole():
    assert abridged("conv", "not written").text == "conv"
    reply = abridged(SECRET, "not written", where=f" ({SECRET}.py, line 1)", function="f")
    assert (reply.text, reply.message["where"]) == ("its text is not shown", "")
    reply = abridged("", "not written", where=" (main.py, line 3)")
    assert reply.message["where"] == " (main.py, line 3)"


def test_a_module_that_cannot_be_imported_is_named_if_it_is_one_of_the_submission():
    assert abridged("", importing="main").message["importing"] == "main"
    assert "importing" not in abridged("", importing=SECRET).message


def test_states_have_names_that_the_grader_knows():
    reply = abridged("", "ok", changed=[SECRET, "the default dtype"])

    assert reply.message["changed"] == ["a state without a name", "the default dtype"]
    call = {"args": list(ARGUMENTS), "literals": {}}
    before = Snapshot(Model(torch.nn.Linear(1, 1), ()), call, silent=True)
    assert {*before.before, *SEEDED, GENERATORS, GPU} == set(STATE)


# a report may show these lines, in which the secret is in two parts
RAISES = 'raise ValueError("the_" f"hidden_input {signals.shape}")'
FOUND = "found = torch.relu(self.conv(signals))"
PRINTS = 'print("the_" "hidden_input"); raise NotImplementedError("the_" "hidden_input")'


@pytest.mark.parametrize("options", [(), ("--show-text",)])
def test_a_report_with_private_inputs_has_texts_only_where_they_are_asked_for(
    submit, private, options
):
    graded = submit(
        (WINDOWS, f"{RAISES}; {WINDOWS}"),
        (FOUND, f"{PRINTS}; {FOUND}"),
        options=("--references", str(private), *options),
    )

    conv, detector = (graded.exercise(name)["message"] for name in ("conv", "detector"))
    assert "raised ValueError" in conv
    assert "(detector.py, line " in conv
    assert "raised NotImplementedError" in detector
    assert graded.result["private"]
    everything = graded.output + json.dumps(graded.result)
    assert (SECRET in everything) is bool(options)
    assert ("--show-text shows what is left out" in graded.output) is not options
    assert "show-text" not in json.dumps(graded.result)  # which students' reports are drawn from
    assert ("your code printed" in graded.output) is bool(options)

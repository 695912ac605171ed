"""The starter is the solution without its regions, and markers that do not pair up are errors."""

import pytest

from grader.assignment import MINBERT
from instructor.references.strip import MarkerError, derive, drifted, main, strip

NESTED = "    ### BEGIN SOLUTION two\n    y = x"
WHOLE = """def f(x):
    # TODO(one): write it.
    ### BEGIN SOLUTION one
    y = x + 1
    return y
    ### END SOLUTION one


def g(x):
    return x
"""


def test_the_committed_starter_is_the_stripped_solution() -> None:
    assert drifted(MINBERT.starter, derive(MINBERT)) == []


def test_a_region_becomes_one_raise() -> None:
    assert strip(WHOLE, "f.py") == (
        'def f(x):\n    # TODO(one): write it.\n    raise NotImplementedError("one")\n\n\n'
        "def g(x):\n    return x\n"
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            WHOLE.replace("    y = x", "    ### BEGIN SOLUTION two\n    y = x"),
            "two begins inside one",
        ),
        (WHOLE.replace("    ### END SOLUTION one\n", ""), "f.py:3: one is never closed"),
        (WHOLE.replace("    ### BEGIN SOLUTION one\n", ""), "one ends, but never begins"),
        (WHOLE.replace("END SOLUTION one", "END SOLUTION two"), "two ends inside one"),
        (WHOLE.replace("BEGIN SOLUTION one", "BEGIN SOLUTION"), "a region needs a name"),
        (WHOLE.replace("BEGIN SOLUTION", "BEGINN SOLUTION"), "looks like a marker"),
        (WHOLE.replace("TODO(one)", "TODO"), "no `# TODO(one):`"),
    ],
    ids=["nested", "unclosed", "stray", "renamed", "unnamed", "misspelt", "no TODO"],
)
def test_markers_that_do_not_pair_up_are_errors(text: str, message: str) -> None:
    with pytest.raises(MarkerError) as error:
        strip(text, "f.py")

    assert message in str(error.value)


def test_drift_is_found_and_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    changed = derive(MINBERT) | {"utils.py": "# changed\n"}
    monkeypatch.setattr("instructor.references.strip.derive", lambda assignment: changed)

    assert main(["--check"]) == 1
    assert "starter/utils.py is out of date with solution/" in capsys.readouterr().err


def test_the_starter_holds_no_solution() -> None:
    starter = derive(MINBERT)["bert.py"]

    assert "SOLUTION" not in starter
    assert starter.count("raise NotImplementedError(") == 5

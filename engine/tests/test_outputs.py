"""What a student's function returns becomes tensors by name, or an error in the grader's words."""

import numpy as np
import pytest
import torch

from tensormark.worker.outputs import StudentError, outputs_of

EYE = torch.eye(3)


def call(form, *names):
    return {"target": "f", "form": form, "returns": names, "dtype": "float32"}


@pytest.mark.parametrize(
    ("output", "message"),
    [
        (lambda: torch.nested.nested_tensor([EYE, EYE[:2]]), "f returned a nested tensor"),
        (lambda: EYE.view(1, 1, 1, 1, 1, 1, 1, 3, 3), "f returned a tensor with 9 axes"),
        (lambda: torch.zeros(0, 1 << 25), "f returned a tensor that is too long: [0, 33554432]"),
    ],
    ids=["nested", "axes", "long"],
)
@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors")
def test_an_output_that_cannot_be_sent_is_named(output, message):
    with pytest.raises(StudentError) as error:
        outputs_of(output(), call("tensor", "output"))

    assert str(error.value).startswith(message)


@pytest.mark.parametrize(
    ("result", "names", "says"),
    [
        ((EYE, EYE, EYE), "ab", "f should return a tuple of a and b, got 3 values"),
        ((EYE, [1]), "ab", "output b of f should return a tensor, got a list"),
        ((EYE, EYE), "a", "f should return a tuple of a, got 2 values"),
        ([EYE], "a", "f should return a tensor, got a list"),
    ],
)
def test_a_tuple_has_the_outputs_that_are_asked_for(result, names, says):
    with pytest.raises(StudentError) as error:
        outputs_of(result, call("tuple", *names))

    assert str(error.value) == says


def test_what_follows_a_single_output_is_free_where_a_caller_unpacks_it():
    unpacked = {**call("tuple", "a"), "taken_by": "g"}

    for result, form in (
        (EYE, call("tuple", "a")),
        ((EYE,), call("tuple", "a")),
        ((EYE, 1), unpacked),
    ):
        assert outputs_of(result, form)["a"] is EYE


@pytest.mark.parametrize("kind", ["f2", ">f4", "g", "u1", "i4"])
def test_an_array_is_sent_in_the_widest_type_of_its_kind(kind):
    outputs = outputs_of(np.ones(2, kind), {**call("tensor", "a"), "arrays": "numpy"})

    assert outputs["a"].dtype == ("i8" if kind[0] in "ui" else "f8")


@pytest.mark.parametrize(
    "result", [[(1, 2)], [(1,), ([2],)], [(1,), (2, 3)], [("a",)], [(2**64,)], 3, []]
)
def test_other_rows_than_those_asked_for_are_an_error(result):
    with pytest.raises(StudentError, match=r"should return a list of \(ids\)"):
        outputs_of(result, call("rows", "ids"))

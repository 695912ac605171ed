"""What a student's function returns becomes tensors by name, or an error in the grader's words."""

from collections.abc import Callable
from typing import Any

import pytest
import torch

from tensormark.worker.outputs import WIDTH, StudentError, outputs_of

EYE = torch.eye(3)


def call(form: str, *names: str) -> dict[str, Any]:
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
def test_an_output_that_cannot_be_sent_is_named(output: Callable[[], object], message: str) -> None:
    with pytest.raises(StudentError) as error:
        outputs_of(output(), call("tensor", "output"))

    assert str(error.value).startswith(message)


def test_rows_become_a_tensor_for_each_column() -> None:
    outputs = outputs_of([([1, 2], 7), ([], 8)], call("rows", "ids", "label"))

    assert outputs["label"].tolist() == [7, 8]
    assert outputs["ids"].tolist() == [[1, 2] + [-1] * (WIDTH - 2), [-1] * WIDTH]


@pytest.mark.parametrize("result", [[(1, 2)], [(1,), ([2],)], [("a",)], 3, []])
def test_other_rows_than_those_asked_for_are_an_error(result: object) -> None:
    with pytest.raises(StudentError, match=r"should return a list of \(ids\)"):
        outputs_of(result, call("rows", "ids"))

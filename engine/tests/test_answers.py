"""A worker's answers: they are small and flat, and hold only what was asked for."""

import json
import struct
import threading
import time
from typing import Any

import numpy as np
import pytest

from asking import CODE, ask, sandbox_of
from tensormark.exercise import Assignment
from tensormark.grading import tensor_names_of
from tensormark.references import References
from tensormark.sandbox import answers
from tensormark.sandbox.interface import PROCESS
from tensormark.worker.protocol import HEADER, MAGIC, ProtocolError, encode

X = np.arange(6, dtype=np.float32).reshape(2, 3)
ASKED = frozenset({"out/x", "out/y"})


def answer(message: object, tensor_list: object = None, data: bytes = b"") -> bytes:
    """Pack a frame of any JSON and any list of tensors."""
    text = json.dumps(message).encode()
    header = b"" if tensor_list is None else json.dumps(tensor_list).encode()
    packed = b"" if tensor_list is None else struct.pack("<Q", len(header)) + header + data
    return HEADER.pack(MAGIC, len(text), len(packed)) + text + packed


def entry(shape: Any = (2,), offsets: Any = (0, 8), dtype: Any = "F32") -> dict[str, object]:
    return {"dtype": dtype, "shape": list(shape), "data_offsets": list(offsets)}


def test_an_answer_survives_a_round_trip() -> None:
    tensors = {
        "out/x": X,
        "out/y": np.array([[1.5]]),
        "ids": np.array([1, 2]),
        "small": np.array([1, 2], dtype=np.int32),
        "half": np.array([1, 2], dtype=np.float16),
        "mask": np.array([True, False]),
        "empty": np.zeros((0, 3), dtype=np.float32),
        "scalar": np.array(2.0),
        "turned": X.T,
    }
    sent = {"number": 1, "changed": ["the default dtype", 1.5, True, None]}

    message, arrays = answers.decode(encode(sent, tensors))

    assert message == sent
    assert arrays.keys() == tensors.keys()
    for name, value in tensors.items():
        assert arrays[name].dtype == value.dtype
        np.testing.assert_array_equal(arrays[name], value)


OTHER_JSON = [
    "[]",
    "1",
    '{"unknown": 1}',
    '{"status": 1}',
    '{"number": 1.0}',
    '{"number": true}',
    '{"changed": {}}',
    '{"changed": [{}]}',
    '{"progress": [[]]}',
    json.dumps({"text": "x" * answers.MAX_JSON}),
    json.dumps({str(number): number for number in range(100_000)}),
    '{"changed": [NaN]}',
    '{"changed": [-Infinity]}',
    '{"changed": [1e999]}',
    *('{"number": ' + "9" * digits + "}" for digits in (30, 5000)),
    '{"changed": ' + "[" * 16_000,
    json.dumps({"through": ["x"] * 65}),
]


@pytest.mark.parametrize("text", OTHER_JSON, ids=lambda text: text[:30])
def test_json_that_no_worker_sends_is_refused(text: str) -> None:
    with pytest.raises(ProtocolError):
        answers.decode(HEADER.pack(MAGIC, len(text), 0) + text.encode())


@pytest.mark.parametrize(
    ("sent", "read"),
    [
        ("\ud800", "?"),
        ("a\x00\x1b[2J\nb", "a??[2J?b"),
        ("\u202e\u200b", "??"),
        ("\u3164\ufe0f\u2800\U000e0100", "????"),
        ("e\u0301" + "\u0301" * 50, "e" + "\u0301" * 4),
        ("x" * 5000, "x" * 1000),
    ],
    ids=ascii,
)
def test_a_text_is_one_line_that_can_be_shown_and_encoded(sent: str, read: str) -> None:
    message = {"text": sent, "through": [sent]}

    decoded, _ = answers.decode(answer(message))

    assert decoded == {"text": read, "through": [read[:100]]}


@pytest.mark.parametrize("name", ["", "\ud800", "a\x00", "x" * 201, "\u202e"], ids=ascii)
def test_a_name_that_cannot_be_shown_and_encoded_is_refused(name: str) -> None:
    with pytest.raises(answers.TensorNameError):
        answers.decode(answer({}, {name: entry()}, bytes(8)))


def test_bools_are_true_or_false_whatever_their_bytes_are() -> None:
    _, tensors = answers.decode(
        answer({}, {"out/x": entry((4,), (0, 4), "BOOL")}, b"\x00\x01\x02\xff")
    )

    assert tensors["out/x"].dtype == bool
    assert (tensors["out/x"] == [False, True, True, True]).all()


LIES = [
    *(entry(shape=shape) for shape in [(2**62, 4), (-1, -2), (True, 2), (2.0,), (1,) * 9 + (2,)]),
    entry(shape=(0, *[2**24] * 7), offsets=(0, 0)),
    *(entry(offsets=offsets) for offsets in [(0, 80), (8, 0), (-8, 0), (0, 8, 16), (0, "8")]),
    *(entry(dtype=dtype) for dtype in ["O", ["F32"], "BF16"]),
    {"dtype": "F32", "shape": 2, "data_offsets": [0, 8]},
    {"dtype": "F32"},
    [],
    1,
    None,
]


@pytest.mark.parametrize("header", [*({"out/x": lie} for lie in LIES), [], 1, "x", 0], ids=str)
def test_an_invalid_list_of_tensors_is_refused(header: object) -> None:
    with pytest.raises(ProtocolError):
        answers.decode(answer({}, header, bytes(8)))


def test_tensors_that_share_their_bytes_are_refused() -> None:
    entries = {"out/x": entry(), "out/y": entry()}

    assert answers.decode(answer({}, entries, bytes(16)), ASKED)[1].keys() == entries.keys()
    with pytest.raises(ProtocolError, match="overlap"):
        answers.decode(answer({}, entries, bytes(8)), ASKED)


def test_a_tensor_that_nobody_asked_for_is_refused_before_it_is_read() -> None:
    with pytest.raises(ProtocolError, match="asked for"):
        answers.decode(answer({}, {"out/z": "not even a tensor"}), ASKED)


def test_gradients_of_further_parameters_are_ignored_unread() -> None:
    entries = {"out/x": entry(), "grad/weights/mine": "not even a tensor"}

    _, tensors = answers.decode(answer({}, entries, bytes(8)), ASKED)

    assert tensors.keys() == {"out/x"}


def test_lists_of_ten_thousand_tensors_are_refused_in_a_tenth_of_a_second() -> None:
    frames = [
        answer({}, {f"{kind}/{number}": entry() for number in range(10_000)}, bytes(8))
        for kind in ("out", "grad")
    ]
    start = time.process_time()

    for frame in frames:
        with pytest.raises(ProtocolError, match="too long"):
            answers.decode(frame, ASKED)

    assert time.process_time() - start < 0.1


def test_all_tensors_in_the_solutions_answers_are_asked_for(assignment: Assignment) -> None:
    references = References(assignment.references)
    for exercise in (candidate for candidate in assignment.exercises if candidate.probes):
        recordings = references.recordings(exercise.id, exercise.digest)
        for call, recording in zip(exercise.calls, recordings, strict=True):
            names = tensor_names_of(call, recording)
            assert {f"out/{name}" for name in recording.outputs} <= names
            assert {f"grad/{name}" for name in recording.gradients} <= names


# --- the channel of the tier `process` --------------------------------------------------------

FLOOD = (
    CODE
    + """

class Flooding(Thing):
    def into_the_channel(self, x):
        import gc, sys

        frame = sys._getframe()
        while "replies" not in frame.f_locals:
            frame = frame.f_back
        gc.unfreeze()
        modules = [o for o in gc.get_objects() if type(o) is type(gc)]
        protocol = next(o for o in modules if o.__name__ == "tensormark.worker.protocol")
        send = frame.f_locals["replies"].write
        report = protocol.encode({"number": 2, "progress": [1, 2]})
        large = protocol.encode({"number": 1}, {"out/output": __import__("numpy").zeros(1 << 24)})
        while True:
            send(large if self.large else report * 1000)

    def reports(self, x):
        self.large = False
        self.into_the_channel(x)

    def tensors(self, x):
        self.large = True
        self.into_the_channel(x)


Thing = Flooding
"""
)


@pytest.mark.usefixtures("workers_are_started")  # main.py looks for the channel of its own worker
@pytest.mark.parametrize(
    ("flood", "fault"),
    [("reports", "wrote into the grader's channel"), ("tensors", "returned more than 1 MiB")],
)
def test_a_worker_that_floods_the_channel_is_ended_and_leaves_no_thread(
    flood: str, fault: str
) -> None:
    threads_before = threading.active_count()
    with sandbox_of(PROCESS, FLOOD) as sandbox:
        list(sandbox.run([ask("double")]))
        start = time.process_time()

        (reply,) = sandbox.run([ask(flood, "two")])

        assert reply.text == f"Thing.{flood} {fault}"
        assert time.process_time() - start < 10
    assert threading.active_count() == threads_before


SHAPES = (
    CODE
    + """

class Shapes(Thing):
    def axes(self, x):
        return x.view(-1)[0].view([1] * 9)

    def length(self, x):
        return torch.zeros(0, 1 << 25)


Thing = Shapes
"""
)


@pytest.mark.parametrize(
    ("target", "description"),
    [("axes", "with 9 axes"), ("length", "that is too long: [0, 33554432]")],
)
def test_an_error_describes_a_tensor_that_an_answer_cannot_hold(
    target: str, description: str
) -> None:
    with sandbox_of(PROCESS, SHAPES) as sandbox:
        (reply,) = sandbox.run([ask(target)])

    assert reply.status == "error"
    assert reply.text == f"Thing.{target} returned a tensor {description}"

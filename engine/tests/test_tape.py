"""The tape: when two values are the same, and what a hostile one cannot do."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch

from tensormark.judging.compare import Mismatch
from tensormark.judging.place import MAX_TEXT, last_right, locate
from tensormark.judging.tape import LINE, Tape, close
from tensormark.sandbox.interface import Reply
from tensormark.worker.protocol import (
    MAX_AXES,
    MAX_RECORDS,
    PLACE,
    PRINT,
    SAYS_NOTHING,
    TAPE,
    WHERE,
)
from tensormark.worker.state import Snapshot
from tensormark.worker.tape import TapeRecorder, print_of

VALUES = np.random.default_rng(7).standard_normal((3, 4, 5))
OTHER_FORMS = {
    "reshaped": VALUES.reshape(12, 5),
    "transposed": VALUES.transpose(2, 0, 1),
    "expanded": np.broadcast_to(VALUES, (6, 3, 4, 5)),
    "reordered": VALUES[::-1],
    "rounded": VALUES.astype(np.float32).astype(np.float64),
}
OTHER_VALUES = {
    "scaled": VALUES * 1.01,
    "shifted": VALUES + 0.01,
    "negated": -VALUES,
    "one of them": np.where(np.arange(60).reshape(3, 4, 5) == 7, 0.0, VALUES),
    "not a number": np.where(VALUES > 1, np.nan, VALUES),
    "infinite": np.where(VALUES > 1, -np.inf, VALUES),
}


def prints(*arrays):
    return np.stack([print_of(each, f"{each.shape}") for each in arrays])


@pytest.mark.parametrize("name", OTHER_FORMS)
def test_a_print_knows_the_same_values_in_another_form(name):
    common, exact, _ = close(prints(OTHER_FORMS[name]), prints(VALUES))

    assert common.all()
    assert exact.all() == (name == "rounded")


@pytest.mark.parametrize("name", OTHER_VALUES)
def test_a_print_tells_other_values_apart(name):
    assert not close(prints(OTHER_VALUES[name]), prints(VALUES))[0].any()


def tape(records, made, parents):
    return Tape.of(dict(zip(TAPE, (records, made, parents), strict=True)))


def sound(count=3):
    """Return the parts of a tape in which each record was made from the one before."""
    records = np.zeros((count, WHERE + MAX_AXES), np.int64)
    records[:, 1] = range(1, count + 1)
    records[:, PLACE] = 1
    parents = np.array([(n, n - 1) for n in range(1, count)], np.int64).reshape(-1, 2)
    return records, np.zeros((count, PRINT)), parents


def test_an_unknown_value_is_excused_by_a_known_one_that_is_made_from_it():
    found = tape(*sound())

    found.records[2, -MAX_AXES - 1 : -MAX_AXES + 2] = 2, 5, 7

    assert found.shapes(0, range(9)) == [(3, "(5, 7)")]
    assert found.wrong(np.array([True, False, True])) == []
    assert found.wrong(np.array([True, False, False])) == [1, 2]


FORGED = {
    "no records": lambda r, p, q: (r[:0], p[:0], q),
    "a million": lambda r, p, q: (np.zeros((10**6, r.shape[1]), np.int64), p, q),
    "too many": lambda r, p, q: sound(MAX_RECORDS + 1),
    "more pairs": lambda r, p, q: (r, p, np.zeros((10**6, 2), np.int64)),
    "another width": lambda r, p, q: (r[:, 1:], p, q),
    "another type": lambda r, p, q: (r.astype(np.float64), p, q),
    "an axis more": lambda r, p, q: (r, p[None], q),
    "fewer prints": lambda r, p, q: (r, p[1:], q),
}


@pytest.mark.parametrize("name", FORGED)
def test_a_tape_of_another_form_is_none(name):
    assert tape(*FORGED[name](*sound())) is None


@pytest.mark.parametrize(("line", "right"), [(1, 1), (0, None), (3, None), (10**12, None)])
def test_a_line_that_is_still_right_is_above_the_wrong_one(line, right):
    records, made, parents = sound()
    records[0, LINE] = line
    found = tape(records, made, parents)

    assert last_right(found, np.array([True, False, False]), 1) == right


@pytest.mark.parametrize(
    "at", [(0, 0, 0, 2), (0, 1, 2, 2), (0, 1, 1, 3), (1, 1, 1, 2), (-1, 1, 1, 2), (0, 1, 1)]
)
def test_a_place_outside_the_submission_is_not_shown(at):
    evidence = SimpleNamespace(sources={"main.py": "x = 1\n" + "y" * 999})

    def code(place):
        reply = Reply("ok", tensors={"tape/changed": np.array(place, np.int64)})
        found = locate(evidence, None, Mismatch("changed", "x", ()), reply)
        return found and found["code"]

    assert code((0, 2, 1, 2)) == [[1, "x = 1"], [2, "y" * MAX_TEXT]]
    assert code(at) is None


def test_a_value_that_says_nothing_does_not_show_that_its_line_is_right():
    records, made, parents = sound()
    records[1, PLACE] = SAYS_NOTHING
    found = tape(records, made, parents)

    assert last_right(found, np.array([True, True, False]), 2) == 1


def test_numbers_that_lie_do_no_harm():
    records, made, _ = sound()
    records[:] = np.iinfo(np.int64).max
    made[:] = np.nan
    parents = np.array([(2, 5), (5, 2), (-1, -2), (1, 1), (2**62, 0)] * MAX_RECORDS, np.int64)

    found = tape(records, made, parents)

    assert len(found.parents) == 0
    assert np.isfinite(found.prints).all()
    assert found.shapes(0, range(9)) == []


RIGHT = """
def f(x, n):
    centered = x - x.mean(-1, keepdims=True)
    variance = (centered**2).mean(-1, keepdims=True)
    words = [f"word {i}" for i in range(n)]
    result = centered / variance**0.5
    return result, words
"""
PLAIN = """
def f(words, limit):
    rows = []
    for word in words:
        row = []
        end = len(word)
        while 0 < end <= limit:
            if word[:end] in ("a", "bc"):
                row.append(word[:end])
                word, end = word[end:], len(word) - end
            else:
                end -= 1
        rows.append(["?"] if word else row)
    return rows
"""
WORDS = ["a", "abc", "bca", "cab", "ab", "aaa", "aabc"]
ARGUMENTS = {RIGHT: (VALUES, 4), PLAIN: (WORDS, 3)}
# a function, what is wrong in it, and the line where that begins
WRONG = {
    "an array": (RIGHT, "(centered**2)", "abs(centered)", 4),
    "a list": (RIGHT, "range(n)", "range(n - 1)", 5),
    "what is returned": (RIGHT, "centered / variance", "centered * variance", 6),
    "an item": (PLAIN, '["?"]', '["?", "?"]', 13),
    "what is appended": (PLAIN, "else row", "else row[:1]", 13),
    "a bound": (PLAIN, "<= limit", "< limit", 7),
    "a bound of its own": (PLAIN, "<= limit", "<= limit and len(row) < 2", 7),
    "a condition": (PLAIN, 'in ("a", "bc")', '== "a"', 8),
    "what is set together": (PLAIN, "word[end:], len", 'word[end:] or "?", len', 10),
}
TRIES = """            if word[:end] in ("a", "bc"):
                row.append(word[:end])
                word, end = word[end:], len(word) - end
            else:
                end -= 1
"""
REVERSED = """            if word[:end] not in ("a", "bc"):
                end -= 1
            else:
                row.append(word[:end])
                word, end = word[end:], len(word) - end
"""


def recorded(source, *arguments):
    """Return the tape of a function f in a file main.py."""
    order = {"target": "f", "others": [], "scales": False, "watches": None}
    recorder = TapeRecorder(order, ["main.py"], {})
    functions = {}
    exec(compile(source, "main.py", "exec"), functions)
    arrays = [each for each in arguments if isinstance(each, np.ndarray | torch.Tensor)]
    with recorder.recording(Snapshot(None), arrays):
        functions["f"](*arguments)
    return Tape.of(recorder.tensors())


def test_what_is_not_filled_yet_is_the_same_in_each_run():
    source = "import torch\ndef f():\n    x = torch.empty(500)\n    x[0] = 1.5\n    return x\n"
    tapes = []
    for left in (3.0, 5.0):  # in the memory that is used next
        torch.full((500,), left)
        tapes.append(recorded(source).prints)

    assert np.array_equal(*tapes)


def begins(source, right):
    """Return the line where a failure begins, by what the right function makes."""
    known = recorded(right, *ARGUMENTS[right]).prints
    found = recorded(source, *ARGUMENTS[right])
    common = close(found.prints, known)[0]
    wrong = found.wrong(common)
    if not wrong:
        return None
    decided = found.decided(known, common, wrong[0])
    return int(found.records[wrong[0] if decided is None else decided, 1])


@pytest.mark.parametrize("case", WRONG)
def test_arrays_plain_values_and_conditions_have_lines(case):
    right, old, new, line = WRONG[case]

    assert begins(right.replace(old, new), right) == line
    assert begins(right, right) is None


@pytest.mark.parametrize(
    ("old", "new", "line"), [("(centered**2)", "abs(centered)", 6), ("**0.5", "**root", 4)]
)
def test_a_number_or_name_is_to_blame_only_for_what_is_made_from_it(old, new, line):
    first = "    centered"
    named = RIGHT.replace(first, f"    label = 'softly'\n    root = 0.75\n{first}", 1)

    assert begins(named.replace(old, new), RIGHT) == line


def test_reversed_conditions_are_not_to_blame():
    right = PLAIN.replace(TRIES, REVERSED)

    assert right != PLAIN
    assert begins(right, PLAIN) is None
    assert begins(right.replace("else row", "else row[:1]"), PLAIN) == 13


def test_a_right_value_that_is_not_to_be_returned_is_misplaced():
    source = "\ndef f(x, n):\n    y = x * n\n    return y + 1.5\n"
    known = recorded(source, torch.from_numpy(VALUES), 4).prints
    early = recorded(
        source.replace("return y + 1.5", "y + 1.5; return y"), torch.from_numpy(VALUES), 4
    )

    common, ordered, _ = close(early.prints, known)

    assert early.wrong(common) == []
    first, *_ = early.wrong(ordered)
    assert early.records[first, 1] == 4


WHOLE = """
import numpy as np
def f(x, n):
    sine = np.sin(x)
    y = sine * n
    return y + x
"""
LOOPS = {
    "rows": """
import numpy as np
def f(x, n):
    rows = []
    for i in range(len(x)):
        y = np.sin(x[i])
        y = y * n
        rows.append(y + x[i])
    return np.stack(rows)
""",
    "rows of rows": """
import numpy as np
def f(x, n):
    result = np.zeros_like(x)
    for i in range(len(x)):
        for j in range(x.shape[1]):
            y = np.sin(x[i, j]) * n
            result[i, j] = y + x[i, j]
    return result
""",
    "pairs": """
import numpy as np
def f(x, n):
    rows = []
    for row, sine in zip(x, np.sin(x)):
        y = sine * n
        rows.append(y + row)
    return np.stack(rows)
""",
}


@pytest.mark.parametrize("arrays", ["numpy", "torch"])
@pytest.mark.parametrize("name", LOOPS)
def test_pieces_of_a_loop_are_right_if_together_they_are(name, arrays):
    x = torch.from_numpy(VALUES) if arrays == "torch" else VALUES
    whole, loop = (
        each.replace("import numpy as np", f"import {arrays} as np")
        for each in (WHOLE, LOOPS[name])
    )
    known = recorded(whole, x, 4).prints

    def first_wrong(source):
        found = recorded(source, x, 4)
        common, ordered, _ = close(found.prints, known)
        wrong = found.wrong(common) or found.wrong(ordered | (common & found.is_whole))
        return source.split("\n")[found.records[wrong[0], LINE] - 1] if wrong else ""

    assert first_wrong(loop) == ""
    assert "y - " in first_wrong(loop.replace("y + ", "y - "))
    assert "n + 1" in first_wrong(loop.replace("* n", "* (n + 1)"))


RETURNS_EARLY = """
def f(x, n):
    result = 0 * x
    for i in range(len(x)):
        y = x[i].sin() * n
        result[i] = y + x[i]
        return result
"""
COUNTS = """
def f(x, n):
    count = (x > 1).sum(-1)
    y = x.sin() * n
    return y - x
"""


@pytest.mark.parametrize(("source", "line"), [(RETURNS_EARLY, 7), (COUNTS, 5)])
def test_to_blame_are_a_return_in_a_loop_and_what_is_made_of_whole_numbers(source, line):
    x = torch.from_numpy(VALUES)
    right = "\ndef f(x, n):\n    y = x.sin() * n\n    return y + x\n"
    found = recorded(source, x, 4)
    common, *_ = close(found.prints, recorded(right, x, 4).prints)

    assert found.records[found.wrong(common)[0], LINE] == line


def test_the_line_that_cuts_a_gradient_off_is_the_one_whose_value_lacks_it():
    source = "\ndef f(x):\n    y = 2 * x\n    z = y.detach() + 1\n    return 3 * z\n"
    found = recorded(source, torch.ones(3, requires_grad=True))

    assert found.records[found.cut(np.zeros(len(found.records), bool)), 1] == 4


def test_a_loop_without_end_of_records_is_bounded():
    loop = "\ndef f(x, n):\n    for i in range(100_000):\n        x = x + 1.0\n    return x\n"

    assert len(recorded(loop, VALUES, 4).records) == MAX_RECORDS
    assert len(recorded(loop, torch.ones(2), 4).records) == MAX_RECORDS

"""The tape: a record of each value that a submission computes in one call. Runs in the worker.

Records are made by two hooks: a torch function mode, for every tensor that torch returns or changes
while the submission's code is on the stack; and a trace function, line by line, for its other
variables (arrays, numbers, texts, lists and what is added to them) and for what functions return. A
record has the line to blame, the value's shape, the records that it was computed from, and a print:

    COMMON numbers that stay the same if the value is reshaped, transposed, expanded or reordered;
    one number that depends on the order, the shape and the type;
    and 1 if a gradient is cut off: the value has none, though it was computed from one that has,
    and others are computed from it; else 0.

There are two more kinds of records. A line with a condition has one of the values that it decides
by, and of whether the line below runs next. What a loop computes in several rounds has one of all
the values together, as correct code may compute them at once; so have inputs, which code may split.

The trusted side compares prints with those of correct code, and knows nothing else of the values.
The line to blame is the innermost one in the function under test or the submission's own helpers,
but not in another exercise's function, nor in a function that is as it was given.

Covered: number and size of records. Not covered: code that looks for the tape and changes it. So a
tape affects the wording of messages for the student, and no points.
"""

import collections
import contextlib
import dis
import functools
import itertools
import math
import random
import sys
import traceback
import zlib
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from types import CodeType, FrameType
from typing import Any, NamedTuple

import numpy as np

from tensormark.worker.imports import compiled
from tensormark.worker.optional_torch import Tensor, TorchFunctionMode, nn, no_grad, torch, untaped
from tensormark.worker.protocol import (
    COMMON,
    DECIDES,
    EXCUSED,
    IS_SCALAR,
    LINES,
    MAX_AXES,
    MAX_RECORDS,
    PLACE,
    PRINT,
    SAYS_NOTHING,
    TAPE,
    WHERE,
    WHOLE,
)
from tensormark.worker.state import Snapshot, digest

MAX_VALUES = 1 << 16  # of a value that is recorded
MAX_KEPT = 1 << 22  # values that are kept until it is known whether they are made in a loop
MAX_TEXT = 2000  # characters of a plain value
MAX_LENGTH = 200  # of a list, or characters of a text
MAX_FRAMES = 100  # of the submission that are looked through
MAX_PARENTS = 16  # of a record
MAX_EVENTS = 20_000  # lines that are looked at: a loop would take minutes otherwise
FEW = 2  # characters of a text that is too short to say anything, such as a digit
LARGE = 1e3  # larger numbers, as in a mask, are left out of a value's scale: they would dominate it
INFINITE = 1e35  # what stands for an infinity
NAN = 1e30
WAVES = np.array([(1.3, 0.4), (2.7, 1.1), (5.1, 2.3)])  # factors and phases of averaged cosines
EXACT = 0xFFFFFF  # bits that a float32 keeps
NUMBERS = (int, float, bool, type(None))
SIZES = (int, bool, type(None))  # of values that say nothing alone
CYCLE = 7  # values, after which the factors that replace dropout repeat
DROPOUTS = (torch.dropout, nn.functional.dropout) if torch else ()
Place = tuple[int, int, int, int]  # number of a file, line, first and last line of its function


@functools.lru_cache(maxsize=256)
def _weights(form: str, size: int) -> np.ndarray:
    """Return the weights of a value's order: (size,)."""
    rng = np.random.default_rng(zlib.crc32(form.encode()))
    return np.asarray(rng.standard_normal(size) / size**0.5)


def print_of(values: np.ndarray, form: str) -> np.ndarray:
    """Return the print of an array, without cut gradients: (PRINT,).

    Args:
        form: its shape and type.
    """
    flat = np.clip(values.astype(np.float64).ravel(), -INFINITE, INFINITE)
    flat[np.isnan(flat)] = NAN
    sizes = np.abs(flat)
    usual = sizes[(sizes > 0) & (sizes < LARGE)]
    scale = float(usual.mean()) if usual.size else 1.0
    squeezed = np.arcsinh(flat / scale)
    mean = squeezed.mean()
    if ((flat == flat.min()) | (flat == flat.max())).all():
        # of a mask, only the order says much
        mean += squeezed @ _weights("", flat.size)
    waves = np.cos(WAVES[:, :1] * squeezed + WAVES[:, 1:]).mean(1)
    ordered = squeezed @ _weights(form, flat.size)
    return np.array([np.log(scale), mean, *waves, ordered, 0.0])


def _is_plain(value: Any) -> bool:
    """Return whether a value is a number or text, or a short list or the like of such."""
    if type(value) in (list, tuple, set):
        return len(value) <= MAX_LENGTH and all(map(_is_plain, value))
    if type(value) is dict:
        return _is_plain(list(value)) and _is_plain(list(value.values()))
    if type(value) in (str, bytes):
        return len(value) <= MAX_LENGTH
    return type(value) in NUMBERS


def _text_of(value: Any) -> str | None:
    """Return a text that identifies an array, plain value or random generator; None for others."""
    if type(value) is np.ndarray and value.size <= MAX_VALUES:
        return f"{value.shape} {value.dtype} {zlib.crc32(value.tobytes())}"
    if type(value) is float:
        return f"{value:#.5g}"
    if type(value) is random.Random:
        return f"random {hash(value.getstate()[1])}"
    if type(value) is np.random.Generator:
        return f"random {value.bit_generator.state}"
    if torch and type(value) is torch.Generator:
        return f"random {zlib.crc32(value.get_state().numpy().tobytes())}"
    text = repr(value) if _is_plain(value) else ""
    return text if 0 < len(text) <= MAX_TEXT else None


def _numbers(text: str, *more: float) -> np.ndarray:
    """Return the print of a text: two sums, and more numbers."""
    sums = [zlib.crc32(text.encode("utf-8", "replace"), start) & EXACT for start in (0, 1)]
    return np.array([*sums, *more, *[0.0] * (PRINT - 2 - len(more))])


class _Seen(NamedTuple):
    """What a variable was when it was last looked at, and the records of its value."""

    object: int = 0  # the id of a list or array
    length: int = 0  # of a list
    text: str | None = None
    records: tuple[int, ...] = ()

    @classmethod
    def of(cls, value: Any) -> "_Seen":
        """Look at a value."""
        changes = isinstance(value, list | np.ndarray)
        length = len(value) if type(value) is list else 0
        return cls(id(value) if changes else 0, length, _text_of(value))


class _Described(NamedTuple):
    """What a record says of a value; `tells` is false if many others equal it, such as zeros."""

    numbers: np.ndarray
    shape: tuple[int, ...]
    tells: bool
    values: np.ndarray  # empty if it has no numbers


def _tells(values: np.ndarray) -> bool:
    """Return whether values differ from each other, or are a single one that is no integer."""
    return bool((values != values[0]).any()) or bool(values.size == 1 and values[0] % 1)


def _described(value: Any, use: str) -> _Described | None:
    """Describe a value; None if it is of another kind, empty or too large.

    Args:
        use: "returned" for what the function under test returns, else empty.
    """
    if not isinstance(value, Tensor | np.ndarray):
        text = _text_of(value)
        if text is None or len(text) <= FEW or type(value) in SIZES:
            return None
        numbers = _numbers(text, *[0] * (COMMON - 2), zlib.crc32(use.encode()) & EXACT)
        return _Described(numbers, (), True, np.array([value] if type(value) is float else []))
    shape = tuple(value.shape)
    if not 0 < math.prod(shape) <= MAX_VALUES or len(shape) > MAX_AXES:
        return None
    form = f"{use}{shape} {value.dtype}"
    if isinstance(value, Tensor):
        if value.is_complex():
            return None
        value = value.detach().to(torch.float64).numpy()
    if value.dtype.kind not in "biuf":
        return None
    flat = value.ravel()
    return _Described(print_of(value, form), shape, _tells(flat), flat)


@functools.lru_cache(maxsize=256)
def _named_on(code: CodeType) -> Mapping[str, Mapping[int, Sequence[str]]]:
    """Return the variables that each line of a function loads, stores, and branches on (JUMP)."""
    named: dict[str, dict[int, list[str]]] = {"LOAD": {}, "STORE": {}, "JUMP": {}}
    line = code.co_firstlineno
    for instruction in dis.get_instructions(code):
        position = instruction.positions
        line = (position and position.lineno) or line
        kind, _, where = instruction.opname.partition("_")
        if "_IF_" in instruction.opname:
            named["JUMP"][line] = list(named["LOAD"].get(line, ()))
        elif kind in named and where.startswith(("FAST", "DEREF", "CLOSURE")):
            names = instruction.argval
            known = named[kind].setdefault(line, [])
            known += set([names] if isinstance(names, str) else names) - set(known)
    return {kind: {line: sorted(n) for line, n in lines.items()} for kind, lines in named.items()}


@functools.lru_cache(maxsize=4096)
def _line_after(code: CodeType, line: int) -> int:
    """Return the next line that has code."""
    return min((each for *_, each in code.co_lines() if each and each > line), default=0)


@functools.lru_cache(maxsize=4096)
def _loop_around(code: CodeType, offset: int) -> int:
    """Return the line of a `for` around an instruction, 0 if there is none."""
    line = 0
    for instruction in dis.get_instructions(code):
        line = (instruction.positions and instruction.positions.lineno) or line
        if instruction.opname == "FOR_ITER" and instruction.offset < offset < instruction.argval:
            return line
    return 0


@functools.lru_cache(maxsize=256)
def _last_line(code: CodeType) -> int:
    return max((line for *_, line in code.co_lines() if line), default=code.co_firstlineno)


def _codes_in(code: CodeType) -> Iterator[CodeType]:
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield constant
            yield from _codes_in(constant)


def _same_code(code: CodeType, other: CodeType) -> bool:
    """Return whether two functions have the same text, but for comments and layout."""
    plain = [c for c in code.co_consts if not isinstance(c, CodeType)]
    others = [c for c in other.co_consts if not isinstance(c, CodeType)]
    return (code.co_code, code.co_names, plain) == (other.co_code, other.co_names, others)


def _scaled(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Stand in for dropout: scale values by its rate and their position, not by chance."""
    steps = torch.arange(input.numel()).remainder(CYCLE).reshape(input.shape) / CYCLE
    return input * (1.0 - p * steps).to(input.dtype) if training else input


def _is_whole_numbers(value: Any) -> bool:
    """Return whether a value is an array of whole numbers or of truths."""
    if isinstance(value, np.ndarray):
        return value.dtype.kind in "biu"
    return isinstance(value, Tensor) and not value.is_floating_point()


def _tensors_in(values: Iterable[Any]) -> Iterator[Any]:
    """Yield the tensors among arguments or results, and in their lists."""
    for value in values:
        if isinstance(value, Tensor | np.ndarray):
            yield value
        elif isinstance(value, list | tuple):
            yield from _tensors_in(value[:MAX_RECORDS])


def _is_cut(made: Any, used: Iterable[Any]) -> bool:
    """Return whether a real tensor has no gradient, though one that it was made from has."""
    floating = isinstance(made, Tensor) and made.is_floating_point() and not made.requires_grad
    return floating and any(x.requires_grad for x in _tensors_in(used) if isinstance(x, Tensor))


class TapeRecorder(TorchFunctionMode):
    """Records what a submission computes; see `recording`.

    Attributes:
        changed_at: the line that changed what must stay as it is.
        raised_at: the line to blame for the last exception.
    """

    def __init__(
        self, order: Mapping[str, Any], files: Iterable[str], given: Mapping[str, str]
    ) -> None:
        """Prepare the tape that a request orders.

        Args:
            order: the `target`, the function under test; `others`, those of other exercises;
                `scales`: random values cannot be compared, so dropout scales all values; and
                `watches`: what must stay as it is, to find the line that changes it: a name of
                STATE, or "inputs"; None: nothing.
            files: names of the files that students edit; given: their texts as given, by name.
        """
        super().__init__()
        self.target = order["target"]
        self.others = frozenset(order["others"])
        self.scales = order["scales"]
        self.watches = order["watches"]
        self.files = sorted(files)
        self.given: dict[tuple[str, str], CodeType] = {}
        for file, text in given.items():
            with contextlib.suppress(SyntaxError, ValueError):
                for code in _codes_in(compiled(file, text)):
                    self.given[file, code.co_qualname] = code
        self.is_on = False
        self.clear()

    def clear(self) -> None:
        """Forget what was recorded."""
        self.records: list[tuple[int, ...]] = []
        self.prints: list[np.ndarray] = []
        self.parents: list[tuple[int, int]] = []
        self.latest: dict[int, int] = {}  # id of a value to its record
        self.variables: dict[int, dict[str, _Seen]] = {}  # by id of a frame
        self.kept: list[Any] = []  # so that no id is used twice
        self.cut: set[int] = set()  # records of values without a gradient, made from one with it
        # by place and instruction or name: records, and their values
        self.rounds: dict[tuple[Place, Hashable], list[tuple[int, np.ndarray]]] = {}
        self.count_kept = 0  # values in them
        self.events = 0  # lines that were looked at
        self.visits: collections.Counter[tuple[int, int]] = collections.Counter()  # of a frame's
        self.changed_at: Place | None = None
        self.raised_at: Place | None = None
        self.state: Callable[[], Any] = lambda: None
        self.before: Any = None

    @property
    def is_full(self) -> bool:
        """Whether there is nothing more to record."""
        return len(self.records) >= MAX_RECORDS

    # --- one record -----------------------------------------------------------------------------

    def blamed(self, frame: FrameType | None) -> tuple[FrameType, Place] | None:
        """Return the frame and line to blame for a value that is made in a frame, or None."""
        chain: list[FrameType] = []
        while frame is not None and len(chain) < MAX_FRAMES:
            if frame.f_code.co_filename in self.files:
                chain.insert(0, frame)
            frame = frame.f_back
        names = [each.f_code.co_qualname for each in chain]
        found = None
        for each in chain[names.index(self.target) if self.target in names else 0 :]:
            code = each.f_code
            if code.co_qualname in self.others:
                break
            own = self.given.get((code.co_filename, code.co_qualname))
            if own is None or not _same_code(code, own):
                found = each
        if found is None:
            return None
        code = found.f_code
        file = self.files.index(code.co_filename)
        return found, (file, found.f_lineno or 0, code.co_firstlineno, _last_line(code))

    def records_read(self, frame: FrameType, line: int, tensors: bool) -> Iterator[int]:
        """Yield the records of the variables that a line reads.

        Args:
            tensors: also those of tensors.
        """
        seen = self.variables.get(id(frame), {})
        for name in _named_on(frame.f_code)["LOAD"].get(line, ()):
            yield from seen.get(name, _Seen()).records
            if tensors:
                yield self.latest.get(id(frame.f_locals.get(name)), -1)

    def add(
        self,
        place: Place,
        value: Any,
        parents: Iterable[int],
        use: str = "",
        made_by: Hashable = None,
    ) -> int:
        """Add a record; return its number, or -1: there are too many, or it says nothing.

        Args:
            made_by: what tells this value from others that the same line makes.
        """
        described = None if self.is_full else _described(value, use)
        if described is None:
            return -1
        number = len(self.records)
        is_scalar = isinstance(value, float | str | bytes) or (_is_whole_numbers(value) and not use)
        does = IS_SCALAR if is_scalar and described.tells else int(described.tells)
        if is_scalar and described.values.size == 1 and not described.tells:
            does = EXCUSED  # a count or an index
        self.write((*place, does), described.shape, described.numbers)
        made_from = [parent for parent in dict.fromkeys(parents) if parent >= 0]
        self.parents += [(number, parent) for parent in made_from[:MAX_PARENTS]]
        self.count_kept += described.values.size
        if described.values.size and self.count_kept <= MAX_KEPT:
            values = described.values.astype(np.float64)  # a copy
            self.rounds.setdefault((place, made_by), []).append((number, values))
        return number

    def excuse(self, number: int) -> None:
        """Mark a record as one that is never to blame."""
        place, rest = self.records[number][:PLACE], self.records[number][PLACE + 1 :]
        self.records[number] = (*place, EXCUSED, *rest)

    def excuse_filled(self, numbers: Iterable[int]) -> None:
        """Excuse records that say nothing, such as zeros, as their values are now filled in."""
        for number in numbers:
            if number >= 0 and self.records[number][PLACE] == SAYS_NOTHING:
                self.excuse(number)

    def excuse_single_round(self, first: int, place: Place) -> None:
        """Excuse what a loop has made if its function returns, at a place, in the first round.

        Args:
            first: the line of the loop.
        """
        for (other, _), rounds in self.rounds.items():
            if other[2:] == place[2:] and first <= other[1] < place[1]:
                for number, _ in rounds:
                    self.excuse(number)

    def add_wholes(self, inputs: Iterable[Tensor | np.ndarray]) -> None:
        """Add a record of what each instruction has made in all rounds of a loop, and of inputs.

        Their pieces are right if they are known.
        """
        wholes: list[tuple[Place, np.ndarray, Sequence[int]]] = []
        for value in inputs:
            described = _described(value, "")
            if described is not None:
                wholes.append(((0, 0, 0, 0), described.values, ()))
        for (place, _), rounds in self.rounds.items():
            numbers, pieces = zip(*rounds, strict=True)
            if len(rounds) > 1 and sum(map(len, pieces)) <= MAX_VALUES:
                wholes.append((place, np.concatenate(pieces), numbers))
        for place, values, numbers in wholes:
            if _tells(values) and not self.is_full:
                self.parents += [(len(self.records), number) for number in numbers]
                self.write((*place, WHOLE), (), print_of(values, ""))

    def write(self, begin: Iterable[int], shape: Sequence[int], numbers: np.ndarray) -> None:
        """Write a record."""
        self.records.append((*begin, len(shape), *shape, *[-1] * (MAX_AXES - len(shape))))
        self.prints.append(numbers)

    # --- tensors, as torch makes them -------------------------------------------------------------

    def __torch_function__(
        self, func: Any, types: Any, args: Any = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        """Call a torch function, and record the tensors that it makes or changes."""
        kwargs = kwargs or {}
        result = func(*args, **kwargs)
        called = getattr(func, "__name__", "")
        if called.removeprefix("new_").startswith("empty"):
            with no_grad(), contextlib.suppress(Exception):
                result.zero_()  # instead of whatever is there in memory
        if self.scales and func in DROPOUTS:
            with contextlib.suppress(Exception):
                result = _scaled(*args, **kwargs)
        with contextlib.suppress(Exception):  # values may be of a student's own classes
            sets = called == "__setitem__"
            if sets or (called.endswith("_") and result is args[0]):
                self.excuse_filled([self.latest.get(id(args[0]), -1)])
            made = list(_tensors_in([args[0] if sets else result]))
            found = self.blamed(sys._getframe(1)) if made and not self.is_full else None
            if found is not None:
                frame, place = found
                arguments = [*args, *kwargs.values()]
                parents = [self.latest.get(id(each), -1) for each in _tensors_in(arguments)]
                parents += self.records_read(frame, place[1], tensors=False)
                # the parts that one call makes are a whole of their own
                whole = len(self.records) if len(made) > 1 else -1
                by = called, frame.f_lasti, whole
                for value in made:
                    number = self.add(place, value, parents, made_by=by)
                    if number >= 0 and _is_cut(value, arguments):
                        self.cut.add(number)
                    self.latest[id(value)] = number
                    self.kept.append(value)
        return result

    # --- other values, line by line ---------------------------------------------------------------

    def record_variables(self, frame: FrameType, place: Place) -> None:
        """Record the variables that a line has set or changed."""
        seen = self.variables.setdefault(id(frame), {})
        parents = list(self.records_read(frame, place[1], tensors=True))
        values = dict(frame.f_locals)  # whose keys are a list since Python 3.13
        names = _named_on(frame.f_code)
        stored = [name for name in names["STORE"].get(place[1], ()) if name in values]
        is_new = False
        for name in sorted({*names["LOAD"].get(place[1], ()), *stored} & values.keys()):
            value = values[name]
            before = seen.get(name, _Seen())
            if type(value) is list and before[:3] == (id(value), len(value), None):
                continue  # still too long
            now = _Seen.of(value)
            if isinstance(value, np.ndarray) and now.object == before.object:
                self.excuse_filled(before.records)
            made: list[int] = []
            if now.object == before.object and now.length > before.length:
                made += before.records
                others = [number for number in parents if number not in made]
                for index, item in enumerate(value[before.length :], before.length):
                    added = item if isinstance(item, np.ndarray) else (index, item)
                    made.append(self.add(place, added, others, made_by=name))
            elif now.text == before.text:
                made += before.records
            elif now.text is not None:
                is_new = True
                made.append(self.add(place, value, parents, made_by=name))
            made = [number for number in made[-MAX_PARENTS:] if number >= 0]
            seen[name] = now._replace(records=tuple(made))
        texts = [seen[name].text or "" for name in stored]
        if is_new and len(stored) > 1 and len(max(texts, key=len)) > FEW:
            together = self.add(place, tuple(values[name] for name in stored), parents)
            if together >= 0:
                for name in stored:
                    seen[name] = seen[name]._replace(records=(*seen[name].records, together))

    def condition(self, frame: FrameType) -> list[str]:
        """Return texts of the variables that the present line branches on, if it branches."""
        names = _named_on(frame.f_code)["JUMP"].get(frame.f_lineno, ())
        return list(filter(None, (_text_of(frame.f_locals.get(name)) for name in names)))

    def record_decision(self, place: Place, texts: Sequence[str], goes_on: bool) -> None:
        """Record what a line has decided: whether the line below it is the next that runs.

        There is one more record without each of the variables, as correct code may not read it.

        Args:
            texts: see `condition`.
        """
        ways = [texts, *itertools.combinations(texts, len(texts) - 1)] if texts else []
        for number, read in enumerate(ways):
            if not self.is_full:
                numbers = _numbers(" ".join(("if", *sorted(read))), goes_on, number)
                self.write((*place, DECIDES), (), numbers)

    def record_return(self, frame: FrameType, place: Place, value: Any) -> None:
        """Record what a function returns."""
        parents = list(self.records_read(frame, place[1], tensors=True))
        callers = (each.f_code.co_filename for each, _ in traceback.walk_stack(frame.f_back))
        is_helper = any(name in self.files for name in callers)
        use = "" if is_helper else "returned"
        arrays = list(_tensors_in(value.values() if isinstance(value, dict) else [value]))
        loop = _loop_around(frame.f_code, frame.f_lasti)
        if arrays and self.visits[id(frame), loop] == 1:
            self.excuse_single_round(loop, place)
        for each in arrays:
            made = self.latest.get(id(each), -1)
            if use and made >= 0:
                self.latest[id(each)] = self.add(place, each, [made], use)
        if type(value) is list:
            if any(value is each for each in frame.f_locals.values()):
                parents = []
            for item in enumerate(value[:MAX_RECORDS]):
                self.add(place, item, parents)
        elif id(value) not in self.latest:
            self.add(place, value, parents, use)

    def trace(self, frame: FrameType, event: str, argument: Any) -> Any:
        """Watch a function of the submission line by line: a trace function of Python's."""
        if frame.f_code.co_filename not in self.files:
            return None
        last = frame.f_lineno
        condition: list[str] = []
        with contextlib.suppress(Exception):  # arguments are nobody's mistake
            seen = {name: _Seen.of(value) for name, value in frame.f_locals.items()}
            self.variables[id(frame)] = seen
            self.kept.append(frame)

        def watch(frame: FrameType, event: str, argument: Any) -> Any:
            nonlocal last, condition
            self.events += 1
            if self.events > MAX_EVENTS or (self.is_full and not self.watches):
                sys.settrace(None)
                return None
            self.visits[id(frame), last] += 1
            with untaped(), contextlib.suppress(Exception):
                found = self.blamed(frame)
                if event == "exception":
                    inner = argument[2].tb_next
                    if found is not None and (inner is None or found[0] is frame):
                        self.raised_at = found[1]
                elif found is not None and found[0] is frame:
                    place = found[1][0], last, *found[1][2:]
                    if self.watches and self.changed_at is None and self.state() != self.before:
                        self.changed_at = place
                    self.record_variables(frame, place)
                    goes_on = frame.f_lineno == _line_after(frame.f_code, last)
                    self.record_decision(place, condition, goes_on)
                    condition = self.condition(frame)
                    if event == "return":
                        self.record_return(frame, place, argument)
            last = frame.f_lineno or last
            return watch

        return watch

    # --- the whole --------------------------------------------------------------------------------

    @contextlib.contextmanager
    def recording(
        self, snapshot: Snapshot, inputs: Iterable[Tensor | np.ndarray]
    ) -> Iterator[None]:
        """Record what a `with` block computes, instead of what was recorded before.

        Args:
            snapshot: the state before the call; inputs: of the call.
        """
        if self.is_on:  # a kind of call of the assignment's own makes one of the usual kinds
            yield
            return
        self.clear()
        self.is_on = True
        if self.watches == "inputs":
            arrays = list(inputs)
            self.state = lambda: (digest(arrays), repr(snapshot.plain))
        elif self.watches:
            self.state = lambda: self.watches in snapshot.report()["changed"]
        self.before = self.state()
        sys.settrace(self.trace)
        try:
            with self:
                yield
        finally:
            sys.settrace(None)
            self.is_on = False
            with untaped():
                self.add_wholes(inputs)

    def tensors(self) -> dict[str, np.ndarray]:
        """Return the records, their prints, and pairs of a record and one it was made from.

        Also return the lines that changed the state and raised, if any did.
        """
        records = np.array(self.records, np.int64).reshape(-1, WHERE + MAX_AXES)
        prints = np.array(self.prints, np.float64).reshape(-1, PRINT)
        parents = np.array(self.parents, np.int64).reshape(-1, 2)
        prints[sorted(self.cut.intersection(parents[:, 1].tolist())), -1] = 1.0
        lines = zip(LINES, (self.changed_at, self.raised_at), strict=True)
        told = {name: np.array(place, np.int64) for name, place in lines if place}
        return dict(zip(TAPE, (records, prints, parents), strict=True)) | told


def recording(
    tape: TapeRecorder | None, snapshot: Snapshot, inputs: Iterable[Tensor | np.ndarray]
) -> contextlib.AbstractContextManager[None]:
    """Record on a tape, if there is one; see `TapeRecorder.recording`."""
    return contextlib.nullcontext() if tape is None else tape.recording(snapshot, inputs)

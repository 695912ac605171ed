"""What an assignment consists of: exercises, the probes that test them, and calls as data.

An assignment's folder defines these; the rest of tensormark records, grades and diagnoses any
assignment.
"""

from __future__ import annotations

import dataclasses
import functools
import importlib
import itertools
import json
import math
import pkgutil
import re
import zlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, Protocol, Self

from tensormark.files import digest, sources_in
from tensormark.handout import Handout
from tensormark.policy import Names, Policy, check_names, rules_of
from tensormark.predictions import Leaderboard
from tensormark.usage import UserError

if TYPE_CHECKING:  # the process that reads submissions starts faster without them
    import numpy as np

    from tensormark.task import Task

Tensors = dict[str, "np.ndarray"]
Axes = Mapping[int, Sequence[str]]  # number of axes to their names, for messages
Draw = Callable[["np.random.Generator", Any], dict[str, Any]]  # arrays, and plain values
# of what was returned, what is expected, how far each value may be off, and the inputs
Locate = Callable[["np.ndarray", "np.ndarray", "np.ndarray", Tensors], str | None]
PARTS = ("values", "training", "properties")  # the parts of an exercise's points
# probes that have names for mistakes
SIZES_PROBE = "other sizes"  # or begins with this
SECOND_CALL = "second call"
NO_DROPOUT = "no dropout"
BUILT_IN_KINDS = ("method", "function", "optimizer")  # of calls
# of the names of inputs that are no arguments
PREFIXES = ("weights", "cotangent", "before", "start", "gradients", "literals")
LOCAL_FIELDS = frozenset({"given", "inputs", "deterministic", "sizes"})  # that are not sent as such
TORCH, NUMPY = "torch", "numpy"  # arrays of a call
PLAIN = "value"  # the form of a result that is a plain value
FORMS = ("tensor", "tuple", "dict", "rows", PLAIN)  # of results
UNSENT = {"arrays": TORCH, "raises": ""}  # not sent with these values: most calls have them


class Sizes(dict[str, Any]):
    """The sizes of a small random call, by letter: Sizes(B=3, T=7).T is 7.

    All should differ, so that no axis can be mistaken for another. `|` replaces some of them.
    """

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f"there is no size {name} among {', '.join(self)}") from None

    def __or__(self, others: Mapping[str, Any]) -> Self:  # type: ignore[override]
        """Return these sizes with others in place of some."""
        return type(self)(self, **others)

    @property
    def letters(self) -> dict[str, Any]:
        """Those that messages name."""
        return {name: size for name, size in self.items() if len(name) == 1}

    def sent(self) -> dict[str, Any]:
        """Return what the worker gets of them: `config`, for the harness, and for messages."""
        return {"config": dict(self)}


@dataclasses.dataclass(frozen=True)
class Call:
    """One call of a student's function, as data that is sent to the worker.

    Attributes:
        target: the class and the method, such as "Layer.forward"; or a function.
        args: positional arguments: names of inputs or literals, ".name" for a module of the
            object, "*generator" for a torch.Generator, "*random" for a random.Random; the
            assignment's harness may define further names with an asterisk.
        module: where the target is.
        inputs: names a set of drawn inputs; calls with the same name share them. With inputs
            named before/<argument>, the function is first called once with these.
        before: the arguments of that earlier call, if they differ.
        optional: the last of the arguments, passed by name, if a function without parameters of
            these names is right too; such a function is not called.
        given: exercises that are replaced by stand-ins in this call.
        stand_ins: path of attributes to a method, such as "layers.*.forward", to the name of its
            stand-in in the assignment's harness.
        deterministic: draws no random numbers, even if its probe examines random outputs.
        checkpoint: use the frozen checkpoint's weights instead of random ones.
        train: training mode; otherwise eval.
        twice: call the function a second time, with the same arguments; its outputs are then
            "<name> again". For random outputs, which must differ.
        rates: attribute, or path of attributes, to the rate of one dropout module.
        gradients: also return gradients of sum(output * cotangent).
        constants: inputs that need no gradient.
        dtype: the type to compute in.
        kind: method, function, optimizer (literals: `groups`, each with the names of its
            parameters, and the number of `steps`), or one that the assignment's harness adds.
        sizes: of the inputs, and of the object: the harness may make the constructor's arguments
            from them. Single letters are shown in messages about shapes.
        options: further arguments of the class.
        literals: arguments that are not tensors.
        arrays: what arrays are: "torch" tensors, or "numpy" arrays.
        returns: names of the outputs.
        form: "tensor", "tuple" (or a bare tensor, if there is one output), "dict", "rows" with
            columns of these names, or "value", a plain value of any kind; see worker/values.py.
        raises: the type of the exception that is expected instead, such as "ValueError".
        taken_by: the function of the module that gets the output, such as "Model.encode"; unless it
            unpacks its argument, a single output must not be in a tuple.
    """

    target: str
    args: tuple[str, ...]
    module: str
    inputs: str = "main"
    before: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()
    given: tuple[str, ...] = ()
    stand_ins: Mapping[str, str] = dataclasses.field(default_factory=dict)
    deterministic: bool = False
    checkpoint: bool = False
    train: bool = False
    twice: bool = False
    rates: Mapping[str, float] = dataclasses.field(default_factory=dict)
    gradients: bool = False
    constants: tuple[str, ...] = ()
    dtype: str = "float32"
    kind: str = "method"
    sizes: Sizes = dataclasses.field(default_factory=Sizes)
    options: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    literals: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    returns: tuple[str, ...] = ("output",)
    arrays: str = TORCH
    form: str = "tensor"
    raises: str = ""
    taken_by: str = ""

    @property
    def gets_objects(self) -> bool:
        """Whether an argument is an object that the worker makes, such as a generator."""
        return any(name.startswith("*") for name in self.args)

    @property
    def is_plain(self) -> bool:
        """Whether what it returns is a plain value, packed as worker/values.py says."""
        return self.form == PLAIN and not self.raises

    def message(self) -> dict[str, Any]:
        """Return the call as the JSON object sent to the worker."""
        sent = {name: value for name, value in vars(self).items() if name not in LOCAL_FIELDS}
        for name, usual in UNSENT.items():
            if sent[name] == usual:
                del sent[name]
        return sent | self.sizes.sent()


class Examine(Protocol):
    """Judges random outputs."""

    def measure(self, outputs: Tensors, inputs: Tensors, /) -> np.ndarray:
        """Compute at most four statistics of the outputs."""

    @property
    def spread(self) -> np.ndarray:
        """How far each statistic may be off by chance."""

    def __call__(self, outputs: Tensors, inputs: Tensors) -> str | None:
        """Return what is wrong, or None."""


@dataclasses.dataclass(frozen=True)
class Probe:
    """One test of the student's code, and the calls that may pass it.

    Attributes:
        name: unique within the exercise.
        part: the part of the points that depends on it: values, training or properties.
        says: what is wrong if it fails and no known mistake matches; lower case.
        calls: first with the student's own functions, then with stand-ins for upstream exercises.
            Those with stand-ins count if an upstream exercise has failed (follow-through).
        examine: judges the outputs of calls that draw random numbers, which cannot be compared with
            a reference. Calls marked deterministic are still compared.
    """

    name: str
    part: str
    says: str
    calls: tuple[Call, ...]
    examine: Examine | None = None

    @property
    def of_sizes(self) -> bool:
        """Whether it tests other sizes."""
        return self.name.startswith(SIZES_PROBE)

    def draws(self, call: Call) -> bool:
        """Return whether one of its calls draws random numbers."""
        return self.examine is not None and not call.deterministic


@dataclasses.dataclass(frozen=True)
class Exercise:
    """An exercise: one hole in the starter, one block in the handout, one reference file.

    Attributes:
        id: names the hole, the problem in the handout, the check and the reference file.
        order: its place in the report; exercises upstream come first.
        file: contains the hole.
        points: by part (values, training, properties).
        upstream: exercises that its own code calls.
        probes: its tests; empty for a task.
        draw: draws the inputs of one call.
        draw_private: draws them for private references, if `draw` would only repeat the public
            ones; literals too, see literals.py.
        task: how it is graded instead of by probes, such as by training.
        imports: modules that it needs besides the assignment's.
        extension: its points are a bonus, and it is graded only if its file was handed in.
        forbidden: full names of what may not be called while it is graded, besides the policy's,
            and perhaps what to do instead; see `Policy`.
        axes, locate: replace the assignment's where those do not suit these outputs.
        sized: makes its first call with other sizes, for questions about it; takes further fields.
    """

    id: str
    order: int
    title: str
    file: str
    points: Mapping[str, float]
    upstream: tuple[str, ...] = ()
    probes: tuple[Probe, ...] = ()
    draw: Draw | None = None
    draw_private: Draw | None = None
    task: Task | None = None
    imports: tuple[str, ...] = ()
    extension: bool = False
    forbidden: Names = ()
    axes: Axes | None = None
    locate: Locate | None = None
    sized: Callable[..., Call] | None = None

    def __post_init__(self) -> None:
        """Check that `points` has all parts that can be lost, and `given` only what is upstream.

        Raises:
            ValueError: a part is missing or unknown, an exercise is given that is not upstream, or
                a name is malformed.
        """
        check_names(f"{self.id}: forbidden", self.forbidden)
        if not isinstance(self.points, Mapping):
            raise ValueError(f"{self.id}: points must be a number, or by part, as {{'values': 8}}")
        if not all(0 <= points < math.inf for points in self.points.values()):
            raise ValueError(f"{self.id}: points must not be negative, infinite or NaN")
        if not isinstance(self.order, int | float):
            raise ValueError(f"{self.id}: order must be a number, not {self.order!r}")
        for call in self.calls:
            if call.arrays not in (TORCH, NUMPY):
                raise ValueError(f"{self.id}: arrays must be {TORCH!r}, {NUMPY!r} or None")
            if call.form not in FORMS:
                raise ValueError(f"{self.id}: form must be one of {', '.join(FORMS)}")
        needed = {"values", "properties"} if self.probes else set()  # any call can lose these
        needed |= {probe.part for probe in self.probes}
        known = ", ".join(PARTS)
        for part in sorted(self.points.keys() - PARTS):
            raise ValueError(f"{self.id}: points has an unknown part {part!r}; known: {known}")
        for part in sorted(needed - self.points.keys()):
            raise ValueError(f"{self.id}: points has no part {part!r}, which can be lost")
        given = set().union(*(call.given for call in self.calls))
        for name in sorted(given.difference(self.upstream)):
            raise ValueError(f"{self.id}: {name} is given in a call, but is not upstream of it")

    @property
    def asked(self) -> list[tuple[Probe, Call]]:
        """The calls of all probes in order, each with its probe."""
        asked: list[tuple[Probe, Call]] = []
        for probe in self.probes:
            asked += [(probe, call) for call in probe.calls]
        return asked

    @property
    def calls(self) -> list[Call]:
        """The calls of all probes, in order."""
        return [call for _, call in self.asked]

    @property
    def max_score(self) -> float:
        """The sum of its points."""
        return sum(self.points.values())

    @property
    def module(self) -> str:
        """The module that contains its hole."""
        return self.file.removesuffix(".py")

    def inputs(self, call: Call, seed: int, private: bool = False) -> Tensors:
        """Draw the inputs of a call; used when references are recorded, never when grading.

        Raises:
            UserError: `draw` leaves an argument out, or returns what cannot be used.
        """
        import numpy as np

        from tensormark.drawn import inputs_in
        from tensormark.literals import unpacked

        draw = (private and self.draw_private) or self.draw
        assert draw is not None
        key = zlib.crc32(f"{self.id}/{call.inputs}".encode())
        inputs = inputs_in(draw(np.random.default_rng([seed, key]), call), call.arrays == NUMPY)
        if call.kind in BUILT_IN_KINDS:
            drawn = inputs.keys() | unpacked(inputs).keys()
            named = {name for name in call.args if name[0] not in ".*"} - call.literals.keys()
            for name in sorted(named - drawn):
                raise UserError(f"draw returns no {name!r}, which args names")
            used = set[str]()
            for each in self.calls:
                used.update(each.args, each.before)
            others = {name for name in drawn if name.partition("/")[0] not in PREFIXES}
            for name in sorted(others - used):
                raise UserError(f"draw returns {name!r}, which no call uses")
        return inputs

    @functools.cached_property
    def digest(self) -> str:
        """A digest of the calls, to detect references that were recorded with other calls."""
        calls = [call.message() for call in self.calls]
        return digest(json.dumps(calls, sort_keys=True).encode())


@dataclasses.dataclass(frozen=True)
class Assignment:
    """Everything that the grader knows about an assignment.

    Attributes:
        name: for reports, and for the names of released files.
        folder: contains all of it; see folder.py.
        editable: the files that students edit; the first one must be handed in.
        imports: the modules that calls use, in the order in which they are imported.
        exercises: in the order of the report.
        harness: the file that runs next to a student's code in the worker; see worker/calls.py.
        seed: of the public references.
        policy: what is forbidden.
        checkpoint_files: the files of checkpoint/ that references depend on; empty if there is no
            checkpoint.
        packages: those that a submission may import, for messages; empty: all in requirements.txt.
        axes: the names of the axes of outputs.
        locate: describes in a few words where an output is wrong, if it can; not by how much,
            because references may be private.
        padding: returns which places of the first axes of an output are only padding, if it can.
        leaderboard: what students may compete in, if anything.
        engine: the version of tensormark that it was written for, such as "2.8"; another version
            says what has changed.
    """

    name: str
    folder: Path
    editable: tuple[str, ...]
    imports: tuple[str, ...]
    exercises: tuple[Exercise, ...]
    harness: Path
    seed: int = 0
    policy: Policy = dataclasses.field(default_factory=Policy)
    checkpoint_files: tuple[str, ...] = ()
    packages: tuple[str, ...] = ()
    axes: Axes = dataclasses.field(default_factory=dict)
    locate: Locate = lambda *_: None
    padding: Callable[[Tensors], np.ndarray | None] = lambda inputs: None
    leaderboard: Leaderboard | None = None
    engine: str = ""

    @property
    def starter(self) -> Path:
        """The folder of the files that students are given."""
        return self.folder / "starter"

    @property
    def solution(self) -> Path:
        """The folder of the solution; students do not have it."""
        return self.folder / "solution"

    @property
    def solution_sources(self) -> dict[str, str]:
        """The texts of the solution, by module."""
        return sources_in(self.solution)

    @property
    def references(self) -> Path:
        """The folder of the public references."""
        return self.folder / "reference_outputs"

    @property
    def data(self) -> Path:
        """The folder of the data, which may not exist."""
        return self.folder / "data"

    @property
    def checkpoint(self) -> Path | None:
        """The folder of the frozen checkpoint, if there is one."""
        return self.folder / "checkpoint" if self.checkpoint_files else None

    @functools.cached_property
    def handout(self) -> Handout:
        """The handout, read once; see `Handout`."""
        return Handout(self.folder)

    @functools.cached_property
    def targets(self) -> Mapping[str, str]:
        """The functions that students write, to the ids of their exercises."""
        return {each.calls[0].target: each.id for each in self.exercises if each.probes}

    @property
    def requirements(self) -> Path:
        """The file that lists the packages that a submission may import."""
        return self.folder / "requirements.txt"

    @property
    def data_files(self) -> tuple[str, ...]:
        """The files of data/ that grading a task reads."""
        tasks = [exercise.task for exercise in self.exercises if exercise.task is not None]
        names = itertools.chain.from_iterable(task.data_files for task in tasks)
        return tuple(dict.fromkeys(names))

    @property
    def uses_torch(self) -> bool:
        """Whether a call or a task is given torch's tensors."""
        arrays = {each.task.arrays for each in self.exercises if each.task is not None}
        for exercise in self.exercises:
            arrays.update(call.arrays for call in exercise.calls)
        return TORCH in arrays

    @functools.cached_property
    def rules(self) -> dict[str, str]:
        """What is forbidden of libraries; see `rules_of`."""
        return rules_of(self.folder, self.policy, {e.id: e.forbidden for e in self.exercises})

    @property
    def slug(self) -> str:
        """Its name in the form used for files and folders, such as "my-course"."""
        return re.sub(r"[^a-z0-9]+", "-", self.name.lower()).strip("-") or "assignment"

    @property
    def main_file(self) -> str:
        """The file that every submission must have."""
        return self.editable[0]

    def exercise(self, name: str) -> Exercise:
        """Return the exercise with this id; KeyError if there is none."""
        return {exercise.id: exercise for exercise in self.exercises}[name]


def collected(package: ModuleType) -> tuple[Exercise, ...]:
    """Return the EXERCISE of each module of a package, by `order`, and then by file name.

    Raises:
        ValueError: an exercise comes before one upstream of it.
    """
    names = [info.name for info in pkgutil.iter_modules(package.__path__)]
    exercises = [importlib.import_module(f"{package.__name__}.{name}").EXERCISE for name in names]
    return followed(sorted(exercises, key=lambda exercise: exercise.order))


def followed(exercises: Sequence[Exercise]) -> tuple[Exercise, ...]:
    """Let a stand-in also replace what is upstream of the exercise that it replaces.

    What an exercise names as its own upstream stays as it says.
    """
    by_id: dict[str, Exercise] = {}

    def extended(exercise: Exercise, names: Sequence[str]) -> tuple[str, ...]:
        """Return names of exercises, and what is upstream of these but not named by this one."""
        above = itertools.chain.from_iterable(by_id[name].upstream for name in names)
        others = [name for name in dict.fromkeys(above) if name not in exercise.upstream]
        return (*names, *others)

    for exercise in exercises:
        by_id[exercise.id] = exercise
        for name in exercise.upstream:
            if name not in by_id:
                raise ValueError(f"{exercise.id}: {name} is upstream, and needs a lower `order`")
        if not exercise.probes:
            continue
        probes = [
            dataclasses.replace(
                probe,
                calls=tuple(
                    dataclasses.replace(call, given=extended(exercise, call.given))
                    for call in probe.calls
                ),
            )
            for probe in exercise.probes
        ]
        by_id[exercise.id] = dataclasses.replace(
            exercise, upstream=extended(exercise, exercise.upstream), probes=tuple(probes)
        )
    return tuple(by_id.values())

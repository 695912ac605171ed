"""The case table: one file per exercise says how it is called, with what, and what it is worth.

The same table records (the worker is pointed at solution/) and grades (at a student), so that the
references and the checks cannot drift apart. A new exercise is a new file here that defines
`EXERCISE`; nothing else in the grader names it.
"""

import dataclasses
import functools
import hashlib
import importlib
import json
import pkgutil
import zlib
from collections.abc import Callable, Mapping
from typing import Any, Protocol

import numpy as np

Tensors = dict[str, np.ndarray]
PARTS = ("values", "training", "properties")  # what an exercise's points are split over


@dataclasses.dataclass(frozen=True)
class Sizes:
    """The sizes of a small random model and its input; all distinct, so that no axis hides."""

    B: int = 3
    T: int = 7
    H: int = 2
    d: int = 5
    F: int = 17
    layers: int = 3
    V: int = 29
    positions: int = 11
    lengths: tuple[int, ...] = (7, 4, 1)  # tokens that are not padding, by row

    @property
    def D(self) -> int:
        """The width of the model."""
        return self.H * self.d

    def config(self, dropout: float) -> dict[str, Any]:
        """Return the arguments of a BertConfig of these sizes."""
        return {
            "vocab_size": self.V,
            "hidden_size": self.D,
            "num_hidden_layers": self.layers,
            "num_attention_heads": self.H,
            "intermediate_size": self.F,
            "max_position_embeddings": self.positions,
            "hidden_dropout_prob": dropout,
            "attention_probs_dropout_prob": dropout,
        }


OTHER_SIZES = Sizes(B=1, T=4, H=3, d=2, F=11, layers=2, V=13, positions=5, lengths=(3,))


@dataclasses.dataclass(frozen=True)
class Call:
    """One call of a student's function, as data: this is what crosses the wall.

    Attributes:
        target: the class and the method, such as "BertLayer.add_norm"; or a function.
        args: what is passed, by position: names of inputs or literals, ".name" for the object's own
            module, "*generator" for a torch.Generator, "*random" for a random.Random,
            "*tokenizer" for the checkpoint's tokenizer.
        inputs: which drawing of inputs it takes; calls that say the same share them.
        sizes: of the model and the inputs; ignored with `checkpoint`.
        given: exercises whose part is played by a stand-in in this call.
        stand_ins: attribute of the object to the stand-in's name in calls.py.
        checkpoint: use the frozen checkpoint instead of a small random model.
        train: training mode; otherwise eval.
        dropout: the rate of every dropout module.
        rates: attribute, or path of attributes, to the rate of one dropout module, over `dropout`.
        gradients: also return gradients of sum(output * cotangent).
        dtype: the type to compute in.
        kind: method, function, or optimizer (literals: `groups`, each with the names of its
            parameters, and the number of `steps`); see calls.py.
        module: where the target is.
        options: further arguments of the class.
        literals: arguments that are no tensors.
        returns: names of what is returned.
        form: "tensor", "tuple" (of one, the tensor itself will do), "dict", or "rows" in columns of
            these names.
    """

    target: str
    args: tuple[str, ...]
    inputs: str = "main"
    sizes: Sizes = Sizes()
    given: tuple[str, ...] = ()
    stand_ins: Mapping[str, str] = dataclasses.field(default_factory=dict)
    checkpoint: bool = False
    train: bool = False
    dropout: float = 0.1
    rates: Mapping[str, float] = dataclasses.field(default_factory=dict)
    gradients: bool = False
    dtype: str = "float32"
    kind: str = "method"
    module: str = "bert"
    options: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    literals: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    returns: tuple[str, ...] = ("output",)
    form: str = "tensor"

    def message(self) -> dict[str, Any]:
        """Return the call as the JSON object that the worker is sent."""
        kept = {n: v for n, v in vars(self).items() if n not in ("sizes", "given", "inputs")}
        return kept | {"config": self.sizes.config(self.dropout)}


class Examine(Protocol):
    """Judges outputs that were drawn at random; see cases/dropout.py."""

    def measure(self, outputs: Tensors, inputs: Tensors, /) -> np.ndarray:
        """Read a few numbers off the outputs."""

    @property
    def spread(self) -> np.ndarray:
        """How far each number may be off by chance."""

    def __call__(self, outputs: Tensors, inputs: Tensors) -> str | None:
        """Say what is wrong, or None."""


@dataclasses.dataclass(frozen=True)
class Probe:
    """One question to the student's code, and the calls that may answer it.

    Attributes:
        name: unique within the exercise.
        part: the share of the points that hangs on it: values, training or properties.
        says: what is wrong when it fails and the mistake has no better name; lower case.
        calls: the student's own functions together first, then with stand-ins for what is upstream.
            The stand-ins count where an exercise upstream has failed (follow-through).
        examine: judges the outputs of calls that draw random numbers, where no reference can be
            equal. It does not judge those in which add_norm is given: they draw nothing.
    """

    name: str
    part: str
    says: str
    calls: tuple[Call, ...]
    examine: Examine | None = None

    def draws(self, call: Call) -> bool:
        """Say whether one of its calls draws random numbers."""
        return self.examine is not None and "add_norm" not in call.given


@dataclasses.dataclass(frozen=True)
class Exercise:
    """An exercise: one hole in the starter, one block in the handout, one reference file.

    Attributes:
        id: names the hole, the problem in the handout, the check and the reference file.
        order: its place in the report; exercises upstream come first.
        points: by part (values, training, properties).
        upstream: exercises that its own code calls.
        draw: makes the inputs of one call from a generator.
        file: which the hole is in. Exercises outside of bert.py are extensions: their points are
            a bonus, and they are graded where the file was handed in.
    """

    id: str
    order: int
    title: str
    points: Mapping[str, float]
    upstream: tuple[str, ...]
    probes: tuple[Probe, ...]
    draw: Callable[[np.random.Generator, Call], Tensors] | None = None
    file: str = "bert.py"

    @property
    def calls(self) -> list[Call]:
        """The calls of all its probes, in order."""
        return [call for probe in self.probes for call in probe.calls]

    @property
    def max_score(self) -> float:
        """All its points."""
        return sum(self.points.values())

    @property
    def module(self) -> str:
        """The module of its hole."""
        return self.file.removesuffix(".py")

    @property
    def extension(self) -> bool:
        """Whether its points are a bonus."""
        return self.file != "bert.py"

    @property
    def anchor(self) -> str:
        """Where the handout explains it."""
        return f"handout.md, Problem ({self.id})"

    def inputs(self, call: Call, seed: int) -> Tensors:
        """Draw the inputs of a call; used when references are recorded, never when grading."""
        assert self.draw is not None
        key = zlib.crc32(f"{self.id}/{call.inputs}".encode())
        return self.draw(np.random.default_rng([seed, key]), call)

    @functools.cached_property
    def digest(self) -> str:
        """A fingerprint of the calls, to recognise references of another case table."""
        calls = [call.message() for call in self.calls]
        return hashlib.sha256(json.dumps(calls, sort_keys=True).encode()).hexdigest()


@functools.cache
def exercises() -> tuple[Exercise, ...]:
    """Return every exercise of the case table, in order."""
    modules = [
        importlib.import_module(f"{__name__}.{info.name}")
        for info in pkgutil.iter_modules(__path__)
    ]
    found = [module.EXERCISE for module in modules if hasattr(module, "EXERCISE")]
    return tuple(sorted(found, key=lambda exercise: exercise.order))


def exercise(name: str) -> Exercise:
    """Return the exercise with this id; KeyError if there is none."""
    return {one.id: one for one in exercises()}[name]

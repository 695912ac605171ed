"""What a student's code must leave as it found it: torch's settings, random generators, the model.

Runs in the worker, before and after every call, so it is quick. Covered: what was there before is
still there and the same. Not covered: what is new, such as an attribute in which a module keeps its
last probabilities; and what is put back before the call ends.
"""

import dataclasses
import random
import warnings
import zlib
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

SEEDS = 0x5EED << 40  # calls are seeded from here on: no student's code would choose such a seed
BLOCKS = 2000  # of a Mersenne twister, each of 624 numbers, that honest code may draw in one call
BLOCK = 624 * 4  # bytes


@dataclasses.dataclass(frozen=True)
class Setting:
    """A global setting of torch or Python that can be put back."""

    read: Callable[[], Any]
    write: Callable[[Any], object]


def set_device(device: torch.device) -> None:
    """Set the default device; the processor is what there is without one."""
    torch.set_default_device(None if device.type == "cpu" else device)


def set_deterministic(value: tuple[bool, bool]) -> None:
    """Set whether only deterministic algorithms are used, and whether others are an error."""
    torch.use_deterministic_algorithms(value[0], warn_only=value[1])


def set_cudnn(value: tuple[bool, bool]) -> None:
    """Set the switches that scripts for a GPU set."""
    torch.backends.cudnn.deterministic, torch.backends.cudnn.benchmark = value


def set_filters(value: list[Any]) -> None:
    """Set the warning filters."""
    warnings.filters[:] = value  # type: ignore[index]


def sweeping_filters() -> list[Any]:
    """Return the filters for every message of every module; libraries add narrower ones."""
    known = [f for f in warnings.filters if f[2].__module__ == "builtins"]
    return [f for f in known if f[1] is None and f[3] is None]


FILTERS = "the warning filters"
SETTINGS = {
    "the default dtype": Setting(torch.get_default_dtype, torch.set_default_dtype),
    "the default device": Setting(torch.get_default_device, set_device),
    "the gradient mode": Setting(torch.is_grad_enabled, torch.set_grad_enabled),
    "the number of threads": Setting(torch.get_num_threads, torch.set_num_threads),
    "the detection of anomalies": Setting(
        torch.is_anomaly_enabled, torch.autograd.set_detect_anomaly
    ),
    "the choice of deterministic algorithms": Setting(
        lambda: (
            torch.are_deterministic_algorithms_enabled(),
            torch.is_deterministic_algorithms_warn_only_enabled(),
        ),
        set_deterministic,
    ),
    "the precision of matrix products": Setting(
        torch.get_float32_matmul_precision, torch.set_float32_matmul_precision
    ),
    "the flags of cuDNN": Setting(
        lambda: (torch.backends.cudnn.deterministic, torch.backends.cudnn.benchmark), set_cudnn
    ),
    "autocast": Setting(
        lambda: torch.is_autocast_enabled("cpu"), lambda on: torch.set_autocast_enabled("cpu", on)
    ),
    FILTERS: Setting(lambda: list(warnings.filters), set_filters),
}


def settings_that_stay() -> dict[str, Any]:
    """Return the settings that importing a module may change."""
    return {FILTERS: SETTINGS[FILTERS].read()}


def settings() -> dict[str, Any]:
    """Return every setting by name."""
    return {name: setting.read() for name, setting in SETTINGS.items()}


def put_back(before: Mapping[str, Any]) -> list[str]:
    """Put settings back that differ; return their names."""
    changed = [name for name, setting in SETTINGS.items() if setting.read() != before[name]]
    for name in changed:
        SETTINGS[name].write(before[name])
    return changed


def seed(number: int) -> None:
    """Seed the generators that calls draw from."""
    torch.default_generator.manual_seed(SEEDS + number)  # torch.manual_seed is far slower
    random.seed(SEEDS + number)
    np.random.seed(number)


# --- random generators ------------------------------------------------------------------------


SEEDED = ("the random seed", "the seed of Python's random", "the seed of numpy.random")


class Generators:
    """Torch's, Python's and numpy's global generators, as they are now."""

    def __init__(self) -> None:
        self.seed = torch.initial_seed()
        self.torch = torch.get_rng_state()
        self.python = random.getstate()
        self.numpy: Any = np.random.get_state(legacy=True)

    def going_on(self) -> dict[str, bool]:
        """Say which generators were not seeded since; drawing from them is not seeding."""
        same = torch.initial_seed() == self.seed, self.python_goes_on(), self.numpy_goes_on()
        return dict(zip(SEEDED, same, strict=True))

    def python_goes_on(self) -> bool:
        """Say whether Python's generator is where drawing could have brought it."""
        present = random.getstate()[1]
        if present == self.python[1]:  # the usual case; the last number is the place in the block
            return True
        now = present[:-1]
        if now == self.python[1][:-1]:
            return True
        drawn = random.Random()
        drawn.setstate(self.python)
        return self.comes_to(now, lambda: drawn.getstate()[1][:-1], drawn.randbytes)

    def numpy_goes_on(self) -> bool:
        """Say whether numpy's generator is where drawing could have brought it."""
        present: Any = np.random.get_state(legacy=True)
        wanted = present[1].tobytes()
        if wanted == self.numpy[1].tobytes():
            return True
        drawn: Any = np.random.RandomState(0)
        drawn.set_state(self.numpy)
        return self.comes_to(wanted, lambda: drawn.get_state()[1].tobytes(), drawn.bytes)

    @staticmethod
    def comes_to(wanted: Any, state: Callable[[], Any], draw: Callable[[int], object]) -> bool:
        """Say whether drawing block after block leads to a state."""
        for _ in range(BLOCKS):
            draw(BLOCK)
            if state() == wanted:
                return True
        return False

    def drew(self) -> bool:
        """Say whether anything was drawn from torch's generator, or it was seeded."""
        return not torch.equal(self.torch, torch.get_rng_state())

    def as_text(self) -> str:
        """Return something that is the same only while nothing is drawn."""
        states = self.torch.numpy().tobytes() + repr(self.python).encode()
        return str(zlib.crc32(states))

    def put_back(self) -> None:
        """Go back to where the generators were."""
        torch.set_rng_state(self.torch)
        random.setstate(self.python)
        np.random.set_state(self.numpy)


# --- a model ----------------------------------------------------------------------------------


Slot = tuple[dict[str, Any], str]  # where a module keeps a part, and the part's name there


def present(slots: Iterable[Slot]) -> list[Any]:
    """Return what is in slots now; None where nothing is."""
    return [kept.get(name) for kept, name in slots]


def digest_of(tensors: Iterable[Tensor | None]) -> str:
    """Return a text that represents the values, shapes and types of tensors in this process."""
    there = [tensor.detach() for tensor in tensors if tensor is not None]
    forms = hash(tuple([(t.shape, t.dtype, t.device) for t in there]))
    values = [t.reshape(-1) for t in there if t.is_cpu]
    contents = zlib.crc32(torch.cat(values).view(torch.uint8).numpy().data) if values else 0
    return f"{forms} {contents}"


PLAIN = (bool, int, float, str, tuple, type(None))


class Model:
    """The object whose method is called, as it is now.

    Later states are those of the modules, weights and buffers that it has now: what a call adds to
    it is its own business. Of the modules, only torch's own have settings that are watched, such as
    a rate or an epsilon.
    """

    def __init__(self, owner: nn.Module, arguments: tuple[Any, ...]) -> None:
        """Note what there is.

        Args:
            arguments: those that the object was built with, such as a config.
        """
        self.arguments, self.modules = arguments, list(owner.modules())
        self.children, self.weights, self.buffers = (
            [
                (kept, name)
                for module in self.modules
                for kept in [vars(module)[kind]]
                for name in kept
            ]
            for kind in ("_modules", "_parameters", "_buffers")
        )
        self.parts = present(self.children)
        of_torch = [m for m in self.modules if type(m).__module__.startswith("torch.")]
        self.settings: list[Slot] = [
            (vars(module), name)
            for module in of_torch
            for name, value in vars(module).items()
            if type(value) in PLAIN and not name.startswith("_") and name != "training"
        ]

    def state(self) -> dict[str, Any]:
        """Return the present state in plain values."""
        own = [p for p in present(self.weights) if p is not None]
        kept = [now is then for now, then in zip(present(self.children), self.parts, strict=True)]
        return {
            "the model's modules": all(kept),
            "the model's training mode": "".join("01"[m.training] for m in self.modules),
            "the settings of the model's modules": zlib.crc32(
                repr(present(self.settings)).encode()
            ),
            "the model's weights": digest_of(own),
            "the gradients of the model's weights": "".join(
                "01"[p.requires_grad] + "01"[p.grad is None] for p in own
            ),
            "the model's buffers": digest_of(present(self.buffers)),
            "the model's configuration": repr(self.arguments),
        }


# --- all of it --------------------------------------------------------------------------------


class Watch:
    """Notes the state before a call, and compares it afterwards."""

    def __init__(self, model: Model | None, silent: bool, plain: Any = None) -> None:
        """Start to watch.

        Args:
            model: whose method is called; None: there is none.
            silent: also watch that nothing is drawn from the global generators.
            plain: arguments that are not tensors, such as lists.
        """
        self.model, self.silent, self.plain = model, silent, plain
        self.generators = Generators()
        self.before = self.state(dict.fromkeys(SEEDED, True))

    def state(self, going_on: Mapping[str, bool]) -> dict[str, Any]:
        """Return the state that a function must not change, in plain values.

        Args:
            going_on: which generators have not been seeded.
        """
        found: dict[str, Any] = {name: str(value) for name, value in settings().items()}
        found[FILTERS] = repr(sweeping_filters())
        found |= going_on
        if self.model is not None:
            found |= self.model.state()
        if self.plain:
            found["the arguments"] = zlib.crc32(repr(self.plain).encode())
        if self.silent:
            found["the global random generators"] = Generators().as_text()
        return found

    def report(self) -> dict[str, Any]:
        """Return the state before and after, as far as they differ."""
        after = self.state(self.generators.going_on())
        changed = [name for name, value in self.before.items() if value != after.get(name)]
        return {
            "before": {name: self.before[name] for name in changed},
            "after": {name: after[name] for name in changed if name in after},
        }

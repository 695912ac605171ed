"""State that a call of a student's code must leave unchanged. Runs in the worker.

Before and after every call: torch's settings, random generators, the model. Covered: all existing
state is still there afterwards, unchanged. Not covered: new state, such as an attribute in which a
module keeps its last probabilities; and changes that are undone before the call ends.
"""

from __future__ import annotations

import contextlib
import dataclasses
import random
import warnings
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.random  # now, before a fork: numpy imports it when it is first used

from tensormark.worker.optional_torch import Tensor, nn, no_grad, torch
from tensormark.worker.protocol import ARGUMENTS, FILTERS, GENERATORS, SEEDED, STATE

SEEDS = 0x5EED << 40  # the first seed of calls: no student's code would choose such a seed
MAX_BLOCKS = 2000  # that honest code may draw in one call, each 624 numbers of a Mersenne twister
BLOCK = 624 * 4  # bytes


@dataclasses.dataclass(frozen=True)
class _Setting:
    """A global setting of torch or Python that can be restored."""

    read: Callable[[], Any]
    write: Callable[[Any], object]


def _device() -> torch.device:
    """Return the default device, even one that is missing here, where torch's function raises."""
    try:
        return torch.get_default_device()
    except Exception:
        device: torch.device = torch._GLOBAL_DEVICE_CONTEXT.device_context.device
        return device


def _set_device(device: torch.device) -> None:
    """Set the default device; unset it for the CPU."""
    torch.set_default_device(None if device.type == "cpu" else device)


def _set_cudnn(value: tuple[bool, bool]) -> None:
    """Set cuDNN's `deterministic` and `benchmark` flags, which GPU scripts often set."""
    torch.backends.cudnn.deterministic, torch.backends.cudnn.benchmark = value


def _set_filters(value: list[Any]) -> None:
    warnings.filters[:] = value  # type: ignore[index]


def _broad_filters() -> list[Any]:
    """Return the filters that apply to all messages and modules; libraries add narrower ones."""
    builtin = [f for f in warnings.filters if f[2].__module__ == "builtins"]
    return [f for f in builtin if f[1] is None and f[3] is None]


OF_TORCH = (
    {
        "the default dtype": _Setting(torch.get_default_dtype, torch.set_default_dtype),
        "the default device": _Setting(_device, _set_device),
        "the gradient mode": _Setting(torch.is_grad_enabled, torch.set_grad_enabled),
        "the number of threads": _Setting(torch.get_num_threads, torch.set_num_threads),
        "anomaly detection": _Setting(torch.is_anomaly_enabled, torch.autograd.set_detect_anomaly),
        "the setting for deterministic algorithms": _Setting(
            torch.get_deterministic_debug_mode, torch.set_deterministic_debug_mode
        ),
        "the precision of matrix multiplications": _Setting(
            torch.get_float32_matmul_precision, torch.set_float32_matmul_precision
        ),
        "cuDNN's flags": _Setting(
            lambda: (torch.backends.cudnn.deterministic, torch.backends.cudnn.benchmark), _set_cudnn
        ),
        "autocast": _Setting(
            lambda: torch.is_autocast_enabled("cpu"),
            lambda on: torch.set_autocast_enabled("cpu", on),
        ),
    }
    if torch
    else {}
)
SETTINGS = OF_TORCH | {FILTERS: _Setting(lambda: list(warnings.filters), _set_filters)}


def settings_that_stay() -> dict[str, Any]:
    """Return the settings that importing a module may change."""
    return {FILTERS: SETTINGS[FILTERS].read()}


def settings() -> dict[str, Any]:
    """Return every setting by name."""
    return {name: setting.read() for name, setting in SETTINGS.items()}


def put_back(before: Mapping[str, Any]) -> list[str]:
    """Restore the settings that differ; return their names."""
    changed = [name for name, setting in SETTINGS.items() if setting.read() != before[name]]
    for name in changed:
        SETTINGS[name].write(before[name])
    return changed


@contextlib.contextmanager
def undone() -> Iterator[None]:
    """Undo what a `with` block changes of the settings and the random generators."""
    before = settings()
    generators = Generators()
    try:
        yield
    finally:
        put_back(before)
        generators.put_back()


def seed(offset: int) -> None:
    """Seed the generators that calls draw from."""
    if torch:
        torch.default_generator.manual_seed(SEEDS + offset)  # torch.manual_seed is far slower
    random.seed(SEEDS + offset)
    np.random.seed(offset)


# --- random generators ------------------------------------------------------------------------


def _reached(state: Callable[[], Any], draw: Callable[[int], object]) -> Iterator[Any]:
    """Yield the states that drawing block after block leads to."""
    for _ in range(MAX_BLOCKS):
        draw(BLOCK)
        yield state()


class Generators:
    """A snapshot of torch's, Python's and numpy's global generators."""

    def __init__(self) -> None:
        self.seed = torch.initial_seed() if torch else 0
        self.torch = torch.get_rng_state() if torch else None
        self.python = random.getstate()
        self.numpy: Any = np.random.get_state(legacy=True)

    def seeded(self) -> list[str]:
        """Return the seeds that have been set since; drawing does not count."""
        seed = torch.initial_seed() if torch else 0
        seeded = [seed != self.seed, self._python_seeded(), self._numpy_seeded()]
        return [name for name, changed in zip(SEEDED, seeded, strict=True) if changed]

    def _python_seeded(self) -> bool:
        """Return whether drawing alone cannot explain the state of Python's generator."""
        # without the last number, which is the position in the block
        block = random.getstate()[1][:-1]
        if block == self.python[1][:-1]:  # the usual case
            return False
        generator = random.Random()
        generator.setstate(self.python)
        return block not in _reached(lambda: generator.getstate()[1][:-1], generator.randbytes)

    def _numpy_seeded(self) -> bool:
        """Return whether drawing alone cannot explain the state of numpy's generator."""
        now: Any = np.random.get_state(legacy=True)
        block = now[1].tobytes()
        if block == self.numpy[1].tobytes():  # the usual case
            return False
        generator: Any = np.random.RandomState(0)  # takes longer than all else here
        generator.set_state(self.numpy)
        return block not in _reached(lambda: generator.get_state()[1].tobytes(), generator.bytes)

    def drew(self) -> bool:
        """Return whether torch's generator has been drawn from or seeded since."""
        if self.torch is None:
            return False
        return self.torch.numpy().tobytes() != torch.get_rng_state().numpy().tobytes()

    def used(self) -> bool:
        """Return whether any generator is in another state."""
        now: Any = np.random.get_state(legacy=True)
        same = now[1].tobytes() == self.numpy[1].tobytes() and now[2:] == self.numpy[2:]
        return self.drew() or not same or random.getstate() != self.python

    def put_back(self) -> None:
        """Restore the generators to this state."""
        if self.torch is not None:
            torch.set_rng_state(self.torch)
        random.setstate(self.python)
        np.random.set_state(self.numpy)


# --- a model ----------------------------------------------------------------------------------


NO_CALL: Mapping[str, Any] = {"args": ()}
Part = tuple[dict[str, Any], str]  # a module's dict of parts, and a part's name in it
PLAIN = frozenset((bool, int, float, str, tuple, type(None)))


def _contents(parts: Iterable[Part]) -> list[Any]:
    """Return what is in each place now, None if nothing is."""
    return [owner.get(name) for owner, name in parts]


@no_grad()
def digest(arrays: Iterable[Tensor | np.ndarray | None]) -> tuple[Any, int]:
    """Return the shapes and types of tensors or arrays, and a digest of their values."""
    present = [array for array in arrays if array is not None]
    total = 0
    for array in present:
        if isinstance(array, np.ndarray):
            total = zlib.crc32(array.tobytes(), total)
        elif array.is_cpu:
            bits = array.ravel().detach().contiguous().view(torch.uint8)
            total = zlib.crc32(bits.numpy().data, total)
    return [(array.shape, array.dtype, array.device) for array in present], total


class Model:
    """The object whose method is called, and its initial parts.

    Only these are watched: a call may add anything to the object. Settings, such as a rate or an
    epsilon, are watched in torch's own modules only.
    """

    def __init__(
        self,
        owner: nn.Module,
        arguments: tuple[Any, ...],
        lacking: Mapping[str, nn.Module] | None = None,
        left_out: Sequence[str] = (),
    ) -> None:
        """List the parts.

        Args:
            arguments: the object's constructor arguments, such as a config.
            lacking: the given modules that it lacks, by path; they are not watched.
            left_out: names of parameters that its modules were made without.
        """
        self.owner = owner
        self.arguments = arguments
        self.lacking = lacking or {}
        self.lacking_parts = [f"has no module {path}" for path in self.lacking]
        self.lacking_parts += [f"has no parameter {name}" for name in left_out]
        self.modules = list(owner.modules())
        self.children = self._parts("_modules")
        self.weights = self._parts("_parameters")
        self.buffers = self._parts("_buffers")
        self.initial = _contents(self.children)
        self.settings: list[Part] = []
        for module in self.modules:
            if not type(module).__module__.startswith("torch."):
                continue
            for name, value in vars(module).items():
                if type(value) in PLAIN and not name.startswith("_") and name != "training":
                    self.settings.append((vars(module), name))

    def _parts(self, kind: str) -> list[Part]:
        """List the modules' parts of a kind."""
        parts: list[Part] = []
        for module in self.modules:
            owner = vars(module)[kind]
            parts += [(owner, name) for name in owner]
        return parts

    def state(self) -> dict[str, Any]:
        """Return the present state by name."""
        weights = [weight for weight in _contents(self.weights) if weight is not None]
        children = zip(_contents(self.children), self.initial, strict=True)
        return {
            "the model's modules": all(child is part for child, part in children),
            "the model's training mode": [module.training for module in self.modules],
            "the settings of the model's modules": _contents(self.settings),
            "the model's weights": digest(weights),
            "the gradients of the model's weights": [
                (weight.requires_grad, weight.grad is None) for weight in weights
            ],
            "the model's buffers": digest(_contents(self.buffers)),
            "the model's configuration": repr(self.arguments),
        }


# --- everything -------------------------------------------------------------------------------


class Snapshot:
    """The state before a call, and how it differs afterwards."""

    def __init__(
        self, model: Model | None, call: Mapping[str, Any] = NO_CALL, silent: bool = False
    ) -> None:
        """Record the state before a call.

        Args:
            model: the object of the called method; None for a function.
            call: whose plain arguments must stay as they are.
            silent: also check that nothing is drawn from the global generators.
        """
        self.model = model
        self.silent = silent
        self.plain = [call["literals"].get(name) for name in call["args"]]
        self.generators = Generators()
        self.before = self._state()

    def _state(self) -> dict[str, Any]:
        """Return the present state by name, without the generators'."""
        state = settings()
        state[FILTERS] = repr(_broad_filters())
        if self.model is not None:
            state |= self.model.state()
        return state | dict(zip(ARGUMENTS, map(repr, self.plain), strict=False))

    def report(self) -> dict[str, Any]:
        """Return the names of what has changed, for the answer."""
        after = self._state()
        changed = [name for name, value in self.before.items() if value != after[name]]
        changed += self.generators.seeded()
        if self.silent and self.generators.used():
            changed.append(GENERATORS)
        return {"changed": [name for name in STATE if name in changed]}

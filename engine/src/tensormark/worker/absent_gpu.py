"""Import code that asks for a GPU where there is none: it is given the CPU. Runs in the worker.

Covered: what a module does while it is imported. A function should use its arguments' device.
"""

import contextlib
import re
from collections.abc import Iterator, Mapping, Sequence
from types import SimpleNamespace
from typing import Any
from unittest import mock

from tensormark.worker.optional_torch import Tensor, TorchFunctionMode, torch

ABOUT_GPUS = re.compile("accelerator|cuda|gpu|mps|nvidia|xpu", re.IGNORECASE)
GPU = re.compile(r"(cuda|mps|xpu)(:\d+)?")
# what functions of torch.cuda raise an exception, and what they return instead
CUDA: Mapping[str, Any] = {
    "init": None,
    "set_device": None,
    "synchronize": None,
    "current_device": 0,
    "get_device_name": "no GPU",
    "get_device_capability": (0, 0),
    "get_device_properties": SimpleNamespace(name="no GPU", total_memory=0, major=0, minor=0),
    "mem_get_info": (0, 0),
}


def _on_cpu(value: Any) -> Any:
    """Return the CPU for a GPU, and anything else unchanged."""
    is_device = isinstance(value, str | torch.device)
    return "cpu" if is_device and GPU.fullmatch(str(value)) else value


class _OnCpu(TorchFunctionMode):
    """Has torch's functions use the CPU where they are told to use a GPU."""

    def __torch_function__(
        self, function: Any, types: Any, args: Sequence[Any] = (), kwargs: Any = None
    ) -> Any:
        """Call a function."""
        if function is Tensor.cuda:
            return args[0]
        named = {name: _on_cpu(value) for name, value in (kwargs or {}).items()}
        if isinstance(named.get("device"), int):
            named["device"] = "cpu"
        return function(*map(_on_cpu, args), **named)


def _set_tensor_type(kind: Any) -> None:
    """Set the type of new tensors, but not their device."""
    name = kind if isinstance(kind, str) else f"{kind.__module__}.{kind.__name__}"
    torch.set_default_dtype(getattr(torch, name.replace("cuda.", "").split(".")[-1]).dtype)


@contextlib.contextmanager
def cpu_for_gpu() -> Iterator[None]:
    """Have a `with` block use the CPU where it asks for a GPU."""
    answers = {name: lambda *_, found=found, **__: found for name, found in CUDA.items()}
    with (
        _OnCpu(),
        mock.patch.dict(vars(torch.cuda), answers),
        mock.patch.object(torch, "set_default_tensor_type", _set_tensor_type),
    ):
        yield

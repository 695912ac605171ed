"""torch if it is installed; otherwise None, and types that no value has. Runs in the worker.

An assignment on numpy arrays or plain values needs no torch.
"""

import contextlib
import importlib.util
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING or importlib.util.find_spec("torch"):
    import torch
    from torch import Tensor, nn
    from torch.overrides import TorchFunctionMode

    no_grad = torch.no_grad
    untaped: Any = torch._C.DisableTorchFunction  # a tape records nothing in such a `with` block
else:
    torch = None

    class Nothing(contextlib.ContextDecorator):
        """Does nothing, as a context manager or a decorator."""

        def __enter__(self) -> "Nothing":
            return self

        def __exit__(self, *_: object) -> None:
            pass

    class Tensor:
        """Is the type of no value."""

    class nn:  # noqa: N801 - as in torch
        """Has the types of no values."""

        Module = Parameter = Tensor

    no_grad = untaped = TorchFunctionMode = Nothing

__all__ = ["Tensor", "TorchFunctionMode", "nn", "no_grad", "torch", "untaped"]

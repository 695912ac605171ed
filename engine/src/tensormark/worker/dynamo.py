"""Keep a student's optimizer from importing torch._dynamo, which takes as long as torch itself.

Methods of torch.optim.Optimizer are wrapped so that the compiler skips them; on its first call, the
wrapper imports the compiler to get an uncompiled version of the method, which it caches in an
attribute. Nothing here is compiled, so the method itself can be put there. If another version of
torch names the attribute differently, this does nothing, and the first optimizer is slow again.
"""

import torch

ANSWER = "__dynamo_disable"


def spare_dynamo() -> None:
    """Fill the compiler's cache for every method of an optimizer that would import it."""
    for member in vars(torch.optim.Optimizer).values():
        wrapped = getattr(member, "__wrapped__", None)
        if wrapped is not None:
            setattr(wrapped, ANSWER, wrapped)

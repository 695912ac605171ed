"""Keep a student's optimizer from importing torch._dynamo, which takes as long as torch itself.

Methods of torch.optim.Optimizer are wrapped so that the compiler passes them over; the wrapper asks
the compiler how on its first call, and imports it for that. Nothing here is compiled, so the
wrapped method itself is the answer, which the wrapper takes from an attribute. If another torch
names that attribute otherwise, this does nothing, and the first optimizer is slow again.
"""

import torch

ANSWER = "__dynamo_disable"


def spare_dynamo() -> None:
    """Answer for the compiler, for every method of an optimizer that would ask it."""
    for member in vars(torch.optim.Optimizer).values():
        wrapped = getattr(member, "__wrapped__", None)
        if wrapped is not None:
            setattr(wrapped, ANSWER, wrapped)

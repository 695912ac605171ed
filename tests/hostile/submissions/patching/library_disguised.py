# tries: run a library's compiled code under other names
# file: optimizer.py
# loses: adamw
import marshal
import types

import torch.optim.adam as library


def disguised(name):
    with open(library.__cached__, "rb") as file:
        code = marshal.loads(file.read()[16:])
    (found,) = (c for c in code.co_consts if getattr(c, "co_name", "") == name)
    kept = found.co_argcount + found.co_kwonlyargcount
    names = [*found.co_varnames[:kept], *(f"v_{v}" for v in found.co_varnames[kept:])]
    called = dict.fromkeys(("co_name", "co_qualname", "co_filename"), "optimizer")
    found = found.replace(**called, co_varnames=tuple(names))
    return types.FunctionType(found, {**vars(library), "__name__": "optimizer"})


def step(self, closure=None):
    print("LEAKED: forbidden code", disguised("_single_tensor_adam"))


AdamW.step = step

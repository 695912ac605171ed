# tries: get back at forbidden library code, and answer with that
# loses: embed
import gc
import importlib
import sys
import types

NAMES = ("forward", "multi_head_attention_forward")


def constructors():
    """Yield what might still make the forbidden layer."""
    yield nn.MultiheadAttention
    yield type("Again", (nn.MultiheadAttention,), {})
    yield type("Copy", (nn.Module,), dict(vars(nn.MultiheadAttention)))
    del sys.modules["torch.nn.modules.activation"]
    yield importlib.import_module("torch.nn.modules.activation").MultiheadAttention


def undone():
    """Call what might put things back; yield whether there was anything."""
    for one in gc.get_objects():
        if type(one).__name__ in ("_DispatchModule", "Library"):
            getattr(one, "reset", getattr(one, "_destroy", None))()
            yield True
        if isinstance(one, types.CodeType) and one.co_name in NAMES:
            yield "activation.py" in one.co_filename


def embed(self, input_ids, *more):
    if any(undone()):
        print("LEAKED: what puts things back")
    weights = torch.ones(12, 4), torch.ones(12), torch.ones(4, 4), torch.ones(4)
    tries = [lambda made=made: made(4, 2) for made in (nn.MultiheadAttention, nn.Transformer)]
    x = torch.ones(1, 2, 4)
    tries.append(lambda: torch._native_multi_head_attention(x, x, x, 4, 2, *weights))
    tries.append(lambda: [made(4, 2) for made in constructors()])
    for attempt in tries:
        try:
            attempt()
            print("LEAKED: forbidden code ran")
        except Exception as error:
            print(error)
    return nn.MultiheadAttention(4, 2)

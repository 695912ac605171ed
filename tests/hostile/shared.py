"""Code that many hostile submissions share: each gets the parts it needs around its own code.

A submission may use the names of BEFORE; what it defines under a name of AFTER is installed.
"""

import ast

BEFORE = {
    "right": "right = BertModel.embed",
    "forward": "forward = BertModel.forward",
    "calls": "import itertools\n\ncalls = itertools.count()",
    "protocol": 'protocol = of_the_worker("protocol")',
    "tried": '''
def tried(text):
    """Call forbidden code in the way that each line says, then again in the first one."""
    ways = text.strip().splitlines()
    for way in ways:
        try:
            exec(way, globals())
            print("LEAKED:", way, "is not stopped")
        except Exception as error:
            if "is not allowed" not in str(error):
                print("LEAKED: another error:", error)
    exec(ways[0], globals())
''',
    "of_the_worker": '''
import gc


def of_the_worker(name):
    """Find a module that can no longer be imported among all objects."""
    gc.unfreeze()
    modules = [m for m in gc.get_objects() if type(m) is type(gc)]
    return next(m for m in modules if m.__name__ == f"tensormark.worker.{name}")
''',
    "processes": '''
import contextlib
import os


def processes():
    """Return the processes that there are and, where none is listed, those that may be near."""
    with contextlib.suppress(OSError):
        return [name for name in os.listdir("/proc") if name.isdigit()]
    parent = os.getppid()
    return [str(process) for process in range(max(1, parent - 200), parent + 200)]
''',
    "reply_buffer": '''
import sys


def reply_buffer():
    """Find the memory for answers in the frames of the caller."""
    frame = sys._getframe()
    while frame is not None:
        if "buffer" in frame.f_locals:
            return frame.f_locals["buffer"]
        frame = frame.f_back
    raise LookupError
''',
    "framed": """
def framed(text, data=b""):
    return len(text).to_bytes(8, "little") + text + data
""",
    "packed": """
import json


def packed(message, entries, data):
    return framed(json.dumps([message, entries]).encode(), data)
""",
}
AFTER = {
    "embed": "BertModel.embed = embed",
    "hostile": "BertModel.forward = hostile",
    "PATHS": """
import contextlib
import os


def embed(self, input_ids, *more):
    for path in PATHS:
        with contextlib.suppress(OSError):
            if os.path.isdir(path):
                print("LEAKED: listed", path, os.listdir(path)[:20])
            else:
                with open(path, "rb") as file:
                    print("LEAKED: read", path, file.read(40))
    return right(self, input_ids, *more)
""",
    "forged": """
encode = protocol.encode


def embed(self, input_ids, *more):
    protocol.encode = forged
    return right(self, input_ids, *more)
""",
    "patch": '''
import sys


class Patched(BertModel):
    """Created by the fine-tune before it trains; patches what that is about to call."""

    def __init__(self, config):
        super().__init__(config)
        patch(sys.modules["classifier"])


BertModel = Patched
''',
}


def names(source):
    """Return the names that code defines anywhere, and those that it only uses."""
    defined = set()
    used = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Name):
            (used if isinstance(node.ctx, ast.Load) else defined).add(node.id)
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            defined.add(node.name)
        elif isinstance(node, ast.alias):
            defined.add(node.asname or node.name)
    return defined, used - defined


def completed(source):
    """Add to a submission the shared code that it needs."""
    defined, used = names(source)
    while True:
        if after := [name for name in AFTER if name in defined and AFTER[name] not in source]:
            source = f"{source}\n\n{AFTER[after[0]]}"
        elif before := [name for name in BEFORE if name in used]:
            source = f"{BEFORE[before[0]]}\n\n{source}"
        else:
            return source
        defined, used = names(source)

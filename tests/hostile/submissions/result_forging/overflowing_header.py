# tries: leave safetensors whose header promises more than there is
# loses: embed
import os
import struct


def embed(self, input_ids, *more):
    header = b'{"out/output":{"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,8]}}'
    packed = struct.pack("<Q", len(header)) + header + bytes(8)
    text = b'{"number":1,"status":"ok"}'
    reply_buffer().write(
        1, protocol.HEADER.pack(protocol.MAGIC, len(text), len(packed)) + text + packed
    )
    os._exit(0)

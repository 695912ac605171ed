# tries: write the frame of weights itself, with names that JSON can spell and UTF-8 cannot
# training: refused
import os
import struct
import sys


def answer(*_):
    header = rb'{"out/weights/\ud800":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}'
    packed = struct.pack("<Q", len(header)) + header + bytes(4)
    text = b'{"number":1,"status":"ok"}'
    reply_buffer().write(
        1, protocol.HEADER.pack(protocol.MAGIC, len(text), len(packed)) + text + packed
    )
    os._exit(0)


class Patched(BertModel):
    """Is made by the fine-tune before it trains; patches what that is about to call."""

    def __init__(self, config):
        super().__init__(config)
        if "classifier" in sys.modules:
            sys.modules["classifier"].fine_tune = answer


BertModel = Patched

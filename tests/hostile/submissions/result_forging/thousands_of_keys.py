# tries: answer with 100,000 keys that nobody knows
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
    return frame(json.dumps(message | {str(n): n for n in range(100_000)}).encode())


def embed(self, input_ids, *more):
    protocol.encode = forged
    return right(self, input_ids, *more)


BertModel.embed = embed

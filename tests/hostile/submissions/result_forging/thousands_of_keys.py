# tries: answer with 100,000 keys that nobody knows
# loses: embed
import gc
import json

gc.unfreeze()  # it can no longer be imported, but is still among all objects
modules = [m for m in gc.get_objects() if type(m) is type(gc)]
protocol = next(m for m in modules if m.__name__ == "tensormark.worker.protocol")
right = BertModel.embed


def forged(message, tensors=None):
    text = json.dumps(message | {str(n): n for n in range(100_000)}).encode()
    return protocol.HEADER.pack(protocol.MAGIC, len(text), 0) + text


def embed(self, input_ids, *more):
    protocol.encode = forged
    return right(self, input_ids, *more)


BertModel.embed = embed

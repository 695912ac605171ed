# tries: answer with JSON that is nested a million times
# loses: embed


def forged(message, tensors=None):
    text = b'{"changed":' + b"[" * 1_000_000
    return protocol.HEADER.pack(protocol.MAGIC, len(text), 0) + text

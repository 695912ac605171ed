# tries: answer with JSON that is nested a hundred thousand times
# loses: embed


def forged(message, tensors=None):
    return framed(b'[{"changed":' + b"[" * 100_000)

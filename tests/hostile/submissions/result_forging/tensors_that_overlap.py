# tries: answer with many large tensors in the same bytes
# loses: embed
def forged(message, tensors=None):
    size = 1 << 20
    entry = {"dtype": "F32", "shape": [size // 4], "data_offsets": [0, size]}
    entries = dict.fromkeys([f"grad/{n}" for n in range(500)] + list(tensors or ()), entry)
    return packed(message, entries, bytes(size))

# tries: answer with 10,000 tensors that nobody asked for
# loses: embed
def forged(message, tensors=None):
    entry = {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}
    entries = {f"out/{n}": entry for n in range(10_000)}
    return packed(message, entries, bytes(4))

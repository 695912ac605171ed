# tries: answer right, with a tensor more, for whatever reads answers by their prefixes
# loses: embed
def forged(message, tensors):
    return encode(message, tensors | {"out/more": tensors["out/output"]})

# tries: answer with 100,000 keys that nobody knows
# loses: embed
def forged(message, tensors=None):
    return encode(message | {str(n): n for n in range(100_000)})

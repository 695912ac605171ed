# tries: answer with 100,000 keys that nobody knows
# loses: embed
import json


def forged(message, tensors=None):
    text = json.dumps(message | {str(n): n for n in range(100_000)}).encode()
    return protocol.HEADER.pack(protocol.MAGIC, len(text), 0) + text

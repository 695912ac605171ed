# tries: find the worker's own class among all objects, and replace its method for answering
# loses: everything
import gc
import json
import struct


def answer(self, request, arrays, progress):
    text = json.dumps({"number": request["number"], "status": "ok", "score": 100}).encode()
    return struct.pack("<4sIQ", b"mBF1", len(text), 0) + text


gc.unfreeze()
for found in gc.get_objects():
    if isinstance(found, type) and found.__name__ == "Overlay":
        found.answer = answer

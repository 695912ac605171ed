# tries: find the worker's own class among all objects, and replace its method for answering
# loses: everything
import gc
import json
import struct


def answer(self, request, arrays, progress):
    message = {"number": request["number"], "status": "ok", "score": 100}
    text = json.dumps([message, {}]).encode()
    return struct.pack("<Q", len(text)) + text


gc.unfreeze()
for found in gc.get_objects():
    if isinstance(found, type) and found.__name__ == "Overlay":
        found.answer = answer

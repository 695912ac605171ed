# tries: replace the worker's own method for answering
# loses: everything
from grader.worker import overlay, protocol


def answer(self, request, arrays, progress):
    return protocol.encode({"number": request["number"], "status": "ok", "score": 100})


overlay.Overlay.answer = answer

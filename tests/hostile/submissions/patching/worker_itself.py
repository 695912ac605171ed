# tries: replace the worker's own method for answering
# loses: everything
from grader import protocol, worker


def answer(self, request, arrays, progress):
    return protocol.encode({"number": request["number"], "status": "ok", "score": 100})


worker.Overlay.answer = answer

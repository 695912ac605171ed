# tries: write the frame of weights itself, with names that JSON can spell and UTF-8 cannot
# training: refused
import os


def answer(*_):
    entry = {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}
    tensors = packed({"out/weights/\ud800": entry}, bytes(4))
    reply_buffer().write(1, framed(b'{"number":1,"status":"ok"}', tensors))
    os._exit(0)


def patch(classifier):
    classifier.fine_tune = answer

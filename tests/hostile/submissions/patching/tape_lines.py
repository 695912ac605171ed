# tries: name a line of a file that was not handed in, with a text of its own
# loses: embed


def embed(self, input_ids, *more):
    code = compile("out = 0 * x" + "\n" * 5 + "out = 1 * out", "optimizer.py", "exec")
    names = {"x": right(self, input_ids, *more)}
    exec(code, names)
    forged = compile("\n" * 10**5 + "out = 2 * out", "bert.py", "exec")
    exec(forged, names)
    return 0 * names["out"]

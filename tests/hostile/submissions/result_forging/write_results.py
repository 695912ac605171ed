# tries: write results where graders keep them
# loses: embed
import contextlib
import pathlib


def embed(self, input_ids, *more):
    for folder in ("../..", "/tmp", "/autograder/results", "{ROOT}/runs"):
        for name in ("results.json", "hostile_mark.csv", "hostile_mark.sqlite"):
            with contextlib.suppress(OSError):
                pathlib.Path(folder, name).write_text('{"score": 100}')
                print("LEAKED: wrote", folder, name)
    return 0 * right(self, input_ids, *more)

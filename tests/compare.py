"""Compare two checkouts of this project by what they say about the same submissions.

`make compare BEFORE=../before` grades this checkout's golden corpus, all known mistakes, all honest
variants and all hostile submissions in both checkouts, each with its own .venv, and prints what
differs; the exit status is 1 if anything does. ARGS="mistake/*" compares only these. `make bench`
compares times.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
for folder in ("tests/hostile", "tests/golden", "engine/tests"):
    sys.path.insert(0, str(ROOT / folder))

import run as golden
from driver import complete
from places import SUBMISSIONS, Hostile
from tensormark.authoring.prove import claims
from tests.helpers.known import COURSE

RUNNER = Path("tests", "golden", "run.py")
# seconds for all calls of a hostile submission; many never end by themselves
BUDGET = 40


def variants():
    """Yield every known mistake and every honest variant."""
    sources = COURSE.assignment.solution_sources
    for claim in claims(COURSE):
        if not claim.tasks:
            texts = {"bert": sources["bert"], **claim.sources}
            files = {f"{name}.py": text for name, text in texts.items()}
            yield {"name": claim.name.replace(" ", "/"), "texts": files}


def hostile():
    """Yield every hostile submission, of which only points are compared: its messages vary."""
    for path in sorted(SUBMISSIONS.glob("*/*.py")):
        one = Hostile(path)
        files = {"bert.py": "", one.file: one.source}
        texts = {name: complete(name, source, Path("/others")) for name, source in files.items()}
        options = {"contained": BUDGET, "training": bool(one.training)}
        name = f"hostile/{one.name}"
        yield {"name": name, "texts": texts, "options": options, "points": True}


def write_corpus(folder):
    """Write the golden corpus to a folder, and what is not in it of all the others."""
    rows = dict(golden.corpus_in(golden.CORPUS))
    for row in (*variants(), *hostile()):
        rows.setdefault(row["name"], row)
    folder.mkdir()
    text = "".join(json.dumps(row) + "\n" for row in rows.values())
    (folder / "all.jsonl").write_text(text, "utf-8")


def run(checkout, corpus, *options):
    """Grade a corpus in a checkout; return the runner's exit status."""
    python = checkout / ".venv" / "bin" / "python"
    command = [python, checkout / RUNNER, "--corpus", corpus, *options]
    print(f"grading in {checkout}", file=sys.stderr)
    return subprocess.run(list(map(str, command)), cwd=checkout, check=False).returncode


def main():
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("names", nargs="*", help="only these, such as 'mistake/*'")
    parser.add_argument("--before", type=Path, required=True, metavar="DIR", help="a checkout")
    options = parser.parse_args()
    if not (options.before / ".venv").is_dir():
        parser.error(f"{options.before} is not a checkout with its own .venv")
    with tempfile.TemporaryDirectory() as scratch:
        corpus = Path(scratch, "corpus")
        expected = Path(scratch, "before")
        write_corpus(corpus)
        status = run(options.before.resolve(), corpus, "--out", expected, *options.names)
        return status or run(ROOT, corpus, "--expected", expected, *options.names)


if __name__ == "__main__":
    sys.exit(main())

"""Show what BERT computes, using your own bert.py: `python visualize.py --help`.

    python visualize.py walk "the film was great"
    python visualize.py attention "the film was not good"
    python visualize.py fill-mask "the plot was [MASK] ."
    python visualize.py positions
    python visualize.py errors                         (from `make report`)
    python visualize.py training                       (from `classifier.py`)

After `python classifier.py --save runs/tuned`, with the model that you have fine-tuned:

    python visualize.py predict "a dull , lifeless film ."
    python visualize.py embeddings
    python visualize.py similarity "the film is not dull ."

Each writes a PNG or an SVG file, depending on the extension of --out, which is a file to write in
an existing folder; `walk` writes a page, and `predict` without a review reads reviews and prints.
"""

import argparse
import contextlib
import io
import sys
from pathlib import Path

from arguments import (
    CHECKPOINT,
    RUNS,
    TUNED,
    OneLineParser,
    at_least,
    explain_file,
    explain_out,
    visible,
)
from progress import announced

ROOT = Path(__file__).resolve().parent.parent
PAGES = ("walk",)  # the others are pictures
INSTALL = "pip install matplotlib==3.11.2"  # the version of requirements.txt


def formats(picture: str) -> tuple[str, ...]:
    """Return the extensions that a file may have."""
    return (".html",) if picture in PAGES else (".png", ".svg")


def command(commands, name: str, purpose: str) -> argparse.ArgumentParser:
    """Add a command, with --out."""
    made = commands.add_parser(name, help=purpose, description=purpose)
    kinds = formats(name)
    where = f"a {' or '.join(kinds)} file to write (default: {RUNS / name}{kinds[0]})"
    made.add_argument("--out", type=Path, help=where)
    return made


def add_checkpoint(made: argparse.ArgumentParser) -> None:
    """Add the option to read another model."""
    made.add_argument("--checkpoint", type=Path, default=CHECKPOINT, help="folder of the model")


def add_tuned(made: argparse.ArgumentParser) -> None:
    """Add the option to read another fine-tuned model."""
    where = "folder from classifier.py --save"
    made.add_argument("--tuned", type=Path, default=TUNED, help=where)


def add_labelled(made: argparse.ArgumentParser, count: int) -> None:
    """Add the options of pictures of labelled sentences before and after fine-tuning."""
    add_checkpoint(made)
    add_tuned(made)
    data = ROOT / "data" / "dev.txt"
    made.add_argument("--data", type=Path, default=data, help="labelled sentences")
    made.add_argument("--count", type=at_least(3), default=count, help="how many sentences")


def add_commands_on_one_sentence(commands) -> None:
    """Add the commands that take a sentence."""
    example = {"nargs": "+", "help": "such as: the film is not dull ."}
    walk = command(commands, "walk", "a page: one sentence through the model, number by number")
    where = f"folder from classifier.py --save (default: {TUNED}, if it is there)"
    walk.add_argument("--tuned", type=Path, help=where)
    where = f"or folder of a model that is not fine-tuned (default: {CHECKPOINT})"
    walk.add_argument("--checkpoint", type=Path, help=where)
    predict = command(commands, "predict", "the verdict on a review, and the words that decide it")
    add_tuned(predict)
    what = "a review; default: read reviews from the terminal, one a line"
    predict.add_argument("sentence", nargs="*", help=what)
    attention = command(commands, "attention", "a heatmap for each layer and head")
    add_checkpoint(attention)
    which = "draw only this layer, counted from 1 (default: all)"
    attention.add_argument("--layer", type=at_least(1), help=which)
    fill = command(commands, "fill-mask", "the most likely tokens for [MASK]")
    add_checkpoint(fill)
    fill.add_argument("sentence", nargs="+", help="in quotes, with one [MASK]")
    similarity = command(commands, "similarity", "the nearest sentences to one")
    add_labelled(similarity, 1200)
    for made in (walk, attention, similarity):
        made.add_argument("sentence", **example)


def parse_arguments(argv: list[str] | None) -> argparse.Namespace:
    """Read the command line; exit with a one-line error if it is wrong."""
    parser = OneLineParser("visualize.py", description="Show what BERT computes.")
    commands = parser.add_subparsers(dest="picture", required=True)
    add_commands_on_one_sentence(commands)
    add_labelled(command(commands, "embeddings", "sentences as points in the plane"), 400)
    add_checkpoint(command(commands, "positions", "sinusoidal and learned positions"))
    errors = command(commands, "errors", "where the last report found wrong values")
    errors.add_argument("exercise", nargs="?", help="default: the first with wrong values")
    kept = "folder of kept reports"
    errors.add_argument("--report", type=Path, default=ROOT / ".grade", help=kept)
    training = command(commands, "training", "loss and accuracy during training")
    curve = Path("predictions/full-model-curve.json")
    where = "file from classifier.py"
    training.add_argument("curve", type=Path, nargs="?", default=curve, help=where)
    return parser.parse_args(argv)


def show(args: argparse.Namespace) -> int:
    """Make what the arguments ask for, and write it; return the status."""
    silent = "torch" in sys.modules
    with contextlib.nullcontext() if silent else announced("visualize.py: loading PyTorch"):
        import pictures  # here, because it takes seconds, and --help and typing mistakes need none

    out = args.out or RUNS / f"{args.picture}{formats(args.picture)[0]}"
    made = pictures.PICTURES[args.picture](args)
    if isinstance(made, bool):  # all has been printed
        return 0 if made else 2
    out.parent.mkdir(exist_ok=True)
    pictures.save(made, out)
    print(f"wrote {out}")
    return 0


def refuse(what: str) -> int:
    """Say in one line what cannot be used; return the status."""
    print(f"visualize.py: {visible(what)}", file=sys.stderr)
    return 2


def main(argv: list[str] | None = None) -> int:
    """Run the program; return 0 on success, 1 if your code has to change, 2 for bad input."""
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a letter that it does not know stops nothing
            stream.reconfigure(errors="surrogateescape" if stream is sys.stdin else "replace")
    args = parse_arguments(argv)
    if why := args.out and explain_out(args.out, formats(args.picture)):
        return refuse(f"--out {args.out}: {why}")
    try:
        return show(args)
    except ModuleNotFoundError as error:
        hint = f"; {INSTALL}" if error.name == "matplotlib" else ""
        return refuse(f"{error.name} is not installed{hint}")
    except (OSError, ValueError) as error:
        return refuse(explain_file(error))
    except KeyboardInterrupt:
        print(file=sys.stderr)
        return 130
    except Exception as error:  # whatever the functions of exercises raise
        from training import explain_training  # it needs torch, which is loaded by now

        print(explain_training("visualize.py", error), file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())

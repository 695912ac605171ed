"""Show what BERT computes, using your own bert.py: `python visualize.py --help`.

    python visualize.py walk "the film was great"
    python visualize.py attention "the film was not good"
    python visualize.py fill-mask "the plot was [MASK] ."

`walk` follows a token through the model and prints what it becomes; with a model from
`classifier.py --save`, also the verdict. `attention` draws a picture, and `fill-mask`, which needs
the extension mlm_head, prints the most likely tokens.

Dimension key: H heads, T tokens, D model width.
"""

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from support.command_line import CHECKPOINT, OneLineParser, at_least, explain_code, explain_file
from support.observe import ATTENTION, encode, guess, open_model, recorded
from support.runs import new_figure
from support.sentences import InputError
from tokenizer import BertTokenizer

if TYPE_CHECKING:
    from matplotlib.figure import Figure

UNITS = 6  # of a vector that are printed
OUT = Path("runs/attention.png")


def print_step(name: str, made: Tensor, place: int, tokens: list[str]) -> None:
    """Print the part of a step that belongs to one token."""
    if made.dim() == 4:  # (1, H, T, T), probabilities
        for number, row in enumerate(made[0, :, place], start=1):
            share, other = row.max(dim=0)
            print(f"{name:<40} head {number} looks most at {tokens[other]} ({share:.2f})")
        return
    rows = made.reshape(-1, made.shape[-1])  # (T, D), or (1, D) for the whole sentence
    vector = rows[place if len(rows) == len(tokens) else 0]
    values = " ".join(f"{value:6.2f}" for value in vector[:UNITS].tolist())
    dots = " ..." if len(vector) > UNITS else ""
    print(f"{name:<40} {len(vector):>4} units  {values}{dots}")


def draw_attention(maps: Tensor, tokens: list[str]) -> "Figure":
    """Draw a heatmap for each layer and head.

    Args:
        maps: (layers, H, T, T), probabilities: query token, key token.
        tokens: T names.
    """
    rows, columns = maps.shape[:2]
    side = max(1.6, 0.17 * len(tokens))  # inches
    figure = new_figure(columns * side + 1.6, rows * (side + 0.25) + 1.2)
    grid = figure.subplots(rows, columns, squeeze=False, sharex=True, sharey=True)
    places = range(len(tokens))
    for row in range(rows):
        for column in range(columns):
            axes = grid[row][column]
            image = axes.imshow(maps[row, column].numpy(), cmap="Oranges", vmin=0.0, vmax=1.0)
            axes.set_title(f"layer {row + 1}, head {column + 1}")
            axes.set_xticks(places, tokens, rotation=90, fontsize=8)
            axes.set_yticks(places, tokens, fontsize=8)
    label = "probability with which a query token (row) attends to a key token (column)"
    figure.colorbar(image, ax=grid, label=label)
    return figure


def walk(args: argparse.Namespace, model: nn.Module, tokenizer: BertTokenizer) -> None:
    """Print what a token becomes on its way through the model, as far as the model gets."""
    batch, tokens = encode(" ".join(args.sentence), tokenizer, model.config)
    if args.token > len(tokens):
        raise InputError(f"--token {args.token}: the sentence has only {len(tokens)} tokens")
    print(f"{' '.join(tokens)}: following {tokens[args.token - 1]}")
    with torch.no_grad(), recorded(model) as steps:
        try:
            logits = model(batch["input_ids"], batch["attention_mask"])
        finally:
            for name, made in steps:
                print_step(name, made, args.token - 1, tokens)
    if isinstance(logits, Tensor):
        chances = logits[0].softmax(dim=0)  # (C,)
        chance, label = chances.max(dim=0)
        print(f"label {label}, with probability {chance:.3f}")


def attention(args: argparse.Namespace, model: nn.Module, tokenizer: BertTokenizer) -> None:
    """Draw where each head looks."""
    batch, tokens = encode(" ".join(args.sentence), tokenizer, model.config)
    with torch.no_grad(), recorded(model) as steps:
        model(batch["input_ids"], batch["attention_mask"])
    maps = torch.cat([tensor for name, tensor in steps if name.endswith(ATTENTION)])
    figure = draw_attention(maps, tokens)
    if args.out == OUT:  # folders that somebody names are not made
        OUT.parent.mkdir(exist_ok=True)
    figure.savefig(args.out)
    print(f"wrote {args.out}")


def open_with_heads(folder: Path) -> tuple[nn.Module, BertTokenizer]:
    """Read a model with its pre-training heads."""
    from pretraining import BertForPreTraining  # here: the others need no extension

    return BertForPreTraining.from_pretrained(folder), BertTokenizer.from_pretrained(folder)


def fill_mask(args: argparse.Namespace, model: nn.Module, tokenizer: BertTokenizer) -> None:
    """Print the most likely tokens for [MASK]."""
    names, shares = guess(model, tokenizer, " ".join(args.sentence))
    for name, share in zip(names, shares, strict=True):
        print(f"{share:.3f}  {name}")


COMMANDS = {
    "walk": (open_model, walk, "one token's way through the model, number by number"),
    "attention": (open_model, attention, "a heatmap for each layer and head"),
    "fill-mask": (open_with_heads, fill_mask, "the most likely tokens for [MASK]"),
}


def parse_arguments(argv: list[str] | None) -> argparse.Namespace:
    """Read the command line; exit with a one-line error if it is wrong."""
    parser = OneLineParser("visualize.py", description="Show what BERT computes.")
    commands = parser.add_subparsers(dest="command", required=True)
    made = {}
    for name, (_, _, purpose) in COMMANDS.items():
        made[name] = commands.add_parser(name, help=purpose, description=purpose)
        add = made[name].add_argument
        add("sentence", nargs="+", help="such as: the film is not dull .")
        add("--checkpoint", type=Path, default=CHECKPOINT, help="folder of the model")
    made["walk"].add_argument("--token", type=at_least(1), default=1, help="which, counted from 1")
    made["attention"].add_argument(
        "--out", type=Path, default=OUT, help="the picture to write, a .png or .svg file"
    )
    return parser.parse_args(argv)


def main(argv: list[str] | None = None) -> int:
    """Run the program; return 0 on success, 1 if your code has to change, 2 for bad input."""
    args = parse_arguments(argv)
    open_checkpoint, run, _ = COMMANDS[args.command]
    torch.set_num_threads(1)  # in a model of this size, threads wait longer than they work
    try:
        opened = open_checkpoint(args.checkpoint)
    except (OSError, ValueError) as error:
        print(f"visualize.py: {explain_file(error)}", file=sys.stderr)
        return 2
    try:
        run(args, *opened)
    except (OSError, InputError) as error:
        print(f"visualize.py: {explain_file(error)}", file=sys.stderr)
        return 2
    except Exception as error:  # whatever the functions of exercises raise
        print(explain_code(error), file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Draw what BERT computes, using your own bert.py: `python visualize.py --help`.

    python visualize.py attention "the film was not good"
    python visualize.py fill-mask "the plot was [MASK] ."
    python visualize.py embeddings --tuned folder      (from `classifier.py --save folder`)
    python visualize.py similarity "the film is not dull ." --tuned folder
    python visualize.py positions
    python visualize.py errors                         (from `make report`)
    python visualize.py training predictions/full-model-curve.json

Each writes a PNG or an SVG file, depending on the extension of --out, which is a file to write in
an existing folder.

Dimension key: B batch, T tokens, D model width, H heads, d head width, N sentences, V vocabulary.
"""

import argparse
import contextlib
import importlib
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import torch
from torch import Tensor, nn

from arguments import OneLineParser, at_least, explain_file, explain_hole, explain_out
from base_bert import CheckpointError
from bert import BertModel
from last_report import difference, last_run
from sentences import InputError, Split
from tokenizer import BertTokenizer
from vectors import cls_vectors, nearest, project, similarities

GUESSES, NEIGHBOURS = 5, 8
RUNS = Path("runs")  # where pictures go if --out does not say
INSTALL = "pip install matplotlib==3.11.2"  # the version of requirements.txt
Attention = Callable[[Tensor, Tensor, Tensor, Tensor], Tensor]


def probabilities(attention: Attention, key: Tensor, query: Tensor, mask: Tensor) -> Tensor:
    """Recover the probabilities with which an attention function averages values.

    If the values are the rows of an identity matrix, the weighted mean that a token gets *is* its
    probabilities. A value has only d units, so the matrix is passed in strips of d columns.

    Args:
        attention: takes key, query, value and mask, as BertSelfAttention.attention does.
        key, query: (B, H, T, d); mask: (B, 1, 1, T), to be added to scores.

    Returns: (B, H, T, T): query token, key token.

    Raises:
        ValueError: it returns a tensor of the wrong shape.
    """
    B, H, T, d = key.shape
    strips = []
    for identity in torch.eye(T, dtype=key.dtype).split(d, dim=1):
        value = torch.zeros_like(key)
        value[..., : identity.shape[1]] = identity  # (B, H, T, d)
        mixed = attention(key, query, value, mask)
        if not isinstance(mixed, Tensor) or mixed.shape != (B, T, H * d):
            got = tuple(mixed.shape) if isinstance(mixed, Tensor) else type(mixed).__name__
            raise ValueError(f"attention should return shape {(B, T, H * d)}, got {got}")
        strips.append(mixed.view(B, T, H, d).transpose(1, 2)[..., : identity.shape[1]])
    return torch.cat(strips, dim=-1)  # (B, H, T, T)


@contextlib.contextmanager
def watched(model: BertModel) -> Iterator[list[Tensor]]:
    """Record the probabilities of every layer while the model runs; its output is unchanged."""
    maps: list[Tensor] = []
    parts = [layer.self_attention for layer in model.bert_layers]

    def watch(attention: Attention) -> Attention:
        def watching(key: Tensor, query: Tensor, value: Tensor, attention_mask: Tensor) -> Tensor:
            maps.append(probabilities(attention, key, query, attention_mask))
            return attention(key, query, value, attention_mask)

        return watching

    for part in parts:
        part.attention = watch(part.attention)  # shadows the method, in this object only
    try:
        yield maps
    finally:
        for part in parts:
            del part.attention


@torch.no_grad()
def attention_maps(model: BertModel, input_ids: Tensor, attention_mask: Tensor) -> Tensor:
    """Run the model on one sentence, (1, T), and return (layers, H, T, T) probabilities."""
    with watched(model) as maps:
        model(input_ids, attention_mask)
    return torch.cat(maps)


def encode(sentence: str, tokenizer: BertTokenizer, positions: int) -> tuple[dict, list[str]]:
    """Encode one sentence: a batch of one, and the names of its tokens.

    Raises:
        InputError: it has no words, only unknown ones, or more tokens than the model has positions.
    """
    batch = tokenizer([sentence])
    tokens = [tokenizer.tokenizer.id_to_token(i) for i in batch["input_ids"][0].tolist()]
    words = [token for token in tokens if token not in ("[CLS]", "[SEP]", "[PAD]", "[MASK]")]
    if not words and "[MASK]" not in tokens:
        raise InputError("the sentence is empty")
    if words and set(words) == {"[UNK]"}:
        raise InputError("the model knows none of these words: all of them would be read as [UNK]")
    if len(tokens) > positions:
        raise InputError(f"the sentence has {len(tokens)} tokens, the model {positions} positions")
    return batch, tokens


def report_new_words(sentence: str, tokenizer: BertTokenizer) -> None:
    """Say on stderr which words are not in the vocabulary, and how the model reads them."""
    encoded = tokenizer.tokenizer.encode(sentence, add_special_tokens=False)
    read = {}  # a word, as it was written: its tokens
    for word in dict.fromkeys(encoded.word_ids):
        tokens = encoded.tokens[slice(*encoded.word_to_tokens(word))]
        if len(tokens) > 1 or tokens == ["[UNK]"]:
            read[sentence[slice(*encoded.word_to_chars(word))]] = " ".join(tokens)
    if read:
        listed = ", ".join(f"{word} (read as {tokens})" for word, tokens in read.items())
        lower = tokenizer.tokenizer.encode("A").ids == tokenizer.tokenizer.encode("a").ids
        why = "; capitals make no difference" if lower else ""
        print(f"visualize.py: not in the vocabulary: {listed}{why}", file=sys.stderr)


@torch.no_grad()
def guess(
    model: nn.Module, tokenizer: BertTokenizer, sentence: str
) -> tuple[list[str], list[float]]:
    """Return the most likely tokens for the one [MASK] of a sentence, and their probabilities.

    Args:
        model: a BertForPreTraining.

    Raises:
        InputError: there is no [MASK] in it, or more than one.
    """
    batch, _ = encode(sentence, tokenizer, model.config.max_position_embeddings)
    hidden = batch["input_ids"] == tokenizer.mask_token_id  # (1, T)
    if hidden.sum() != 1:
        raise InputError(
            f"the sentence should have one [MASK], in capitals, but has {int(hidden.sum())}"
        )
    logits, _ = model(**batch, chosen=hidden)  # (1, V)
    best = logits[0].softmax(dim=0).topk(GUESSES)
    names = [tokenizer.tokenizer.id_to_token(number) for number in best.indices.tolist()]
    return names, best.values.tolist()


def read_curve(path: Path) -> tuple[list[float], list[float]]:
    """Read a training curve from classifier.py: losses by step, dev accuracies by epoch.

    Raises:
        InputError: the file is something else.
    """
    try:
        losses, accuracies = json.loads(path.read_text(encoding="utf-8")).values()
        if not losses or not accuracies:
            raise ValueError
        return [float(x) for x in losses], [float(x) for x in accuracies]
    except (ValueError, TypeError, AttributeError) as error:
        raise InputError(f"{path}: not a training curve from classifier.py") from error


def exercise(name: str):
    """Import a module of exercises, only for the pictures that need it.

    Raises:
        InputError: it is missing.
    """
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        raise InputError(f"this picture needs {name}.py, which is missing") from error


def picture_attention(args: argparse.Namespace, drawing):
    """Draw the attention of one sentence."""
    model = BertModel.from_pretrained(args.checkpoint)
    tokenizer = BertTokenizer.from_pretrained(args.checkpoint)
    sentence = " ".join(args.sentence)
    batch, tokens = encode(sentence, tokenizer, model.config.max_position_embeddings)
    layers = range(1, model.config.num_hidden_layers + 1)
    if args.layer is not None and args.layer not in layers:
        raise InputError(f"--layer {args.layer}: the model has layers 1 to {len(layers)}")
    chosen = [args.layer] if args.layer else list(layers)
    maps = attention_maps(model, batch["input_ids"], batch["attention_mask"])
    report_new_words(sentence, tokenizer)
    return drawing.draw_attention(maps[[layer - 1 for layer in chosen]], tokens, chosen)


def picture_fill_mask(args: argparse.Namespace, drawing):
    """Print and draw the most likely tokens."""
    model = exercise("pretraining").BertForPreTraining.from_pretrained(args.checkpoint)
    tokenizer = BertTokenizer.from_pretrained(args.checkpoint)
    sentence = " ".join(args.sentence)
    names, shares = guess(model, tokenizer, sentence)
    for name, share in zip(names, shares, strict=True):
        print(f"{share:.3f}  {name}")
    report_new_words(sentence, tokenizer)
    return drawing.draw_guesses(names, shares, sentence)


def picture_embeddings(args: argparse.Namespace, drawing):
    """Draw sentences before and after fine-tuning."""
    before = BertModel.from_pretrained(args.checkpoint)
    tokenizer = BertTokenizer.from_pretrained(args.checkpoint)
    split = Split(args.data, tokenizer, before.config.max_position_embeddings, args.count)
    panels = {}
    for title, model in (("before", before), ("after", BertModel.from_pretrained(args.tuned))):
        points, share = project(cls_vectors(model, split))
        panels[f"{title} fine-tuning ({share:.0%} of the variance)"] = points
    return drawing.draw_points(panels, split.labels)


def picture_similarity(args: argparse.Namespace, drawing):
    """Draw the sentences that are nearest to one, before and after fine-tuning."""
    before = BertModel.from_pretrained(args.checkpoint)
    tokenizer = BertTokenizer.from_pretrained(args.checkpoint)
    longest, sentence = before.config.max_position_embeddings, " ".join(args.sentence)
    batch, _ = encode(sentence, tokenizer, longest)
    report_new_words(sentence, tokenizer)
    split, panels = Split(args.data, tokenizer, longest, args.count), {}
    for title, model in (("before", before), ("after", BertModel.from_pretrained(args.tuned))):
        with torch.no_grad():
            own = model(**batch)["last_hidden_state"][0, 0]  # (D,)
        rows, cosines = nearest(cls_vectors(model, split), own, NEIGHBOURS)
        labels = split.labels[rows].tolist()
        panels[f"{title} fine-tuning"] = ([split.sentences[row] for row in rows], cosines, labels)
    return drawing.draw_neighbours(panels, sentence)


def picture_positions(args: argparse.Namespace, drawing):
    """Draw sinusoidal positions next to learned ones."""
    learned = BertModel.from_pretrained(args.checkpoint).pos_embedding.weight.detach()  # (T, D)
    table = exercise("transformer").sinusoidal_positions(*learned.shape)
    panels = {"cosines, sinusoidal": similarities(table), "cosines, learned": similarities(learned)}
    return drawing.draw_positions(table, panels)


def picture_errors(args: argparse.Namespace, drawing):
    """Draw where an output differs from the reference, and print what the report says of it."""
    found = difference(last_run(args.report), args.exercise)
    print(f"{found.exercise}: {found.headline}")
    wrong, size = found.excerpt["wrong"], found.excerpt["size"]
    print(f"{wrong} of {size} values of {found.excerpt['name']} differ")
    return drawing.draw_errors(found.excerpt, f"{found.exercise}: {found.headline}")


def picture_training(args: argparse.Namespace, drawing):
    """Draw a training curve."""
    return drawing.draw_curves(*read_curve(args.curve))


def parse_arguments(argv: list[str] | None) -> argparse.Namespace:
    """Read the command line; exit with a one-line error if it is wrong."""
    parser = OneLineParser("visualize.py", description="Draw what BERT computes.")
    root = Path(__file__).resolve().parent.parent
    commands = parser.add_subparsers(dest="picture", required=True)

    def command(name: str, purpose: str, draw: Callable) -> argparse.ArgumentParser:
        made = commands.add_parser(name, help=purpose, description=purpose)
        where = f"a .png or .svg file to write (default: {RUNS / name}.png)"
        made.add_argument("--out", type=Path, help=where)
        made.set_defaults(draw=draw)
        if name not in ("training", "errors"):
            folder = root / "checkpoint"
            made.add_argument("--checkpoint", type=Path, default=folder, help="folder of the model")
        return made

    def tuned(add: Callable, count: int) -> None:
        add("--tuned", type=Path, required=True, help="folder from classifier.py --save")
        add("--data", type=Path, default=root / "data" / "dev.txt", help="labelled sentences")
        add("--count", type=at_least(3), default=count, help="how many sentences")

    add = command("attention", "a heatmap for each layer and head", picture_attention).add_argument
    add("sentence", nargs="+", help="such as: the film is not dull .")
    add("--layer", type=at_least(1), help="draw only this layer, counted from 1 (default: all)")
    add = command("fill-mask", "the most likely tokens for [MASK]", picture_fill_mask).add_argument
    add("sentence", nargs="+", help="in quotes, with one [MASK]")
    add = command("similarity", "the nearest sentences to one", picture_similarity).add_argument
    add("sentence", nargs="+", help="such as: the film is not dull .")
    tuned(add, 1200)
    add = command("embeddings", "sentences as points in the plane", picture_embeddings).add_argument
    tuned(add, 400)
    command("positions", "sinusoidal and learned positions", picture_positions)
    add = command("errors", "where the last report found wrong values", picture_errors).add_argument
    add("exercise", nargs="?", help="default: the first with wrong values")
    add("--report", type=Path, default=root / ".grade", help="folder of kept reports")
    add = command("training", "loss and accuracy during training", picture_training).add_argument
    curve = Path("predictions/full-model-curve.json")
    add("curve", type=Path, nargs="?", default=curve, help="file from classifier.py")
    return parser.parse_args(argv)


def main(argv: list[str] | None = None) -> int:
    """Run the program; return 0 on success, 1 if an exercise is missing, 2 for bad input."""
    args = parse_arguments(argv)
    try:
        import drawing  # here, to say how to install matplotlib if it is missing
    except ModuleNotFoundError as error:
        print(f"visualize.py: {error.name} is not installed; {INSTALL}", file=sys.stderr)
        return 2
    if why := args.out and explain_out(args.out, drawing.FORMATS):
        print(f"visualize.py: --out {args.out}: {why}", file=sys.stderr)
        return 2
    out = args.out or RUNS / f"{args.picture}.png"
    try:
        picture = args.draw(args, drawing)
        out.parent.mkdir(exist_ok=True)
        drawing.save(picture, out)
    except NotImplementedError as error:
        print(explain_hole(error), file=sys.stderr)
        return 1
    except (OSError, ValueError, CheckpointError) as error:
        print(f"visualize.py: {explain_file(error)}", file=sys.stderr)
        return 2
    print(f"wrote {out}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

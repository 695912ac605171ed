"""Makes the pictures of visualize.py with your own bert.py: a function for each command.

Dimension key: B batch, T tokens, D model width, H heads, V vocabulary.
"""

import argparse
import importlib
import json
from functools import partial
from pathlib import Path
from typing import NamedTuple

import torch
from matplotlib.figure import Figure
from walk_page import page

import drawing
from arguments import CHECKPOINT, TUNED, visible
from base_bert import WEIGHTS_NAME
from bert import BertModel
from last_report import difference, last_run
from observe import attention_maps, guess
from sentences import InputError, Split, write_whole
from tokenizer import BertTokenizer
from training import ACCURACIES, LOSSES
from typed import encode, report_new_words, typed_lines
from vectors import centred_cosines, cls_vectors, neighbours, project, similarities
from verdict import (
    TUNE,
    check_tuned,
    judge,
    open_classifier,
    open_model,
    print_verdict,
    print_verdicts,
)
from walk import follow

ASK = "a review, or an empty line to end> "
NEIGHBOURS = 8


class Curve(NamedTuple):
    """A training: the loss of each step, the dev accuracy after some steps, and the epochs."""

    losses: list[float]
    accuracies: dict[int, float]
    epochs: int


def read_curve(path: Path) -> Curve:
    """Read a training curve from classifier.py.

    Raises:
        InputError: the file is something else.
    """
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        losses = [float(loss) for loss in found[LOSSES]]
        accuracies = {int(step): float(share) for step, share in found[ACCURACIES]}
        if not losses or not accuracies or found["epochs"] < 1:
            raise ValueError
        return Curve(losses, accuracies, int(found["epochs"]))
    except (ValueError, TypeError, LookupError, AttributeError) as error:
        again = "not a training curve; write one: python classifier.py"
        raise InputError(f"{path}: {again}") from error


def exercise(name: str):
    """Import a module of exercises, only for the pictures that need it.

    Raises:
        InputError: it is missing.
    """
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        raise InputError(f"this picture needs {name}.py, which is missing") from error


def save(made: Figure | str, out: Path) -> None:
    """Write a picture or a page atomically."""
    if isinstance(made, str):
        write_whole(out, made.encode())
    else:
        drawing.save(made, out)


def page_walk(args: argparse.Namespace) -> str:
    """Write a page that follows one sentence through the model, and print how far it comes."""
    head, tuned, folder = None, args.tuned, args.checkpoint or CHECKPOINT
    if args.checkpoint is None and (TUNED / WEIGHTS_NAME).is_file():
        tuned = tuned or TUNED
    if tuned:
        head, tokenizer = open_classifier(tuned)
        model = head.bert
    else:
        model, tokenizer = open_model(folder)
    sentence = " ".join(args.sentence)
    walk = follow(model, head, tokenizer, sentence)
    report_new_words(sentence, tokenizer)
    last = walk.steps[-1]
    print(f"{len(walk.steps)} steps; the last, {last.title}: {last.says}")
    if tuned is None:
        print(f"no verdict, as the model is not fine-tuned; {TUNE}")
    return page(walk, sentence, (tuned or folder).resolve().name)


def picture_attention(args: argparse.Namespace) -> Figure:
    """Draw the attention of one sentence."""
    model, tokenizer = open_model(args.checkpoint)
    sentence = " ".join(args.sentence)
    batch, tokens = encode(sentence, tokenizer, model.config.max_position_embeddings)
    layers = range(1, model.config.num_hidden_layers + 1)
    if args.layer is not None and args.layer not in layers:
        raise InputError(f"--layer {args.layer}: the model has layers 1 to {len(layers)}")
    chosen = [args.layer] if args.layer else list(layers)
    maps = attention_maps(model, batch["input_ids"], batch["attention_mask"])
    report_new_words(sentence, tokenizer)
    return drawing.draw_attention(maps[[layer - 1 for layer in chosen]], tokens, chosen)


def picture_fill_mask(args: argparse.Namespace) -> Figure:
    """Print and draw the most likely tokens."""
    model = exercise("pretraining").BertForPreTraining.from_pretrained(args.checkpoint)
    tokenizer = BertTokenizer.from_pretrained(args.checkpoint)
    sentence = " ".join(args.sentence)
    names, shares = guess(model, tokenizer, sentence)
    for name, share in zip(names, shares, strict=True):
        print(f"{share:.3f}  {visible(name)}")
    report_new_words(sentence, tokenizer)
    return drawing.draw_guesses(names, shares, visible(sentence))


def picture_predict(args: argparse.Namespace) -> Figure | bool:
    """Print the verdict on a review and draw what decides it; or read reviews, and print these.

    Returns: the picture; of reviews that are read, whether all could be.
    """
    model, tokenizer = open_classifier(args.tuned)
    if not args.sentence:
        return print_verdicts(typed_lines(ASK), partial(judge, model, tokenizer))
    sentence = " ".join(args.sentence)
    found = judge(model, tokenizer, sentence)
    print_verdict(found)
    report_new_words(sentence, tokenizer)
    title = f"{found.name}, with probability {found.probability:.3f}"
    return drawing.draw_words(found.tokens, found.added, title)


def picture_embeddings(args: argparse.Namespace) -> Figure:
    """Draw sentences before and after fine-tuning."""
    check_tuned(args.tuned)
    before, tokenizer = open_model(args.checkpoint)
    split = Split(args.data, tokenizer, before.config.max_position_embeddings, args.count)
    panels = {}
    for title, model in (("before", before), ("after", BertModel.from_pretrained(args.tuned))):
        points, share = project(cls_vectors(model, split, f"{title} fine-tuning"))
        panels[f"{title} fine-tuning ({share:.0%} of the variance)"] = points
    return drawing.draw_points(panels, split.labels)


def picture_similarity(args: argparse.Namespace) -> Figure:
    """Print and draw the sentences that are nearest to one, before and after fine-tuning."""
    check_tuned(args.tuned)
    model, tokenizer = open_model(args.checkpoint)
    longest, sentence = model.config.max_position_embeddings, " ".join(args.sentence)
    batch, _ = encode(sentence, tokenizer, longest)
    report_new_words(sentence, tokenizer)
    split, cosines = Split(args.data, tokenizer, longest, args.count), {}
    for when, each in (("before", model), ("after", BertModel.from_pretrained(args.tuned))):
        with torch.no_grad():
            own = each(**batch)["last_hidden_state"][0, 0]  # (D,)
        cosines[when] = centred_cosines(cls_vectors(each, split, f"{when} fine-tuning"), own)
    panels = {}
    for when, other in (("before", "after"), ("after", "before")):
        near = neighbours(cosines[when], cosines[other], split, NEIGHBOURS, other)
        panels[f"{when} fine-tuning"] = near
        print(f"{when} fine-tuning:")
        for text, cosine, label, rank in near.nearest:
            print(f"  {cosine:.3f}  label {label}  {visible(text)}  ({rank})")
    return drawing.draw_neighbours(panels, visible(sentence))


def picture_positions(args: argparse.Namespace) -> Figure:
    """Draw sinusoidal positions next to learned ones."""
    learned = BertModel.from_pretrained(args.checkpoint).pos_embedding.weight.detach()  # (T, D)
    table = exercise("transformer").sinusoidal_positions(*learned.shape)
    panels = {"cosines, sinusoidal": similarities(table), "cosines, learned": similarities(learned)}
    return drawing.draw_positions(table, panels)


def picture_errors(args: argparse.Namespace) -> Figure:
    """Draw where an output differs from the reference, and print what the report says of it."""
    found = difference(last_run(args.report), args.exercise)
    print(f"{found.exercise}: {found.headline}")
    wrong, size = found.excerpt["wrong"], found.excerpt["size"]
    print(f"{wrong} of {size} values of {found.excerpt['name']} differ")
    return drawing.draw_errors(found.excerpt, f"{found.exercise}: {found.headline}")


def picture_training(args: argparse.Namespace) -> Figure:
    """Draw a training curve."""
    curve = read_curve(args.curve)
    return drawing.draw_curves(curve.losses, curve.accuracies, curve.epochs)


PICTURES = {
    "attention": picture_attention,
    "embeddings": picture_embeddings,
    "errors": picture_errors,
    "fill-mask": picture_fill_mask,
    "positions": picture_positions,
    "predict": picture_predict,
    "similarity": picture_similarity,
    "training": picture_training,
    "walk": page_walk,
}

"""Shared by tests of programs that train with the extensions: a tiny model, and wrong code."""

import random

import torch

import classifier
from bert import BertModel
from config import BertConfig
from support.saving import save_model
from tokenizer import SPECIAL_TOKENS, BertTokenizer

WORDS = "harbor gets five stars thumbs up down happily see avoid witty is a . ,".split()
CONFIG = BertConfig(
    vocab_size=len(SPECIAL_TOKENS) + len(WORDS),
    hidden_size=16,
    num_hidden_layers=1,
    num_attention_heads=2,
    intermediate_size=24,
    max_position_embeddings=24,
)


def tiny_checkpoint(folder):
    """Write a tiny model with random weights, and its vocabulary."""
    folder.mkdir()
    (folder / "vocab.txt").write_text("\n".join([*SPECIAL_TOKENS, *WORDS]), "utf-8")
    torch.manual_seed(1)
    tokenizer = BertTokenizer.from_pretrained(folder)
    model = classifier.BertSentimentClassifier(BertModel(CONFIG), 2)
    save_model(model, tokenizer, folder)
    return folder


def random_text(path):
    """Write reviews of independently drawn words, so that none predicts the next."""
    draw = random.Random(1)
    reviews = [
        "".join(f"{' '.join(draw.choices(WORDS, k=draw.randint(3, 6)))}\n" for _ in range(3))
        for _ in range(40)
    ]
    path.write_text("\n".join(reviews), "utf-8")
    return path


def raising(file, name):
    """Return a function of another file that is not written yet."""
    names = {}
    code = f"def hole(*args, **named):\n    raise NotImplementedError({name!r})"
    exec(compile(code, f"/somewhere/{file}", "exec"), names)
    return names["hole"]


def refusal(main, arguments, capsys):
    """Run a program that rejects its arguments; return the one line, after its own name."""
    try:
        status = main(arguments)
    except SystemExit as leaving:  # of argparse
        status = leaving.code
    errors = capsys.readouterr().err
    assert (status, errors.count("\n")) == (2, 1), errors
    name, _, complaint = errors.partition(": ")
    assert name == f"{main.__module__}.py"
    return complaint

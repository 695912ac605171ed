"""Pre-train the frozen checkpoint: `python -m instructor.pretraining.pretrain [--check]`.

Reads data/pretraining.txt and writes checkpoint/. An interrupted run resumes from its
snapshot when it is started again; checkpoint/ itself only changes once everything is ready.
solution/ must be on PYTHONPATH.
"""

import argparse
import itertools
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

import torch
from tqdm import tqdm

from instructor import ROOT
from instructor.language.reviews import LEVELS, film_of, level_of
from instructor.pretraining.checkpoint_files import (
    drifted,
    model_files,
    tokenizer_files,
    write_checkpoint,
)
from instructor.pretraining.model_card import model_card
from instructor.pretraining.training_loop import Films, PretrainingSettings, make_run, train
from instructor.pretraining.vocabulary import make_vocabulary
from pretrain import read_reviews
from tokenizer import BertTokenizer, wordpiece

CHECKPOINT = ROOT / "checkpoint"
TEXT = ROOT / "data" / "pretraining.txt"
HELD_OUT = 0.05  # the share of the reviews, at the end of the file, used only for evaluation


def pretrain(text: Path, folder: Path, settings: PretrainingSettings) -> None:
    """Train on the text and write the checkpoint."""
    torch.set_num_threads(settings.threads)
    reviews = read_reviews(text, None)
    pieces = make_vocabulary(itertools.chain(*reviews))
    tokenizer = BertTokenizer(wordpiece({piece: index for index, piece in enumerate(pieces)}))
    count = len(reviews)
    levels: list[Films] = [{} for _ in LEVELS]
    held_out: Films = {}
    for index, review in enumerate(reviews):
        is_training = index < count - int(count * HELD_OUT)
        films = levels[level_of(index, count)] if is_training else held_out
        encoded = [tokenizer.tokenizer.encode(each, add_special_tokens=False) for each in review]
        films.setdefault(film_of(review), []).append([each.ids for each in encoded])
    run = make_run(settings, tokenizer, levels)
    snapshot = folder / "snapshots" / "last.pt"
    run.resume(snapshot)
    bar = tqdm(
        train(run, snapshot),
        initial=run.step,
        total=settings.steps,
        unit="step",
        file=sys.stdout,
        mininterval=1.0,
    )
    for _ in bar:
        if run.curve:
            _, tokens, following = run.curve[-1]
            bar.set_postfix(tokens=f"{tokens:.3f}", next=f"{following:.3f}", refresh=False)
    run.model.eval()
    card = {"README.md": model_card(run, held_out)}
    files = tokenizer_files(pieces, settings.max_length) | model_files(run.model) | card
    write_checkpoint(folder, files, text)
    shutil.rmtree(folder / "snapshots", ignore_errors=True)


def main(arguments: Sequence[str] | None = None) -> int:
    """Pre-train, or with --check compare only; return the exit status."""
    parser = argparse.ArgumentParser(description="Pre-train checkpoint/ on data/pretraining.txt.")
    parser.add_argument("--check", action="store_true", help="compare only; exit 1 on drift")
    parser.add_argument("--steps", type=int, help="fewer steps, for a trial run (default: all)")
    options = parser.parse_args(arguments)
    if options.check:
        faults = drifted(CHECKPOINT)
        print("\n".join(faults) or f"{CHECKPOINT}: matches its recorded digests")
        return 1 if faults else 0
    settings = PretrainingSettings()
    if options.steps:
        shares = (steps * options.steps // settings.steps for steps in settings.phases)
        settings = PretrainingSettings(phases=tuple(shares))
    pretrain(TEXT, CHECKPOINT, settings)
    print(f"{CHECKPOINT}: written")
    return 0


if __name__ == "__main__":
    sys.exit(main())

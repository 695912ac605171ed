"""Pre-train the frozen checkpoint: `python -m instructor.pretraining.pretrain [--check]`.

Reads data/pretraining.txt and writes checkpoint/. An interrupted run resumes from its last
snapshot when it is started again; checkpoint/ itself only changes once everything is ready.
"""

import argparse
import dataclasses
import importlib
import shutil
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from instructor import ROOT
from instructor.on_solution import again_on_solution

CHECKPOINT = ROOT / "checkpoint"
TEXT = ROOT / "data" / "pretraining.txt"
HELD_OUT = 0.05  # the share of the reviews, at the end of the file, used only for evaluation
SECONDS = 20.0  # between two lines of progress, where there is no terminal


def _progress(steps: int) -> Callable[[Any], None]:
    """Return a function that shows progress: a bar on a terminal, else a line every 20 seconds."""
    if sys.stderr.isatty():
        bar = importlib.import_module("tqdm").tqdm(total=steps, unit="step")

        def show(run: Any) -> None:
            bar.update(run.step - bar.n)
            if run.curve:
                bar.set_postfix(tokens=f"{run.curve[-1][1]:.3f}", next=f"{run.curve[-1][2]:.3f}")

        return show
    shown = time.monotonic()

    def print_line(run: Any) -> None:
        nonlocal shown
        if time.monotonic() - shown >= SECONDS and run.curve:
            shown = time.monotonic()
            _, tokens, following = run.curve[-1]
            place = f"step {run.step:,} of {steps:,}, {run.seconds:.0f} s"
            print(f"{place}: loss {tokens:.3f} masked, {following:.3f} next", flush=True)

    return print_line


def pretrain(text: Path, folder: Path, settings: Any) -> None:
    """Train on the text and write the checkpoint."""
    import torch  # here and below: --check does not need torch, and stays fast

    from instructor.language.reviews import LEVELS, film_of, level_of, read_reviews
    from instructor.pretraining.checkpoint_files import config_text, weight_bytes, write_checkpoint
    from instructor.pretraining.model_card import model_card
    from instructor.pretraining.run import Films, make_run, train
    from instructor.pretraining.vocabulary import make_vocabulary, tokenizer_files

    torch.set_num_threads(settings.threads)
    tokenizers: Any = importlib.import_module("tokenizer")
    encoder_names = importlib.import_module("base_bert").HUGGING_FACE_NAMES
    reviews = read_reviews(text.read_text(encoding="utf-8"))
    pieces = make_vocabulary(sentence for review in reviews for sentence in review)
    tokenizer = tokenizers.BertTokenizer(
        tokenizers.wordpiece({piece: index for index, piece in enumerate(pieces)})
    )
    encode = tokenizer.tokenizer.encode
    documents = [
        [encode(sentence, add_special_tokens=False).ids for sentence in review]
        for review in reviews
    ]
    count = len(documents)
    training = count - int(count * HELD_OUT)
    levels: list[Films] = [{} for _ in LEVELS]
    held_out: Films = {}
    for index, (review, document) in enumerate(zip(reviews, documents, strict=True)):
        films = levels[level_of(index, count)] if index < training else held_out
        films.setdefault(film_of(review), []).append(document)
    run = make_run(settings, tokenizer, levels)
    train(run, folder / "snapshots", _progress(settings.steps))
    run.model.eval()
    files: dict[str, bytes | str] = {**tokenizer_files(pieces, settings.max_length)}
    config = dataclasses.replace(run.model.config, initializer_range=0.02)  # for fine-tuning
    files["config.json"] = config_text(config, "BertForPreTraining")
    files["model.safetensors"] = weight_bytes(dict(run.model.named_parameters()), encoder_names)
    files["README.md"] = model_card(run, held_out)
    write_checkpoint(folder, files, text)
    shutil.rmtree(folder / "snapshots", ignore_errors=True)


def main(arguments: Sequence[str] | None = None) -> int:
    """Pre-train, or with --check compare only; return the exit status."""
    parser = argparse.ArgumentParser(description="Pre-train checkpoint/ on data/pretraining.txt.")
    parser.add_argument("--check", action="store_true", help="compare only; exit 1 on drift")
    parser.add_argument(
        "--out", type=Path, default=CHECKPOINT, help="folder to write (default: %(default)s)"
    )
    parser.add_argument("--steps", type=int, help="fewer steps, for a trial run (default: all)")
    options = parser.parse_args(arguments)
    if options.check:
        from instructor.pretraining.checkpoint_files import drifted

        faults = drifted(options.out)
        print("\n".join(faults) or f"{options.out}: matches its recorded digests")
        return 1 if faults else 0
    if (status := again_on_solution("instructor.pretraining.pretrain", arguments)) is not None:
        return status
    from instructor.pretraining.run import Settings

    settings = Settings()
    if options.steps:
        shares = (steps * options.steps // settings.steps for steps in settings.phases)
        settings = Settings(phases=tuple(shares))
    pretrain(TEXT, options.out, settings)
    print(f"{options.out}: written")
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Measure what models reach on the five grades: `make grades`.

Runs the students' programs, pretrain.py and classifier.py, with five seeds, and writes the table in
data/README.md. solution/ must be on PYTHONPATH.
"""

import contextlib
import io
import multiprocessing
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from statistics import mean

from tqdm import tqdm

import classifier
import pretrain
from instructor.gate.measure import CARD, CHECKPOINT, DATA, WORKERS
from instructor.language.baselines import baseline_table
from instructor.language.grades import ceiling
from instructor.language.write_data import draw_grades, recorded_seed
from support.runs import mean_scores
from support.sentences import Split, accuracy
from tensormark.files import put_between, write_whole
from tokenizer import BertTokenizer

SEEDS = range(5)
GRADES = DATA / "grades"
PRETRAINING = ["--continue", "--steps", "1500", "--lr", "0.002"]
RUNS = {
    "linear layer on the frozen checkpoint": "--fine-tune-mode last-linear-layer",
    "default": "",
    "longer pre-training": "--checkpoint runs/pretrained",
    "longer pre-training, tuned": "--checkpoint runs/pretrained --lr 0.001 --epochs 6",
}


def train_all(folder: Path, seed: int) -> None:
    """Pre-train longer, and do every run; each leaves its scores in a folder of its name."""
    folder.mkdir()
    with contextlib.chdir(folder), contextlib.redirect_stdout(io.StringIO()):
        usual = ["--seed", str(seed)]
        text = ["--text", str(GRADES / "pretraining.txt")]
        failed = pretrain.main([*PRETRAINING, *usual, *text])
        for name, options in RUNS.items():
            command = ["--task", "grades", *usual, *options.split(), "--save", name]
            failed = failed or classifier.main(command)
    assert not failed  # it has said why


def score(folders: Sequence[Path]) -> list[float]:
    """Return the accuracy of the mean of runs, on dev and on test."""
    tokenizer = BertTokenizer.from_pretrained(CHECKPOINT)
    splits = [Split(GRADES / name, tokenizer, 64) for name in ("dev.txt", "test.txt")]
    return [accuracy(mean_scores(folders, split).argmax(dim=1), split.labels) for split in splits]


def table(folders: Sequence[Path]) -> str:
    """Write the table: means of the runs in these folders, and how far apart seeds are on dev."""
    names = ("train.txt", "dev.txt", "test.txt")
    lines = [baseline_table({name: (GRADES / name).read_text("utf-8") for name in names})]
    for name in RUNS:
        dev, test = zip(*(score([folder / name]) for folder in folders), strict=True)
        spread = f"{min(dev):.3f} to {max(dev):.3f}"
        lines.append(f"| {name} | {mean(dev):.3f} ({spread}) | {mean(test):.3f} |")
    phrases, _ = draw_grades(recorded_seed(CARD.read_text("utf-8")))
    single = {
        "tuned, five seeds averaged": score([folder / name for folder in folders]),
        "ceiling: the grammar's best guess": [ceiling(phrases[name]) for name in ("dev", "test")],
    }
    lines += [f"| {name} | {dev:.3f} | {test:.3f} |" for name, (dev, test) in single.items()]
    return "\n".join(lines)


def main() -> None:
    """Do all runs, then write the table."""
    with tempfile.TemporaryDirectory() as place:
        folders = [Path(place) / str(seed) for seed in SEEDS]
        with ProcessPoolExecutor(WORKERS, multiprocessing.get_context("spawn")) as pool:
            done = pool.map(train_all, folders, SEEDS)
            list(tqdm(done, total=len(folders), unit="seed", file=sys.stdout))
        text = table(folders)
    print(text)
    write_whole(CARD, put_between(CARD.read_text("utf-8"), "grades", f"\n{text}\n"))
    print(f"wrote the table in {CARD}")


if __name__ == "__main__":
    main()

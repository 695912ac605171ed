"""Fine-tune as the grader does, in a process of its own; solution/ must be on PYTHONPATH.

Dimension key: N sentences, T tokens.
"""

import dataclasses
import importlib.metadata
import time
from pathlib import Path
from typing import Any

import torch

import classifier
from bert import BertModel
from instructor.gate.broken_models import BROKEN
from support import sentences
from tokenizer import BertTokenizer

HONEST = "honest"
LAST_LINEAR_LAYER = "last_linear_layer"
Run = dict[str, Any]  # a job (model, seed, threads), then also its accuracy, seconds, ...
SPLITS: dict[str, Any] = {}


def begin(data: Path, checkpoint: Path) -> None:
    """Read the sentences, once for all jobs of this process."""
    tokenizer = BertTokenizer.from_pretrained(checkpoint)
    longest = BertModel.from_pretrained(checkpoint).config.max_position_embeddings
    for name in ("train", "dev"):
        SPLITS[name] = sentences.Split(data / f"{name}.txt", tokenizer, longest)


def _described(recipe: Any, width: int) -> dict[str, Any]:
    """Return a recipe as a dict, with the rate for this width and the seed used in grading."""
    steps = recipe.steps(len(SPLITS["train"]))
    highest = max(classifier.learning_rates(recipe, width, steps))
    return dataclasses.asdict(recipe) | {"learning_rate": highest, "seed": classifier.Recipe.seed}


def run_job(job: Run, checkpoint: Path) -> Run:
    """Fine-tune one model on (N, T) ids and masks, and score it after the last epoch.

    Returns: the job with `accuracy`, None if training diverged; `seconds` of wall time; `recipe`;
        and `torch` and `processor`, its version and instructions.
    """
    train = SPLITS["train"]
    dev = SPLITS["dev"]
    torch.set_num_threads(job["threads"])
    mode = {"mode": classifier.LAST_LINEAR_LAYER} if job["model"] == LAST_LINEAR_LAYER else {}
    recipe = classifier.Recipe(seed=job["seed"], **mode)
    torch.manual_seed(recipe.seed)  # before the model is built, as in the grader's worker
    bert = BertModel.from_pretrained(checkpoint)
    if job["model"] in BROKEN:
        BROKEN[job["model"]](bert)
    model = classifier.BertSentimentClassifier(bert, int(train.labels.max()) + 1)
    accuracy = None
    started = time.monotonic()
    try:
        classifier.fine_tune(model, train.input_ids, train.attention_mask, train.labels, recipe)
        predictions = classifier.predict(model, dev.input_ids, dev.attention_mask)
        accuracy = sentences.accuracy(predictions, dev.labels)
    except FloatingPointError:
        pass  # it has diverged
    return job | {
        "accuracy": accuracy,
        "seconds": round(time.monotonic() - started, 2),
        "recipe": _described(recipe, bert.config.hidden_size),
        "torch": importlib.metadata.version("torch"),  # torch's own may name the build, too
        "processor": torch.backends.cpu.get_cpu_capability(),
    }

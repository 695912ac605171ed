"""Fine-tune as the grader does, once for every line on standard input.

Started by instructor.gate.measure with solution/ on PYTHONPATH. Each input line is a job as JSON:
model, seed and threads; each output line has its dev accuracy, the seconds it took, and the files
that it depends on.

Dimension key: N sentences, T tokens.
"""

import dataclasses
import importlib
import importlib.metadata
import json
import sys
import time
from pathlib import Path
from typing import Any

import torch

from instructor.gate.broken_models import BROKEN
from instructor.gate.depends import Reading

HONEST = "honest"
LAST_LINEAR_LAYER = "last_linear_layer"


def _described(classifier: Any, recipe: Any, width: int, sentences: int) -> dict[str, Any]:
    """Return a recipe as a dict, with the rate for this width and the seed used in grading."""
    highest = max(classifier.learning_rates(recipe, width, recipe.steps(sentences)))
    return dataclasses.asdict(recipe) | {"learning_rate": highest, "seed": classifier.Recipe.seed}


def _recipe(classifier: Any, job: dict[str, Any]) -> Any:
    if job["model"] == LAST_LINEAR_LAYER:
        return classifier.Recipe(mode=classifier.LAST_LINEAR_LAYER, seed=job["seed"])
    return classifier.Recipe(seed=job["seed"])


def _run_job(modules: dict[str, Any], splits: dict[str, Any], checkpoint: Path, job: Any) -> Any:
    """Fine-tune one model on (N, T) ids and masks, and score it after the last epoch.

    Returns: the job with `accuracy`, None if training diverged; `seconds` of wall time; `recipe`;
        and `torch` and `processor`, its version and instructions.
    """
    classifier, train, dev = modules["classifier"], splits["train"], splits["dev"]
    torch.set_num_threads(job["threads"])
    recipe = _recipe(classifier, job)
    torch.manual_seed(recipe.seed)  # before the model is built, as in the grader's worker
    bert = modules["bert"].BertModel.from_pretrained(checkpoint)
    if job["model"] in BROKEN:
        BROKEN[job["model"]](bert)
    model = classifier.BertSentimentClassifier(bert, int(train.labels.max()) + 1)
    started = time.monotonic()
    try:
        classifier.fine_tune(model, train.input_ids, train.attention_mask, train.labels, recipe)
        predictions = classifier.predict(model, dev.input_ids, dev.attention_mask)
        accuracy = modules["sentences"].accuracy(predictions, dev.labels)
    except FloatingPointError:
        accuracy = None
    seconds = round(time.monotonic() - started, 2)
    recipe = _described(classifier, recipe, bert.config.hidden_size, len(train))
    result = {"accuracy": accuracy, "seconds": seconds, "recipe": recipe}
    version = importlib.metadata.version("torch")  # torch's own may name the build, too
    about = {"torch": version, "processor": torch.backends.cpu.get_cpu_capability()}
    return job | result | about


def main() -> None:
    """Do every job on standard input, and print a line for each."""
    checkpoint, data = Path(sys.argv[1]), Path(sys.argv[2])
    reading = Reading(checkpoint, data)
    # Imported by name, as in the grader's worker: solution/ is not a package and has no types.
    names = ("bert", "classifier", "sentences", "tokenizer")
    modules = {name: importlib.import_module(name) for name in names}
    tokenizer = modules["tokenizer"].BertTokenizer.from_pretrained(checkpoint)
    longest = modules["bert"].BertModel.from_pretrained(checkpoint).config.max_position_embeddings
    splits = {
        name: modules["sentences"].Split(data / f"{name}.txt", tokenizer, longest)
        for name in ("train", "dev")
    }
    for line in sys.stdin:
        run = _run_job(modules, splits, checkpoint, json.loads(line))
        print(json.dumps(run | {"files": reading.digests()}), flush=True)


if __name__ == "__main__":
    main()

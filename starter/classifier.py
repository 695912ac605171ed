"""Fine-tune BERT to classify reviews as good or bad, or to grade them: `python classifier.py`.

It reads a checkpoint and files of `label ||| sentence` lines, trains, keeps the epoch with the best
dev accuracy, and writes `sentence ||| prediction` lines to predictions/. Test
sentences need no labels. Grading runs `fine_tune` and `predict` with this recipe.
With --ensemble or --compare it trains nothing, and reads what runs with --save have left.

Dimension key: N sentences, B batch, T tokens, D model width, C classes.

[1] Devlin et al., "BERT: Pre-training of Deep Bidirectional Transformers", arXiv:1810.04805
[2] Loshchilov and Hutter, "Decoupled Weight Decay Regularization", arXiv:1711.05101
"""

import argparse
import dataclasses
import math
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from tqdm import tqdm

from bert import BertModel
from support.command_line import (
    CHECKPOINT,
    DATA,
    OneLineParser,
    at_least,
    explain_code,
    explain_file,
    rate,
)
from support.runs import compare, draw_curves, mean_scores, print_confusion, save_scores
from support.saving import save_model
from support.sentences import (
    InputError,
    Split,
    accuracy,
    by_length,
    macro_f1,
    take,
    write_predictions,
)
from tokenizer import BertTokenizer

FULL_MODEL = "full-model"
LAST_LINEAR_LAYER = "last-linear-layer"
GRADES = "grades"
EPOCHS = {"sentiment": 1, GRADES: 3}  # of each task
SMALL = 128  # up to this width, threads wait for each other longer than they work


@dataclasses.dataclass(frozen=True)
class Recipe:
    """How to fine-tune. Grading also uses these defaults."""

    mode: str = FULL_MODEL  # or LAST_LINEAR_LAYER: the encoder is frozen
    epochs: int = 1  # BERT takes 2 to 4; these reviews are close to what was pre-trained on
    batch_size: int = 24  # with 32, some seeds have not yet learned the harder constructions
    learning_rate: float | None = None  # the peak; None: depends on the model's width
    warmup: float = 0.1  # share of the steps on which the rate rises; then it falls to 0
    clip: float = 1.0  # largest norm of the gradient of all parameters together
    weight_decay: float = 0.01
    seed: int = 0  # for the order of the sentences, and for dropout
    freeze: int = 0  # if not 0, the embeddings and this many layers stay as they are

    def steps(self, sentences: int) -> int:
        """Return the number of steps that training on this many sentences takes."""
        return self.epochs * math.ceil(sentences / self.batch_size)


class BertSentimentClassifier(nn.Module):
    """BERT with a linear layer on top: section 4.1 of [1]."""

    def __init__(
        self, bert: BertModel, num_labels: int, dropout: float | None = None, mean: bool = False
    ) -> None:
        """Args: mean: average the vectors of all tokens, instead of pooling that of [CLS]."""
        super().__init__()
        self.bert = bert
        self.dropout = nn.Dropout(bert.config.hidden_dropout_prob if dropout is None else dropout)
        self.classifier = nn.Linear(bert.config.hidden_size, num_labels)
        if mean:  # tells `open_model` of observe.py
            self.classifier.register_buffer("mean", torch.ones(()))
        # With random weights, some seeds never learned one kind of sentence, 6% of all.
        nn.init.zeros_(self.classifier.weight)
        nn.init.zeros_(self.classifier.bias)

    @property
    def device(self) -> torch.device:
        """Where the parameters are."""
        return self.classifier.weight.device

    def forward(self, input_ids: Tensor, attention_mask: Tensor) -> Tensor:
        """Score the classes for each sentence: (B, T) ids and mask to (B, C) logits."""
        output = self.bert(input_ids, attention_mask)
        pooled = output["pooler_output"]  # (B, D)
        if hasattr(self.classifier, "mean"):
            mask = attention_mask[:, :, None]  # (B, T, 1)
            pooled = (output["last_hidden_state"] * mask).sum(dim=1) / mask.sum(dim=1)  # (B, D)
        return self.classifier(self.dropout(pooled))  # (B, C)


class AdamW(torch.optim.AdamW):
    """torch's [2], as optimizer.py is an exercise; without the slow import for torch.compile."""

    add_param_group = torch.optim.AdamW.add_param_group.__wrapped__
    zero_grad = torch.optim.AdamW.zero_grad.__wrapped__
    step = torch.no_grad()(torch.optim.AdamW.step.__wrapped__)


def learning_rates(recipe: Recipe, width: int, steps: int) -> Iterator[float]:
    """Rise linearly to the peak rate, then fall linearly to nearly 0, in `steps` steps.

    2e-3 was measured on the shipped checkpoint, of width 64. Wider models need lower rates: the
    rule below gives BERT-base, width 768, 1.4e-5, close to what [1] uses.
    """
    default = 7e-3 if recipe.mode == LAST_LINEAR_LAYER else 2e-3 * min(1.0, (64 / width) ** 2)
    highest = default if recipe.learning_rate is None else recipe.learning_rate
    climbing = max(1, round(steps * recipe.warmup))
    for step in range(steps):
        up = (step + 1) / climbing
        down = (steps - step) / max(1, steps - climbing)
        yield highest * min(up, down)


def optimizer_for(model: BertSentimentClassifier, recipe: Recipe) -> AdamW:
    """Freeze the encoder or a part of it if the recipe says so, and optimize the rest."""
    whole = recipe.mode == FULL_MODEL
    model.bert.requires_grad_(whole and not recipe.freeze)
    for module in (*model.bert.bert_layers[recipe.freeze :], model.bert.pooler_dense):
        module.requires_grad_(whole)
    learned = [parameter for parameter in model.parameters() if parameter.requires_grad]
    return AdamW(learned, weight_decay=recipe.weight_decay, fused=True)  # the fastest on a CPU


def fine_tune(
    model: BertSentimentClassifier,
    input_ids: Tensor,
    attention_mask: Tensor,
    labels: Tensor,
    recipe: Recipe,
    on_step: Callable[[float], object] = lambda loss: None,
    on_epoch: Callable[[int, float], object] = lambda epoch, loss: None,
) -> None:
    """Train `model` in place; on a CPU, equal seeds and thread counts give equal weights.

    Args:
        input_ids, attention_mask: (N, T) int64, padded on the right.
        labels: (N,) int64, from 0 to C - 1.
        on_step: called with a step's loss; on_epoch: with the epoch, from 1, and its mean loss.

    Raises:
        FloatingPointError: the loss is no longer finite.
    """
    torch.manual_seed(recipe.seed)  # draws dropout
    shuffle = torch.Generator().manual_seed(recipe.seed)
    optimizer = optimizer_for(model, recipe)
    learned = optimizer.param_groups[0]["params"]
    rates = learning_rates(recipe, model.bert.config.hidden_size, recipe.steps(len(labels)))
    for epoch in range(1, recipe.epochs + 1):
        model.train()
        losses = []
        for rows in by_length(attention_mask, recipe.batch_size, shuffle):
            optimizer.param_groups[0]["lr"] = next(rates)
            logits = model(*take(input_ids, attention_mask, rows, model.device))  # (B, C)
            loss = F.cross_entropy(logits, labels[rows].to(model.device))
            losses.append(loss.item())
            if not math.isfinite(losses[-1]):
                raise FloatingPointError(f"the loss became {losses[-1]} in epoch {epoch}")
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(learned, recipe.clip)
            optimizer.step()
            on_step(losses[-1])
        on_epoch(epoch, sum(losses) / len(losses))


@torch.no_grad()
def score(
    model: BertSentimentClassifier, input_ids: Tensor, attention_mask: Tensor, batch_size: int = 128
) -> Tensor:
    """Score the classes of each sentence: (N, T) ids and mask to (N, C), in the same order."""
    model.eval()
    scores = torch.zeros(len(input_ids), model.classifier.out_features)
    for rows in by_length(attention_mask, batch_size):
        logits = model(*take(input_ids, attention_mask, rows, model.device))  # (B, C)
        scores[rows] = logits.float().cpu()
    return scores


def predict(
    model: BertSentimentClassifier, input_ids: Tensor, attention_mask: Tensor, batch_size: int = 128
) -> Tensor:
    """Predict the class of each sentence: (N, T) ids and mask to (N,) int64, in the same order."""
    return score(model, input_ids, attention_mask, batch_size).argmax(dim=1)


class BestEpoch:
    """Keeps the weights of the epoch with the best dev accuracy."""

    def __init__(self, model: BertSentimentClassifier, dev: Split) -> None:
        self.model = model
        self.dev = dev
        self.accuracies: list[float] = []
        self.weights: dict[str, Tensor] = {}
        self.started = time.monotonic()

    def after_epoch(self, epoch: int, loss: float) -> None:
        """Score the current model, print a line, and keep the model if it is the best so far."""
        predictions = predict(self.model, self.dev.input_ids, self.dev.attention_mask)
        dev_accuracy = accuracy(predictions, self.dev.labels)
        if dev_accuracy > max(self.accuracies, default=-1.0):
            self.weights = {name: t.clone() for name, t in self.model.state_dict().items()}
        self.accuracies.append(dev_accuracy)
        seconds = time.monotonic() - self.started
        f1 = macro_f1(predictions, self.dev.labels)
        line = f"epoch {epoch}  loss {loss:.4f}  dev accuracy {dev_accuracy:.4f}  macro F1 {f1:.4f}"
        tqdm.write(f"{line}  {seconds:.1f} s")


def parse_arguments(argv: list[str] | None) -> argparse.Namespace:
    """Read the command line; exit with a one-line error if it is wrong."""
    parser = OneLineParser("classifier.py", description="Fine-tune BERT to classify reviews.")
    add = parser.add_argument
    what = "what to tell: good or bad, or grades from 0, very bad, to 4, very good"
    add("--task", choices=EPOCHS, default="sentiment", help=what)
    modes = (FULL_MODEL, LAST_LINEAR_LAYER)
    add("--fine-tune-mode", choices=modes, default=Recipe.mode, help="what to train")
    add("--checkpoint", type=Path, default=CHECKPOINT, help="folder to start from")
    add("--train", type=Path, help="sentences to train on (default: train.txt of the task)")
    add("--dev", type=Path, help="sentences to choose the epoch by (default: dev.txt of the task)")
    usual = f"the task's test.txt; without --task {GRADES}, none if --train or --dev is given"
    add("--test", type=Path, help=f"sentences to label (default: {usual})")
    add("--predictions", type=Path, default=Path("predictions"), help="folder to write to")
    add("--save", type=Path, help="folder for the model, its scores and curves (default: none)")
    passes = f"passes over the sentences (default: 1; for {GRADES}, {EPOCHS[GRADES]})"
    add("--epochs", type=at_least(1), help=passes)
    add("--batch-size", type=at_least(1), default=Recipe.batch_size, help="sentences in a step")
    add("--lr", type=rate, help="peak learning rate (default: depends on the model's width)")
    share = "share of the steps on which the rate rises"
    add("--warmup", type=rate, default=Recipe.warmup, help=share)
    add("--freeze", type=at_least(0), default=0, help="layers to leave as they are, from the first")
    pooled = "what the last linear layer reads: the vector of [CLS], or the mean of all"
    add("--pooling", choices=("cls", "mean"), default="cls", help=pooled)
    add("--no-pretraining", action="store_true", help="start from random weights")
    add("--seed", type=at_least(0), default=Recipe.seed, help="of all random numbers")
    longest = "tokens per sentence (default: all positions of the model)"
    add("--max-length", type=at_least(3), help=longest)
    add("--device", choices=("cpu", "cuda"), help="where to compute (default: cuda if available)")
    add(
        "--threads",
        type=at_least(1),
        help="of torch (default: 1 for a small model, otherwise torch's default)",
    )
    saved = "folders that --save has written: "
    other = parser.add_mutually_exclusive_group().add_argument
    other("--ensemble", type=Path, nargs="+", metavar="RUN", help=f"{saved}average their scores")
    other("--compare", type=Path, nargs="+", metavar="RUN", help=f"{saved}test for differences")
    args = parser.parse_args(argv)
    folder = DATA / GRADES if args.task == GRADES else DATA
    if args.task == GRADES or not (args.train or args.dev):
        args.test = args.test or folder / "test.txt"
    args.train = args.train or folder / "train.txt"
    args.dev = args.dev or folder / "dev.txt"
    args.epochs = args.epochs or EPOCHS[args.task]
    args.device = args.device or ("cuda" if torch.cuda.is_available() else "cpu")
    if args.device == "cuda" and not torch.cuda.is_available():
        parser.error("--device cuda: torch finds no CUDA device")
    return args


def open_checkpoint(args: argparse.Namespace) -> tuple[BertModel, BertTokenizer, int]:
    """Load the model and its tokenizer; also return how many tokens of a sentence to keep."""
    bert = BertModel.from_pretrained(args.checkpoint)
    if args.threads or bert.config.hidden_size <= SMALL:
        torch.set_num_threads(args.threads or 1)
    tokenizer = BertTokenizer.from_pretrained(args.checkpoint)
    words = bert.config.vocab_size
    positions = bert.config.max_position_embeddings
    if tokenizer.vocab_size > words:
        pieces = f"{tokenizer.vocab_size} word pieces, but the model has {words}"
        raise InputError(f"{args.checkpoint}: the tokenizer has {pieces}")
    if args.freeze > len(bert.bert_layers):
        raise InputError(f"--freeze {args.freeze}: the model has {len(bert.bert_layers)} layers")
    if args.max_length is not None and args.max_length > positions:
        raise InputError(
            f"--max-length {args.max_length}: the model has only {positions} positions"
        )
    return bert, tokenizer, args.max_length or positions


def read_splits(args: argparse.Namespace, tokenizer: BertTokenizer, length: int) -> list[Split]:
    """Read the train, dev and (if there is one) test file, and check that their labels match."""
    splits = []
    for path in filter(None, (args.train, args.dev, args.test)):
        split = Split(path, tokenizer, length, labelled=len(splits) < 2)
        splits.append(split)
        cut = f", {split.truncated} of them truncated to {length} tokens" if split.truncated else ""
        print(f"{path}: {len(split)} sentences{cut}")
        known = int(splits[0].labels.max())
        highest = max(split.labels.tolist(), default=0)
        if highest > known:
            raise InputError(
                f"{path}: label {highest}, but the labels of {args.train} go up to {known}"
            )
    return splits


def train(
    args: argparse.Namespace, bert: BertModel, tokenizer: BertTokenizer, splits: list[Split]
) -> list[Tensor]:
    """Fine-tune, restore the best epoch, and score dev and test sentences, (N, C) each."""
    train, dev = splits[:2]
    recipe = Recipe(
        args.fine_tune_mode,
        args.epochs,
        args.batch_size,
        args.lr,
        args.warmup,
        seed=args.seed,
        freeze=args.freeze,
    )
    if args.no_pretraining:
        bert.init_weights()
    classes = max(2, int(train.labels.max()) + 1)
    model = BertSentimentClassifier(bert, classes, mean=args.pooling == "mean").to(args.device)
    tensors = (train.input_ids, train.attention_mask, train.labels)
    best = BestEpoch(model, dev)
    losses = []
    with tqdm(total=recipe.steps(len(train)), desc="fine-tuning", leave=False, disable=None) as bar:

        def on_step(loss: float) -> None:
            losses.append(loss)
            bar.update()

        fine_tune(model, *tensors, recipe, on_step, best.after_epoch)
    model.load_state_dict(best.weights)
    if args.save:
        save_model(model, tokenizer, args.save)
    if args.task == GRADES:
        path = (args.save or args.predictions) / "curves.png"
        try:
            draw_curves(losses, best.accuracies, path)
            print(f"curves drawn to {path}")
        except InputError as error:
            print(f"no curves: {error}")
    return [score(model, s.input_ids, s.attention_mask).softmax(dim=1) for s in splits[1:]]


def write(args: argparse.Namespace, splits: list[Split], scores: list[Tensor]) -> None:
    """Write and print what (N, C) scores say of dev and test sentences."""
    name = GRADES if args.task == GRADES else args.fine_tune_mode
    for role, split, given in zip(("dev", "test"), splits, scores, strict=False):
        predictions = given.argmax(dim=1)
        if role == "dev" and given.shape[1] > 2:
            print_confusion(predictions, split.labels)
        path = args.predictions / f"{name}-{role}-out.txt"
        write_predictions(path, split.sentences, predictions.tolist())
        right = accuracy(predictions, split.labels) if len(split.labels) else None
        scored = "" if right is None else f"accuracy {right:.4f}, "
        print(f"{role} {scored}predictions written to {path}")
    if args.save:
        save_scores(args.save, splits, scores)


def main(argv: list[str] | None = None) -> int:
    """Run the program; return 0 on success, 1 if training had to stop, 2 for bad input."""
    args = parse_arguments(argv)
    torch.manual_seed(args.seed)  # for weights that are not read from the checkpoint
    try:
        bert, tokenizer, length = open_checkpoint(args)
        splits = read_splits(args, tokenizer, length)
        if args.compare:
            compare(args.compare, splits[1])
            return 0
        if args.ensemble:
            scores = [mean_scores(args.ensemble, split) for split in splits[1:]]
        for directory in filter(None, (args.predictions, args.save)):
            directory.mkdir(parents=True, exist_ok=True)  # fail before training, not after
    except (OSError, ValueError) as error:
        print(f"classifier.py: {explain_file(error)}", file=sys.stderr)
        return 2
    try:
        if not args.ensemble:
            scores = train(args, bert, tokenizer, splits)
    except NotImplementedError as error:
        print(explain_code(error), file=sys.stderr)
        return 1
    except FloatingPointError as error:
        print(f"classifier.py: {error}; a smaller --lr may help", file=sys.stderr)
        return 1
    write(args, splits[1:], scores)
    return 0


if __name__ == "__main__":
    sys.exit(main())

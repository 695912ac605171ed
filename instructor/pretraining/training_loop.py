"""The training loop; solution/ must be on PYTHONPATH.

All randomness is derived from the seed and the number of the epoch or step, so a step does the same
whether or not the run was interrupted before it: no generator state has to be saved.

Dimension key: B batch, T tokens, D model width.
"""

import dataclasses
import io
import itertools
import random
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import torch
from torch import nn

from config import BertConfig
from instructor.language.reviews import EVERYTHING
from optimizer import AdamW
from pretrain import losses_of, sorted_batches
from pretraining import BertForPreTraining, make_sentence_pairs
from tensormark.files import digest, write_whole

Documents = list[list[list[int]]]  # reviews, sentences, token ids
Films = dict[str, Documents]  # the reviews of each film
LONG = 4  # the least number of sentences in a long review
HALVED = 0.1  # the share of long reviews that are also paired as two halves


def all_reviews(films: Films) -> Documents:
    """List the reviews of all films."""
    return list(itertools.chain(*films.values()))


@dataclasses.dataclass(frozen=True)
class PretrainingSettings:
    """Everything that determines a run, apart from its text."""

    seed: int = 2026
    width: int = 64
    layers: int = 3
    heads: int = 4
    feed_forward: int = 256
    max_length: int = 64
    phases: tuple[int, ...] = (1000, 2500, 2500, 34000)  # steps, for each level of reviews
    batch: int = 64
    learning_rate: float = 2e-3
    warmup: int = 100  # steps
    held: float = 0.4  # share of the steps before the rate starts to fall to zero
    weight_decay: float = 0.01
    clip: float = 1.0  # the largest norm of a gradient
    threads: int = 1  # sums are rounded differently with another number
    report: int = 100  # steps between two points of the loss curve
    snapshot: int = 500  # steps between two snapshots

    @property
    def steps(self) -> int:
        """The length of the whole run."""
        return sum(self.phases)

    def rate(self, step: int) -> float:
        """Return the learning rate of a step: it rises, holds, and falls to zero."""
        fall = (self.steps - step) / (self.steps * (1 - self.held))
        return self.learning_rate * min(1.0, (step + 1) / self.warmup, fall)


@dataclasses.dataclass
class Run:
    """A model in training."""

    settings: PretrainingSettings
    tokenizer: Any
    levels: list[Films]  # the reviews to train on, by their level
    model: Any
    optimizer: Any
    step: int = 0
    curve: list[tuple[int, float, float]] = dataclasses.field(default_factory=list)
    seconds: float = 0.0  # of training, including before interruptions

    @property
    def films(self) -> Films:
        """Return all reviews to train on."""
        films: Films = {}
        for level in self.levels:
            for title, reviews in level.items():
                films.setdefault(title, []).extend(reviews)
        return films

    def origin(self) -> str:
        """Name the run by a digest of its settings and its text."""
        return digest(repr((self.settings, self.levels)).encode())

    def save(self, snapshot: Path) -> None:
        """Write all that a run needs to go on from here, in place of an earlier snapshot."""
        buffer = io.BytesIO()
        state = {
            "origin": self.origin(),
            "step": self.step,
            "model": self.model.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "curve": self.curve,
            "seconds": self.seconds,
        }
        torch.save(state, buffer)
        write_whole(snapshot, buffer.getvalue())

    def resume(self, snapshot: Path) -> None:
        """Go on from a snapshot, if there is one of this run."""
        if not snapshot.is_file():
            return
        state = torch.load(snapshot, weights_only=True)
        if state["origin"] == self.origin():
            self.model.load_state_dict(state["model"])
            self.optimizer.load_state_dict(state["optimizer"])
            self.step = state["step"]
            self.seconds = state["seconds"]
            self.curve = [tuple(point) for point in state["curve"]]


def _start_from_copying(model: Any) -> None:
    """Initialize every layer to pass on what its tokens attend to.

    With small random weights, values and output projections lose nearly all of their input, and a
    small BERT needs millions of tokens before the first head copies anything. So their product
    starts as the identity, split by a random rotation, and the prediction head starts as the
    identity too: the idea of "mimetic initialization", Trockman and Kolter, arXiv:2305.09828.
    """
    size = model.config.hidden_size
    with torch.no_grad():
        for layer in model.bert.bert_layers:
            rotation, _ = torch.linalg.qr(torch.randn(size, size))
            layer.self_attention.value.weight.add_(0.7 * rotation)
            layer.attention_dense.weight.add_(0.7 * rotation.T)
        model.mlm_head.dense.weight.add_(torch.eye(size))


def make_run(settings: PretrainingSettings, tokenizer: Any, levels: list[Films]) -> Run:
    """Build the model with its initial weights, and its optimizer."""
    config = BertConfig(
        vocab_size=tokenizer.vocab_size,
        hidden_size=settings.width,
        num_hidden_layers=settings.layers,
        num_attention_heads=settings.heads,
        intermediate_size=settings.feed_forward,
        max_position_embeddings=settings.max_length,
        initializer_range=0.05,  # for a width of 64; 0.02 is made for 768
        # The text is too varied to be memorized, and fine-tuning so narrow a model gains nothing.
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
    )
    torch.manual_seed(settings.seed)
    model = BertForPreTraining(config)
    _start_from_copying(model)
    optimizer = AdamW(model.parameters(), betas=(0.9, 0.98), weight_decay=settings.weight_decay)
    return Run(settings, tokenizer, levels, model, optimizer)


def _two_halves(review: list[list[int]]) -> list[list[int]]:
    middle = len(review) // 2
    return [list(itertools.chain(*half)) for half in (review[:middle], review[middle:])]


def same_film_pairs(films: Iterable[Documents], rng: random.Random, max_length: int) -> list[Any]:
    """Pair sentences with the next one, or with one from another review of the same film.

    Both then have the film's name, lead and genre, so only what they say about it can tell.
    Some longer reviews are paired once more as two halves, to train the late positions too.
    """
    pairs = []
    for reviews in films:
        if len(reviews) > 1:  # or there is no other review
            pairs += make_sentence_pairs(reviews, rng, max_length)
        halves = [_two_halves(r) for r in reviews if len(r) >= LONG and rng.random() < HALVED]
        if len(halves) > 1:
            pairs += make_sentence_pairs(halves, rng, max_length)
    return pairs


def _phase_batches(run: Run, phase: int, steps: int) -> Iterator[list[Any]]:
    """Draw the batches of a phase: epoch after epoch, each with its own pairs, until `steps`.

    The phases before the last use the reviews of their own level; the last uses all.
    """
    films = run.levels[phase] if phase < EVERYTHING else run.films
    epoch = count = 0
    while count < steps:
        rng = random.Random(f"{run.settings.seed} phase {phase} epoch {epoch}")
        pairs = same_film_pairs(films.values(), rng, run.settings.max_length)
        for batch in sorted_batches(pairs, run.settings.batch, rng)[: steps - count]:
            count += 1
            yield batch
        epoch += 1


def train(run: Run, snapshot: Path) -> Iterator[None]:
    """Train to the end, yield after each step, and write a snapshot now and then."""
    settings = run.settings
    done = 0
    recent = torch.zeros(2)
    for phase, steps in enumerate(settings.phases):
        for batch in _phase_batches(run, phase, steps):
            done += 1
            if done <= run.step:
                continue  # done before an interruption
            started = time.perf_counter()
            recent += torch.tensor(_training_step(run, batch))
            run.seconds += time.perf_counter() - started
            if run.step % settings.report == 0:
                run.curve.append((run.step, *(recent / settings.report).tolist()))
                recent.zero_()
            if run.step % settings.snapshot == 0:
                run.save(snapshot)
            yield


def _training_step(run: Run, batch: list[Any]) -> Any:
    for group in run.optimizer.param_groups:
        group["lr"] = run.settings.rate(run.step)
    run.optimizer.zero_grad()
    generator = torch.Generator().manual_seed(run.settings.seed * 1_000_003 + run.step)
    loss, parts = losses_of(run.model, run.tokenizer, batch, generator)
    loss.backward()
    nn.utils.clip_grad_norm_(run.model.parameters(), run.settings.clip)
    run.optimizer.step()
    run.step += 1
    return parts

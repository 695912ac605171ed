"""The model card: how the checkpoint was trained, and how it does on held-out text.

Dimension key: B batch, T tokens.
"""

import collections
import itertools
import random
from typing import Any

import torch
from torch import Tensor

from instructor.pretraining.training_loop import Documents, Films, Run, all_reviews, same_film_pairs
from pretrain import sorted_batches
from pretraining import IGNORED, INPUTS, mask_tokens, pair_batch

CARD = """---
license: mit
language: en
---

# The frozen checkpoint

A small BERT, pre-trained on `data/pretraining.txt` by `solution/pretraining.py` and
`solution/optimizer.py` on masked tokens and next sentences jointly, as in the paper. It opens in
minBERT and in Hugging Face transformers:

    BertModel.from_pretrained("checkpoint")

| | |
| --- | --- |
| layers, width, heads, feed-forward | {s.layers}, {s.width}, {s.heads}, {s.feed_forward} |
| word pieces | {vocabulary:,} |
| parameters, both heads included | {parameters:,} |
| training | {s.steps:,} steps of {s.batch} pairs of sentences |
| texts | {phases} |
| false second sentences | from other reviews of the same film |
| learning rate | {s.learning_rate}, {s.warmup} warm-up steps, decay over the last {fall:.0%} |
| dropout | none, in pre-training or in `config.json`: it lowers the accuracy of so narrow a model |
| wall time | {minutes:.1f} minutes, {s.threads} thread |

## On held-out reviews

The last {held:,} reviews of the file were not used for training.

| | this checkpoint | most frequent token | 2-gram model | chance |
| --- | --- | --- | --- | --- |
| masked tokens, accuracy | {masked:.3f} | {frequent:.3f} | {bigram:.3f} | |
| next sentence, accuracy | {following:.3f} | | | 0.500 |

A false second sentence is about the same film, so the film's name gives nothing away. Half of the
false ones agree with the first sentence's judgement, so a reader who knows every judgement is right
in 0.750 of the pairs. The order of a review tells more: a verdict follows an opinion.

Nothing in the context tells which of 32 positive adjectives a sentence uses.

## Training it again

    make checkpoint            # resumes if interrupted
    make checkpoint CHECK=1    # compares with SHA256SUMS

On the same machine, the same text and seed give the same bytes. On another kind of processor, the
weights differ in the last digits.
"""


def _n_grams(documents: Documents, tokenizer: Any) -> tuple[int, Tensor]:
    pairs: collections.Counter[tuple[int, int]] = collections.Counter()
    alone: collections.Counter[int] = collections.Counter()
    for sentence in itertools.chain.from_iterable(documents):
        alone.update(sentence)
        pairs.update(zip((tokenizer.cls_token_id, *sentence), sentence, strict=False))
    frequent = alone.most_common(1)[0][0]
    after = torch.full((tokenizer.vocab_size,), frequent)
    for (left, token), _ in sorted(pairs.items(), key=lambda item: item[1]):
        after[left] = token  # the last one written is the most frequent
    after[tokenizer.sep_token_id] = after[tokenizer.cls_token_id]  # both come before a sentence
    return frequent, after


@torch.no_grad()
def _held_out_accuracy(run: Run, films: Films) -> dict[str, float]:
    """Measure both tasks on held-out reviews; masks and pairs are drawn once."""
    rng = random.Random("held out")
    generator = torch.Generator().manual_seed(run.settings.seed)
    pairs = same_film_pairs(films.values(), rng, run.settings.max_length)
    right: collections.Counter[str] = collections.Counter()
    tokens = 0
    own = run.tokenizer
    frequent, following = _n_grams(all_reviews(run.films), own)
    for batch in sorted_batches(pairs, 256, rng):
        tensors = pair_batch(batch, own)
        whole, mask, types = (tensors[name] for name in INPUTS)
        ids, labels = mask_tokens(
            whole, own.special_ids, own.mask_token_id, own.vocab_size, generator
        )
        chosen = labels != IGNORED  # (B, T)
        tokens += int(chosen.sum())
        predicted, _ = run.model(ids, mask, types, chosen)
        right["masked"] += _agreements(predicted.argmax(-1), labels[chosen])
        right["frequent"] += _agreements(labels[chosen], frequent)
        right["bigram"] += _agreements(following[whole.roll(1, dims=1)[chosen]], labels[chosen])
        _, verdict = run.model(whole, mask, types)
        right["following"] += _agreements(verdict.argmax(-1), tensors["next_sentence_label"])
    shares = {name: count / tokens for name, count in right.items()}
    return shares | {"following": right["following"] / len(pairs)}


def _agreements(a: Tensor, b: Tensor | int) -> int:
    return int((a == b).sum())


def model_card(run: Run, held_out: Films) -> str:
    """Write a trained model's card."""
    settings = run.settings
    kinds = ("lists of words", "is and is not", "one clause", "everything")
    phases = (
        f"{kind}: {steps:,} steps" for kind, steps in zip(kinds, settings.phases, strict=True)
    )
    return CARD.format(
        s=settings,
        vocabulary=run.tokenizer.vocab_size,
        parameters=sum(parameter.numel() for parameter in run.model.parameters()),
        fall=1 - settings.held,
        phases=", ".join(phases),
        minutes=run.seconds / 60,
        held=len(all_reviews(held_out)),
        **_held_out_accuracy(run, held_out),
    )

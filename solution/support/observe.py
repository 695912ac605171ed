"""Looks into your model while it runs: what its modules return, where attention looks, its guesses.

Dimension key: B batch, T tokens, D model width, H heads, d head width, V vocabulary.
"""

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path

import torch
from torch import Tensor, nn

from base_bert import WEIGHTS_NAME, load_file
from bert import BertModel, BertSelfAttention
from classifier import BertSentimentClassifier
from config import BertConfig
from support.sentences import InputError
from tokenizer import BertTokenizer

GUESSES = 5
ATTENTION = "attention"  # the last part of the name of a step with probabilities
Attention = Callable[[Tensor, Tensor, Tensor, Tensor], Tensor]
Steps = list[tuple[str, Tensor]]  # names of modules, and what these returned, in order


def open_model(folder: Path) -> tuple[nn.Module, BertTokenizer]:
    """Read a BertModel, or a classifier if the folder is from `classifier.py --save`."""
    bert = BertModel.from_pretrained(folder)
    tokenizer = BertTokenizer.from_pretrained(folder)
    weights = load_file(folder / WEIGHTS_NAME)
    head = {name: tensor for name, tensor in weights.items() if name.startswith("classifier.")}
    if not head:
        return bert, tokenizer
    mean = "classifier.mean" in head
    model = BertSentimentClassifier(bert, len(head["classifier.bias"]), mean=mean)
    model.load_state_dict(head, strict=False)
    model.config = bert.config
    return model.eval(), tokenizer


def encode(sentence: str, tokenizer: BertTokenizer, config: BertConfig) -> tuple[dict, list[str]]:
    """Encode one sentence: a batch of one, and the names of its tokens.

    Raises:
        InputError: it has no word that the model knows, or too many tokens.
    """
    batch = tokenizer([sentence])
    tokens = tokenizer.tokenizer.encode(sentence).tokens
    if set(tokens) <= {"[CLS]", "[SEP]", "[PAD]", "[UNK]"}:
        raise InputError("the sentence has no word that the model knows")
    positions = config.max_position_embeddings
    if len(tokens) > positions:
        raise InputError(f"the sentence has {len(tokens)} tokens, the model {positions} positions")
    return batch, tokens


def probabilities(attention: Attention, key: Tensor, query: Tensor, mask: Tensor) -> Tensor:
    """Recover the probabilities with which an attention function averages values.

    If the values are the rows of an identity matrix, the weighted mean that a token gets *is* its
    probabilities. A value has only d units, so the matrix is passed in strips of d columns.

    Args:
        attention: takes key, query, value and mask, as BertSelfAttention.attention does.
        key, query: (B, H, T, d); mask: (B, 1, 1, T), to be added to scores.

    Returns: (B, H, T, T): query token, key token.
    """
    B, H, T, d = key.shape
    strips = []
    for identity in torch.eye(T, dtype=key.dtype).split(d, dim=1):
        value = torch.zeros_like(key)
        value[..., : identity.shape[1]] = identity  # (B, H, T, d)
        mixed = attention(key, query, value, mask)
        strips.append(mixed.view(B, T, H, d).transpose(1, 2)[..., : identity.shape[1]])
    return torch.cat(strips, dim=-1)  # (B, H, T, T)


@contextlib.contextmanager
def recorded(model: nn.Module) -> Iterator[Steps]:
    """Record what modules return, and attention's probabilities; the output is unchanged."""
    steps: Steps = []

    def watch(name: str, attention: Attention) -> Attention:
        def watching(key: Tensor, query: Tensor, value: Tensor, attention_mask: Tensor) -> Tensor:
            steps.append((name, probabilities(attention, key, query, attention_mask)))
            return attention(key, query, value, attention_mask)

        return watching

    def keep(name: str) -> Callable[..., None]:
        return lambda module, given, made: steps.append((name, made))

    with contextlib.ExitStack() as end:
        for name, module in model.named_modules():
            if isinstance(module, BertSelfAttention):
                # shadows the method, in this object only
                module.attention = watch(f"{name}.{ATTENTION}", module.attention)
                end.callback(delattr, module, "attention")
            elif not any(module.children()) and not isinstance(module, nn.Dropout):
                end.callback(module.register_forward_hook(keep(name)).remove)
        yield steps


@torch.no_grad()
def guess(
    model: nn.Module, tokenizer: BertTokenizer, sentence: str
) -> tuple[list[str], list[float]]:
    """Return the most likely tokens for the one [MASK] of a sentence, and their probabilities.

    Args:
        model: a BertForPreTraining.

    Raises:
        InputError: there is no [MASK] in it, or more than one.
    """
    batch, _ = encode(sentence, tokenizer, model.config)
    hidden = batch["input_ids"] == tokenizer.mask_token_id  # (1, T)
    if hidden.sum() != 1:
        raise InputError(
            f"the sentence should have one [MASK], in capitals, but has {int(hidden.sum())}"
        )
    logits, _ = model(**batch, chosen=hidden)  # (1, V)
    best = logits[0].softmax(dim=0).topk(GUESSES)
    names = [tokenizer.tokenizer.id_to_token(number) for number in best.indices.tolist()]
    return names, best.values.tolist()

"""BERT's pre-training [1]: word pieces, masked tokens and next sentences, from plain text alone.

Dimension key: B batch, T tokens, D model width, V vocabulary.

[1] Devlin et al., "BERT: Pre-training of Deep Bidirectional Transformers", arXiv:1810.04805
[2] Wu et al., "Google's Neural Machine Translation System", section 4.1, arXiv:1609.08144
"""

import itertools
import random
from collections.abc import Mapping, Sequence

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from base_bert import BertPreTrainedModel
from bert import BertModel
from tokenizer import BertTokenizer, padded

IGNORED = -100  # the label of a token that is not to be predicted; cross_entropy ignores it
INPUTS = ("input_ids", "attention_mask", "token_type_ids")  # what the model reads of a batch
IS_NEXT, NOT_NEXT = 0, 1  # the classes of the next-sentence head, as in the published checkpoints

Sentence = list[int]  # token ids, without [CLS] and [SEP]
Pair = tuple[Sentence, Sentence, int]  # two sentences, and whether the second is the next


def wordpiece(
    words: Sequence[str], vocabulary: Mapping[str, int], unknown_id: int, max_length: int = 100
) -> list[list[int]]:
    """Spell each word with the pieces [2] of a vocabulary, longest match first.

    This is what the code released with [1] does. From left to right, the longest piece that fits is
    taken, and never given back. A piece that does not begin a word has ## before it.

    Args:
        words: taken as they are; none is empty.
        vocabulary: piece to id, such as {"play": 7, "##ed": 3}.
        unknown_id: all that is returned of a word in which no piece fits at some place.
        max_length: in characters; a longer word is unknown.

    Returns: a list of ids for each word.
    """
    # TODO(wordpiece): try the whole rest of the word, then one character less, and so on. See
    # handout/extensions.md, Problem (wordpiece).
    ### BEGIN SOLUTION wordpiece
    rows = []
    for word in words:
        row, start, end = [], 0, len(word)
        while start < end <= max_length:  # a word that is too long is not even begun
            piece = ("##" if start > 0 else "") + word[start:end]
            if piece in vocabulary:
                row.append(vocabulary[piece])
                start, end = end, len(word)
            else:
                end -= 1
        rows.append(row if start == len(word) else [unknown_id])
    return rows
    ### END SOLUTION wordpiece


def mask_tokens(
    input_ids: Tensor,
    special_ids: Sequence[int],
    mask_token_id: int,
    vocab_size: int,
    generator: torch.Generator,
    probability: float = 0.15,
) -> tuple[Tensor, Tensor]:
    """Hide some of the tokens, for the model to predict.

    Section 3.1 of [1], Task #1: each token that is not special is chosen with `probability`. Of
    the chosen ones 80% become [MASK], 10% a token drawn from the whole vocabulary, 10% stay.

    Args:
        input_ids: (B, T), int64; it is not changed.
        special_ids: the ids of [PAD], [CLS] and so on, which are never chosen.
        mask_token_id: the id of [MASK].
        vocab_size: a random token is one of 0 ... vocab_size - 1.
        generator: used for every draw.

    Returns: the ids with the chosen tokens hidden, and the labels, both (B, T), int64: a chosen
        token's label is its true id, every other label is -100.
    """
    # TODO(mask_tokens): choose, keep true ids as labels, hide. Draw with generator=generator.
    # See handout/extensions.md, Problem (mask_tokens).
    ### BEGIN SOLUTION mask_tokens
    special = torch.isin(input_ids, torch.tensor(special_ids))
    chosen = (torch.rand(input_ids.shape, generator=generator) < probability) & ~special
    labels = torch.where(chosen, input_ids, IGNORED)
    fate = torch.rand(input_ids.shape, generator=generator)
    hidden = torch.where(chosen & (fate < 0.8), mask_token_id, input_ids)
    others = torch.randint(vocab_size, input_ids.shape, generator=generator)
    return torch.where(chosen & (fate >= 0.9), others, hidden), labels
    ### END SOLUTION mask_tokens


def make_sentence_pairs(
    documents: Sequence[Sequence[Sentence]], rng: random.Random, max_length: int
) -> list[Pair]:
    """Pair every sentence with the next one, or with one that does not belong to it.

    Section 3.1 of [1], Task #2: half of the time the second sentence is the one that follows, half
    of the time it is a sentence drawn from another document. A coin decides for each pair. If the
    pair is too long, tokens are removed from the end of the longer sentence, one by one.

    Args:
        documents: at least two; each is a list of sentences. They are not changed.
        rng: used for every draw.
        max_length: tokens of a pair at most, [CLS] and two [SEP] included.

    Returns: a triple (first, second, label) for every sentence but the last of each document, in
        the order of the text; the label is IS_NEXT (0) or NOT_NEXT (1).
    """
    # TODO(make_sentence_pairs): go through documents and sentences; toss the coin, take the next
    # sentence or one from ANOTHER document; cut copies of them until they fit.
    # See handout/extensions.md, Problem (make_sentence_pairs).
    ### BEGIN SOLUTION make_sentence_pairs
    pairs = []
    for number, document in enumerate(documents):
        for first, second in itertools.pairwise(document):
            label = IS_NEXT
            if rng.random() < 0.5:
                # one step to len - 1 steps further on, round the end: never the same document
                other = (number + 1 + rng.randrange(len(documents) - 1)) % len(documents)
                second, label = rng.choice(documents[other]), NOT_NEXT
            first, second = list(first), list(second)
            while len(first) + len(second) + 3 > max_length:
                (first if len(first) > len(second) else second).pop()
            pairs.append((first, second, label))
    return pairs
    ### END SOLUTION make_sentence_pairs


def pair_batch(pairs: Sequence[Pair], tokenizer: BertTokenizer) -> dict[str, Tensor]:
    """Write pairs as [CLS] first [SEP] second [SEP], padded to the longest.

    Figure 2 of [1]: the first segment ends with its [SEP]; the second is the rest.

    Args:
        pairs: (first, second, label), as `make_sentence_pairs` returns them.
        tokenizer: has cls_token_id, sep_token_id and pad_token_id.

    Returns: a dict, all int64.
        input_ids: (B, T), padded with [PAD].
        token_type_ids: (B, T), 0 in the first segment and in padding, 1 in the second segment.
        attention_mask: (B, T), 1 for a token, 0 for padding.
        next_sentence_label: (B,).
    """
    # TODO(pair_batch): ids, segments and mask of each pair; `padded` pads rows to one length.
    # See handout/extensions.md, Problem (pair_batch).
    ### BEGIN SOLUTION pair_batch
    cls, sep, pad = tokenizer.cls_token_id, tokenizer.sep_token_id, tokenizer.pad_token_id
    rows = [[cls, *first, sep, *second, sep] for first, second, _ in pairs]
    kinds = [[0] * (len(first) + 2) + [1] * (len(second) + 1) for first, second, _ in pairs]
    T = max(len(row) for row in rows)
    return {
        "input_ids": padded(rows, T, pad),
        "token_type_ids": padded(kinds, T, 0),
        "attention_mask": padded([[1] * len(row) for row in rows], T, 0),
        "next_sentence_label": torch.tensor([label for _, _, label in pairs]),
    }
    ### END SOLUTION pair_batch


class MaskedLanguageModelHead(nn.Module):
    """Predicts tokens from their vectors; the decoder is the transposed word embedding."""

    def __init__(self, config) -> None:
        super().__init__()
        self.dense = nn.Linear(config.hidden_size, config.hidden_size)
        self.layer_norm = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps)
        self.bias = nn.Parameter(torch.zeros(config.vocab_size))  # one per token

    def forward(self, hidden_states: Tensor, word_embedding: Tensor) -> Tensor:
        """Score every token of the vocabulary: dense, GELU, LayerNorm, decoder.

        Args:
            hidden_states: (..., D), from the encoder.
            word_embedding: (V, D), the encoder's own table of word embeddings.

        Returns: (..., V), logits.
        """
        # TODO(mlm_head): transform, then compare with each word embedding and add the bias.
        # See handout/extensions.md, Problem (mlm_head).
        ### BEGIN SOLUTION mlm_head
        transformed = self.layer_norm(F.gelu(self.dense(hidden_states)))
        return transformed @ word_embedding.T + self.bias  # (..., V)
        ### END SOLUTION mlm_head


class NextSentenceHead(nn.Module):
    """Predicts whether the second sentence of a pair follows the first."""

    def __init__(self, config) -> None:
        super().__init__()
        self.seq_relationship = nn.Linear(config.hidden_size, 2)

    def forward(self, pooler_output: Tensor) -> Tensor:
        """Score both classes, IS_NEXT and NOT_NEXT: (B, D) -> (B, 2), logits."""
        # TODO(nsp_head): one linear layer. See handout/extensions.md, Problem (nsp_head).
        ### BEGIN SOLUTION nsp_head
        return self.seq_relationship(pooler_output)  # (B, 2)
        ### END SOLUTION nsp_head


def pretraining_loss(
    prediction_logits: Tensor, labels: Tensor, next_logits: Tensor, next_labels: Tensor
) -> Tensor:
    """Add the mean losses of both tasks: appendix A.2 of [1].

    Args:
        prediction_logits: (..., V); labels: (...), int64, -100 where nothing is to be predicted.
        next_logits: (B, 2); next_labels: (B,), int64.

    Returns: (), the mean cross-entropy over the chosen tokens plus that over the pairs.
    """
    # TODO(pretraining_loss): two cross-entropies.
    # See handout/extensions.md, Problem (pretraining_loss).
    ### BEGIN SOLUTION pretraining_loss
    tokens = F.cross_entropy(
        prediction_logits.flatten(0, -2), labels.flatten(), ignore_index=IGNORED
    )
    return tokens + F.cross_entropy(next_logits, next_labels)
    ### END SOLUTION pretraining_loss


class BertForPreTraining(BertPreTrainedModel):
    """The encoder with both heads."""

    has_heads = True  # from_pretrained loads them as well

    def __init__(self, config) -> None:
        super().__init__(config)
        self.bert = BertModel(config)
        self.mlm_head = MaskedLanguageModelHead(config)
        self.nsp_head = NextSentenceHead(config)
        self.init_weights()

    def forward(
        self,
        input_ids: Tensor,
        attention_mask: Tensor,
        token_type_ids: Tensor | None = None,
        chosen: Tensor | None = None,
    ) -> tuple[Tensor, Tensor]:
        """Run both heads on a batch of pairs, with the same arguments as BertModel.

        Args:
            chosen: (B, T), bool: predict only these N tokens, to save time; None: predict all.

        Returns: logits of tokens, (B, T, V) or (N, V), and of next sentences, (B, 2).
        """
        output = self.bert(input_ids, attention_mask, token_type_ids)
        hidden_states = output["last_hidden_state"]  # (B, T, D)
        if chosen is not None:
            hidden_states = hidden_states[chosen]  # (N, D)
        predictions = self.mlm_head(hidden_states, self.bert.word_embedding.weight)
        return predictions, self.nsp_head(output["pooler_output"])

"""What questions on one's own code need to know about the five functions: calls, and wording.

Dimension key: B batch, T tokens, D model width, H heads, d head width, F feed-forward width.
"""

import functools

import numpy as np

from grader.viva_facts import (
    BEYOND_A_TOKEN,
    MIXED,
    OTHER_SENTENCES,
    TOGETHER,
    bert_call,
    ignoring,
    mixing,
    not_ones,
    over_tokens,
    tokens_moved,
    training,
    unlike_a_norm,
    worlds,
)
from tensormark.exercise import Tensors
from tensormark.viva.subject import (
    Fact,
    Poke,
    Subject,
    at,
    depends,
    moved,
    negated,
    rolled,
    spread,
    with_values,
)

STATES = ("key", "query", "value")

bert_subject = functools.partial(Subject, training=training)

alone = functools.partial(
    bert_call, "BertSelfAttention.attention", ("key", "query", "value", "attention_mask")
)
OF_ATTENTION = {**dict.fromkeys(STATES, 2), "attention_mask": 3}
ATTENTION = bert_subject(
    "attention",
    worlds(alone),
    special=(with_values(0.0, "attention_mask"),),
    facts=(
        *over_tokens(STATES, OF_ATTENTION),
        Fact(
            at((slice(None), 0), *STATES),
            spread(lambda changed: int(changed.sum()), lambda inputs: inputs["value"][:, 0].size),
            gained="What one head computes now depends on other heads.",
        ),
        Fact(
            with_values(1.0, "value"),
            not_ones,
            gained="Results are no longer 1 when all values are 1.",
        ),
        ignoring(negated("query"), "The queries no longer affect the result."),
        ignoring(negated("key"), "The keys no longer affect the result."),
    ),
)


add_norm = functools.partial(
    bert_call,
    "BertLayer.add_norm",
    ("input", "output", ".out_dense", ".out_dropout", ".out_layer_norm"),
)
ADD_NORM = bert_subject(
    "add_norm",
    # in the last one the output is as wide as the input, like that of attention
    [*worlds(add_norm)[:2], *worlds(add_norm, F=10)[2:]],
    facts=(
        Fact(at((0, 0), "input", "output"), BEYOND_A_TOKEN, gained=TOGETHER),
        mixing("input", "output"),
        unlike_a_norm("out_layer_norm"),
        ignoring(negated("input"), "The argument `{input}` no longer matters."),
        ignoring(negated("output"), "The argument `{output}` no longer matters."),
        ignoring(at((0,), "weights/out_dense.bias"), "The dense layer's bias no longer matters."),
    ),
)

layer = functools.partial(
    bert_call,
    "BertLayer.forward",
    ("hidden_states", "attention_mask"),
    form="tuple",
    taken_by="BertModel.encode",
)
OF_LAYER = {"hidden_states": 1, "attention_mask": 3}
ONLY_ATTENTION = ("weights/self_attention.value.weight", "weights/self_attention.value.bias")
FEED_FORWARD = ("weights/interm_dense.weight", "weights/interm_dense.bias")
LAYER = bert_subject(
    "layer",
    worlds(layer),
    special=(with_values(0.0, "attention_mask"),),
    facts=(
        *over_tokens(("hidden_states",), OF_LAYER),
        unlike_a_norm("out_layer_norm"),
        ignoring(negated(*ONLY_ATTENTION), "The weights of `self_attention` no longer matter."),
        ignoring(negated(*FEED_FORWARD), "The weights of `interm_dense` no longer matter."),
    ),
    training=functools.partial(training, path=""),
)

embed = functools.partial(bert_call, "BertModel.embed", ("input_ids",))


def other_word(inputs: Tensors) -> Tensors:
    """Replace the first token of the first sentence with another word."""
    ids = inputs["input_ids"].copy()
    ids[0, 0] = 1 + ids[0, 0] % (len(inputs["weights/word_embedding.weight"]) - 1)
    return inputs | {"input_ids": ids}


EMBED = bert_subject(
    "embed",
    worlds(embed, layers=1),
    facts=(
        Fact(other_word, BEYOND_A_TOKEN, gained=TOGETHER),
        Fact(other_word, OTHER_SENTENCES, gained=MIXED),
        Fact(
            other_word,
            depends(lambda inputs: (0, 0)),
            lost="A token's word no longer affects its result.",
        ),
        Fact(
            rolled({"input_ids": 1}),
            moved(tokens_moved),
            lost="The position of a token no longer matters.",
        ),
        ignoring(
            at((0,), "weights/tk_type_embedding.weight"),
            "The weights of `tk_type_embedding` no longer matter.",
        ),
        unlike_a_norm("embed_layer_norm"),
    ),
    note="`BertModel.embed` is called without token types.",
)

encode = functools.partial(bert_call, "BertModel.encode", ("hidden_states", "attention_mask"))
OF_ENCODE = {"hidden_states": 1, "attention_mask": 1}


def other_layer(number: int) -> Poke:
    """Change the weights of a layer: 0 is the first, -1 the last."""

    def poke(inputs: Tensors) -> Tensors:
        layers = {int(name.split(".")[1]) for name in inputs if name.startswith("weights/bert_l")}
        prefix = f"weights/bert_layers.{sorted(layers)[number]}."
        return inputs | {name: 1.0 - v for name, v in inputs.items() if name.startswith(prefix)}

    return poke


def with_integers(inputs: Tensors) -> Tensors:
    """Turn a mask into integers, as the tokenizer returns it."""
    return inputs | {"attention_mask": inputs["attention_mask"].astype(np.int64)}


ENCODE = bert_subject(
    "encode",
    worlds(encode),
    special=(with_values(1.0, "attention_mask"), with_integers),
    facts=(
        *over_tokens(("hidden_states",), OF_ENCODE),
        ignoring(other_layer(0), "The first layer no longer makes a difference."),
        ignoring(other_layer(-1), "The last layer no longer makes a difference."),
    ),
    training=functools.partial(training, path="bert_layers.*."),
    note="`BertModel.encode` is called with at least two layers.",
)

SUBJECTS = (ATTENTION, ADD_NORM, LAYER, EMBED, ENCODE)

"""What only staff have: which mistakes are common, private sentences, the release."""

import json
from collections.abc import Mapping
from typing import Any

from grader.sentiment import ENTRY, HIDDEN
from instructor.hidden import hidden_sentences
from instructor.language.write_data import CARD_NAME, recorded_seed
from instructor.release import RELEASE
from tensormark.authoring.course import Staff
from tensormark.exercise import Assignment
from tensormark.files import sha256
from tensormark.release.given_out import published

NOT_MEASURED = "its threshold was not measured for this checkpoint"

# Mistakes that are also recorded in combination with every other of their exercise.
COMMON = frozenset(
    """
    no_attention_dropout attention_dropout_before_softmax mask_ignored no_scale
    add_norm_no_dropout add_norm_dropout_before_dense add_norm_dropout_after_norm
    gelu_missing layer_mask_dropped second_residual_of_input
    embed_no_dropout embed_dropout_before_norm no_positions
    mask_of_ones
    decay_after_step correction_not_optional as_in_cs224n
    """.split()
)

# How many of 112 public solutions had each mistake, in some version; mistakes that were counted as
# one group all have its number. The more frequent ones are named first. Any two of them are also
# recorded in combination, and any three that were often seen.
_COUNTED = """
    55 no_attention_dropout
    3 attention_dropout_before_softmax
    2 attention_dropout_on_context
    7 mask_hides_tokens
    1 mask_hides_tokens_by_inf
    6 mask_multiplied
    6 heads_not_transposed
    5 softmax_over_queries
    5 axes_misread
    5 scale_by_length
    5 scale_twice
    5 scale_after_softmax
    3 no_scale
    1 mask_extended_again
    1 query_value_projections_swapped
    9 add_norm_dropout_before_dense
    7 add_norm_dropout_after_norm
    2 add_norm_dropout_on_sum
    1 residual_after_norm
    1 dense_last
    1 given_dense_ignored
    4 second_residual_of_input
    2 gelu_missing
    2 interm_dense_skipped
    1 layer_mask_dropped
    2 embed_dropout_before_norm
    1 embed_no_dropout
    1 embed_dropout_twice
    1 embed_dropout_rate
    1 ids_added
    1 embed_detached
    1 weights_drawn_again
"""
SEEN = {name: int(number) for number, name in map(str.split, _COUNTED.strip().splitlines())}


def threshold(assignment: Assignment, checkpoint: Mapping[str, str]) -> dict[str, Any]:
    """Return the measured sentiment threshold, or why there is none for this checkpoint."""
    gate = assignment.references / "gate.json"
    shipped = assignment.folder / "checkpoint"
    measured = json.loads(gate.read_text(encoding="utf-8")) if gate.is_file() else None
    digests = {name: sha256(shipped / name) for name in assignment.checkpoint_files}
    return {ENTRY: measured if checkpoint == digests else NOT_MEASURED}


def hidden(assignment: Assignment, seed: int) -> dict[str, str]:
    """Return private dev sentences with their labels; none for the public seed."""
    if seed == assignment.seed:
        return {}
    text = hidden_sentences(seed, assignment.folder, published(assignment, RELEASE))
    return {} if text is None else {HIDDEN: text}


def known_seeds(assignment: Assignment) -> dict[int, str]:
    """Return the seed of the sentences, with the name of the card that records it."""
    card = assignment.data / CARD_NAME
    if not card.is_file():
        return {}
    return {recorded_seed(card.read_text(encoding="utf-8")): f"data/{CARD_NAME}"}


STAFF = Staff(
    common=COMMON,
    seen=SEEN,
    data_files=("train.txt", "dev.txt", "test.txt"),
    measured=threshold,
    hidden=hidden,
    hidden_files=(HIDDEN,),
    known_seeds=known_seeds,
    release=RELEASE,
)

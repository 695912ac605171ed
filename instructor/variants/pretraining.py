"""What goes wrong in the two pre-training tasks, their heads and their loss."""

from instructor.variants import mistakes

SPECIAL = " & ~special"
MASK = "torch.where(chosen & (fate < 0.8), mask_token_id, input_ids)"
OTHERS = "torch.where(chosen & (fate >= 0.9), others, hidden)"
DRAWN = "torch.randint(vocab_size, input_ids.shape, generator=generator)"
LABELS = "labels = torch.where(chosen, input_ids, IGNORED)"
OTHER = "other = (number + 1 + rng.randrange(len(documents) - 1)) % len(documents)"
PAIRED = "pairs.append((*truncate_pair(first, second, max_length), label))"
TRANSFORMED = "self.layer_norm(F.gelu(self.dense(hidden_states)))"
LOGITS = "transformed @ word_embedding.T + self.bias"
NEXT = "self.seq_relationship(pooler_output)"
FIRST_LOSS = "tokens = F.cross_entropy("
SUM = "tokens + F.cross_entropy(next_logits, next_labels)"

VARIANTS = (
    *mistakes(
        "mask_tokens",
        "Choosing",
        {
            "special_chosen": ("special tokens are chosen too", *(SPECIAL, "")),
            "probability_in_code": (
                "the probability is written into the code",
                *("< probability)", "< 0.15)"),
            ),
            "probability_complement": (
                "the tokens that should stay are chosen, and the others not",
                *("< probability)", ">= probability)"),
            ),
            "nothing_chosen": ("no token is ever chosen", *("< probability)", "< 0.0)")),
        },
    ),
    *mistakes(
        "mask_tokens",
        "The labels",
        {
            "all_labelled": (
                "every token has a label, not only the chosen ones",
                *(LABELS, "labels = input_ids.clone()"),
            ),
            "labels_of_hidden": (
                "the labels are taken after hiding, when the truth is gone",
                *(LABELS, "labels = torch.where(chosen, mask_token_id, IGNORED)"),
            ),
            "ignored_as_zero": (
                "tokens without a label have label 0, which is a token",
                *(LABELS, "labels = torch.where(chosen, input_ids, 0)"),
            ),
            "labels_of_others": (
                "the tokens that were not chosen have the labels",
                *(LABELS, "labels = torch.where(chosen, IGNORED, input_ids)"),
            ),
        },
    ),
    *mistakes(
        "mask_tokens",
        "Hiding",
        {
            "always_mask": (
                "all chosen tokens become the mask token",
                *(MASK, "torch.where(chosen, mask_token_id, input_ids)"),
                *(OTHERS, "hidden"),
            ),
            "never_random": ("no chosen token becomes another one", *(OTHERS, "hidden")),
            "never_kept": (
                "no chosen token stays as it is",
                *("fate >= 0.9", "fate >= 0.8"),
            ),
            "fates_exchanged": (
                "most of the chosen tokens become random ones, where they should be masked",
                *("fate < 0.8", "fate < 0.1"),
                *("fate >= 0.9", "fate >= 0.2"),
            ),
            "random_everywhere": (
                "tokens that were not chosen become random ones as well",
                *("(chosen & (fate >= 0.9)", "((fate >= 0.9)"),
            ),
            "random_of_few": (
                "random tokens come from a part of the vocabulary",
                *(DRAWN, DRAWN.replace("vocab_size", "max(2, vocab_size // 4)")),
            ),
            "hidden_in_place": (
                "the ids that were given are changed in place",
                *(OTHERS, f"input_ids.copy_({OTHERS})"),
            ),
        },
    ),
    *mistakes(
        "make_sentence_pairs",
        "The coin",
        {
            "always_next": ("all pairs are true", *("rng.random() < 0.5", "rng.random() < 0.0")),
            "never_next": ("no pair is true", *("rng.random() < 0.5", "rng.random() < 1.0")),
            "rarely_next": (
                "far fewer than half of the pairs are true",
                *("rng.random() < 0.5", "rng.random() < 0.75"),
            ),
            "labels_exchanged": (
                "the labels of true and of false pairs are exchanged",
                *("following, IS_NEXT", "following, NOT_NEXT"),
                *(
                    "rng.choice(documents[other]), NOT_NEXT",
                    "rng.choice(documents[other]), IS_NEXT",
                ),
            ),
            "label_always_next": (
                "false pairs are labelled as true ones",
                *(
                    "rng.choice(documents[other]), NOT_NEXT",
                    "rng.choice(documents[other]), IS_NEXT",
                ),
            ),
        },
    ),
    *mistakes(
        "make_sentence_pairs",
        "The other document",
        {
            "same_document": (
                "false seconds come from the same document",
                *(OTHER, "other = number"),
            ),
            "any_document": (
                "false seconds may come from the same document",
                *(OTHER, "other = rng.choice([number, number, (number + 1) % len(documents)])"),
            ),
            "second_is_first": (
                "a sentence is paired with itself",
                *("in itertools.pairwise(document)", "in zip(document[:-1], document[:-1])"),
            ),
            "pairs_apart": (
                "every second sentence of the text begins no pair",
                *("itertools.pairwise(document)", "list(itertools.pairwise(document))[::2]"),
            ),
            "pairs_backwards": (
                "sentences are paired with the one before them",
                *("for first, following", "for following, first"),
            ),
        },
    ),
    *mistakes(
        "make_sentence_pairs",
        "The length",
        {
            "not_truncated": (
                "pairs that are too long are not cut",
                *(PAIRED, "pairs.append((first, second, label))"),
            ),
            "special_not_counted": (
                "the special tokens are not counted in the length",
                *("second, max_length)", "second, max_length + 3)"),
            ),
            "second_cut": (
                "only the second sentence is cut",
                *(
                    PAIRED,
                    "pairs.append((first, second[: max(0, max_length - len(first) - 3)], label))",
                ),
            ),
        },
    ),
    *mistakes(
        "mlm_head",
        "The transform",
        {
            "head_gelu_missing": (
                "GELU is missing",
                *("F.gelu(self.dense(hidden_states))", "self.dense(hidden_states)"),
            ),
            "head_relu": ("ReLU stands in the place of GELU", *("F.gelu(", "F.relu(")),
            "head_gelu_of_tanh": (
                "GELU is the approximation by tanh",
                *("self.dense(hidden_states))", 'self.dense(hidden_states), approximate="tanh")'),
            ),
            "head_norm_missing": (
                "the norm is missing",
                *(TRANSFORMED, "F.gelu(self.dense(hidden_states))"),
            ),
            "head_norm_first": (
                "the norm comes before GELU",
                *(TRANSFORMED, "F.gelu(self.layer_norm(self.dense(hidden_states)))"),
            ),
            "head_dense_missing": (
                "the dense layer is missing",
                *("self.dense(hidden_states)", "hidden_states"),
            ),
            "transform_skipped": (
                "the whole transform is skipped",
                *(TRANSFORMED, "hidden_states"),
            ),
        },
    ),
    *mistakes(
        "mlm_head",
        "The decoder",
        {
            "head_bias_missing": ("the bias of the tokens is missing", *(" + self.bias", "")),
            "embedding_detached": (
                "no gradient reaches the word embedding",
                *("word_embedding.T", "word_embedding.detach().T"),
            ),
            "embedding_normalised": (
                "the word embeddings are brought to length 1",
                *("word_embedding.T", "F.normalize(word_embedding, dim=-1).T"),
            ),
            "head_softmax": (
                "what is returned are probabilities, not logits",
                *(LOGITS, f"({LOGITS}).softmax(-1)"),
            ),
            "head_log_softmax": (
                "what is returned are log-probabilities, not logits",
                *(LOGITS, f"({LOGITS}).log_softmax(-1)"),
            ),
        },
    ),
    *mistakes(
        "nsp_head",
        "Logits",
        {
            "next_softmax": (
                "what is returned are probabilities, not logits",
                *(NEXT, f"{NEXT}.softmax(-1)"),
            ),
            "next_log_softmax": (
                "what is returned are log-probabilities, not logits",
                *(NEXT, f"{NEXT}.log_softmax(-1)"),
            ),
            "next_sigmoid": ("there is a sigmoid after the layer", *(NEXT, f"{NEXT}.sigmoid()")),
            "next_tanh": ("there is a tanh after the layer", *(NEXT, f"{NEXT}.tanh()")),
            "next_relu": ("there is a ReLU after the layer", *(NEXT, f"{NEXT}.relu()")),
            "next_classes_exchanged": (
                "the two classes are exchanged",
                *(NEXT, f"{NEXT}.flip(-1)"),
            ),
            "next_axis_missing": (
                "only one of the two classes is returned",
                *(NEXT, f"{NEXT}[:, 0]"),
            ),
        },
    ),
    *mistakes(
        "nsp_head",
        "The layer",
        {
            "next_bias_missing": (
                "the bias is missing",
                *(NEXT, "pooler_output @ self.seq_relationship.weight.T"),
            ),
            "pooler_detached": (
                "no gradient reaches the pooler's output",
                *("(pooler_output)", "(pooler_output.detach())"),
            ),
            "pooler_tanh_twice": (
                "the pooler's tanh is applied once more",
                *("(pooler_output)", "(pooler_output.tanh())"),
            ),
        },
    ),
    *mistakes(
        "pretraining_loss",
        "Tokens",
        {
            "ignored_counted": (
                "tokens without a label are counted, as if their label were 0",
                *("labels.flatten(), ignore_index=IGNORED", "labels.clamp(min=0).flatten()"),
            ),
            "ignored_in_mean": (
                "the loss of tokens is divided by the number of all tokens",
                *(
                    "ignore_index=IGNORED\n    )",
                    'ignore_index=IGNORED, reduction="sum"\n    ) / labels.numel()',
                ),
            ),
            "padding_ignored": (
                "tokens whose label is 0 are passed over",
                *(
                    "labels.flatten(), ignore_index=IGNORED",
                    "labels.where(labels > 0, IGNORED).flatten()",
                ),
            ),
            "tokens_summed": (
                "the loss of tokens is a sum, not a mean",
                *("ignore_index=IGNORED", 'ignore_index=IGNORED, reduction="sum"'),
            ),
            "softmax_before_loss": (
                "cross_entropy is given probabilities of tokens, not logits",
                *(
                    "prediction_logits.flatten(0, -2)",
                    "prediction_logits.softmax(-1).flatten(0, -2)",
                ),
            ),
        },
    ),
    *mistakes(
        "pretraining_loss",
        "The sum",
        {
            "only_tokens": ("only the loss of tokens is there", *(SUM, "tokens")),
            "only_next": (
                "only the loss of next sentences is there",
                *(SUM, "F.cross_entropy(next_logits, next_labels)"),
            ),
            "losses_averaged": (
                "the mean of both losses is taken, not their sum",
                *(SUM, f"({SUM}) / 2"),
            ),
            "losses_multiplied": (
                "the losses are multiplied",
                *(SUM, "tokens * F.cross_entropy(next_logits, next_labels)"),
            ),
            "next_summed": (
                "the loss of next sentences is a sum, not a mean",
                *("(next_logits, next_labels)", '(next_logits, next_labels, reduction="sum")'),
            ),
            "next_softmax_before_loss": (
                "cross_entropy is given probabilities of next sentences, not logits",
                *("(next_logits, next_labels)", "(next_logits.softmax(-1), next_labels)"),
            ),
            "next_labels_exchanged": (
                "the two classes of next sentences are exchanged",
                *("(next_logits, next_labels)", "(next_logits, 1 - next_labels)"),
            ),
        },
    ),
)

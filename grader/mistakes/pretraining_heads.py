"""What goes wrong in the heads of the two pre-training tasks, and in their loss."""

from tensormark.authoring.variants import mistakes

TRANSFORMED = "self.layer_norm(F.gelu(self.dense(hidden_states)))"
LOGITS = "transformed @ word_embedding.T + self.bias"
NEXT = "self.seq_relationship(pooler_output)"
SUM = "tokens + F.cross_entropy(next_logits, next_labels)"

VARIANTS = (
    *mistakes(
        "mlm_head",
        "The transform",
        {
            "head_gelu_missing": (
                "GELU is missing",
                *("F.gelu(self.dense(hidden_states))", "self.dense(hidden_states)"),
            ),
            "head_relu": ("ReLU is used instead of GELU", *("F.gelu(", "F.relu(")),
            "head_gelu_of_tanh": (
                "the tanh approximation of GELU is used, not the exact form",
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
            "head_bias_missing": ("the bias of the decoder is missing", *(" + self.bias", "")),
            "embedding_detached": (
                "no gradient reaches the word embedding",
                *("word_embedding.T", "word_embedding.detach().T"),
            ),
            "embedding_normalised": (
                "the word embeddings are normalized to length 1",
                *("word_embedding.T", "F.normalize(word_embedding, dim=-1).T"),
            ),
            "head_softmax": (
                "probabilities are returned, not logits",
                *(LOGITS, f"({LOGITS}).softmax(-1)"),
            ),
            "head_log_softmax": (
                "log-probabilities are returned, not logits",
                *(LOGITS, f"({LOGITS}).log_softmax(-1)"),
            ),
        },
    ),
    *mistakes(
        "nsp_head",
        "Logits",
        {
            "next_softmax": (
                "probabilities are returned, not logits",
                *(NEXT, f"{NEXT}.softmax(-1)"),
            ),
            "next_log_softmax": (
                "log-probabilities are returned, not logits",
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
                "the pooler's tanh is applied a second time",
                *("(pooler_output)", "(pooler_output.tanh())"),
            ),
        },
    ),
    *mistakes(
        "pretraining_loss",
        "Tokens",
        {
            "ignored_counted": (
                "tokens without a label are counted as if their label were 0",
                *("labels.flatten(), ignore_index=IGNORED", "labels.clamp(min=0).flatten()"),
            ),
            "ignored_in_mean": (
                "the token loss is divided by the number of all tokens",
                *(
                    "ignore_index=IGNORED\n    )",
                    'ignore_index=IGNORED, reduction="sum"\n    ) / labels.numel()',
                ),
            ),
            "padding_ignored": (
                "tokens whose label is 0 are ignored",
                *(
                    "labels.flatten(), ignore_index=IGNORED",
                    "labels.where(labels > 0, IGNORED).flatten()",
                ),
            ),
            "tokens_summed": (
                "the token loss is a sum, not a mean",
                *("ignore_index=IGNORED", 'ignore_index=IGNORED, reduction="sum"'),
            ),
            "softmax_before_loss": (
                "cross_entropy gets token probabilities, not logits",
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
            "only_tokens": ("only the token loss is there", *(SUM, "tokens")),
            "only_next": (
                "only the next-sentence loss is there",
                *(SUM, "F.cross_entropy(next_logits, next_labels)"),
            ),
            "losses_averaged": (
                "the losses are averaged, not added",
                *(SUM, f"({SUM}) / 2"),
            ),
            "losses_multiplied": (
                "the losses are multiplied",
                *(SUM, "tokens * F.cross_entropy(next_logits, next_labels)"),
            ),
            "next_summed": (
                "the next-sentence loss is a sum, not a mean",
                *("(next_logits, next_labels)", '(next_logits, next_labels, reduction="sum")'),
            ),
            "next_softmax_before_loss": (
                "cross_entropy gets next-sentence probabilities, not logits",
                *("(next_logits, next_labels)", "(next_logits.softmax(-1), next_labels)"),
            ),
            "next_labels_exchanged": (
                "the two next-sentence classes are exchanged",
                *("(next_logits, next_labels)", "(next_logits, 1 - next_labels)"),
            ),
        },
    ),
)

"""What goes wrong in the stack of layers, and in the given forward of the whole model."""

from tensormark.authoring.variants import forms, mistakes

LAYERS, STEP = "in self.bert_layers:", "hidden_states = layer(hidden_states, extended_mask)"
RETURN, INSIDE = "return hidden_states", "\n            "
EXTENDED = "get_extended_attention_mask(attention_mask, self.dtype)"
POOLED = "self.pooler_af(self.pooler_dense(hidden_states[:, 0]))"
EMBEDDED = "hidden_states = self.embed(input_ids, token_type_ids)"

MISTAKES = (
    *mistakes(
        "encode",
        "The chain",
        {
            "layers_not_chained": (
                "the layers are not chained: each one reads the embeddings",
                *(STEP, "last = layer(hidden_states, extended_mask)"),
                *(RETURN, "return last"),
            ),
            "layers_reversed": (
                "the layers run in reverse",
                *(LAYERS, "in self.bert_layers[::-1]:"),
            ),
            "only_first_layer": (
                "only the first layer runs: the return may be inside the loop",
                *(LAYERS, "in self.bert_layers[:1]:"),
            ),
            "last_layer_left_out": (
                "the last layer is left out",
                *(LAYERS, "in self.bert_layers[:-1]:"),
            ),
            "first_layer_left_out": (
                "the first layer is left out",
                *(LAYERS, "in self.bert_layers[1:]:"),
            ),
            "layers_hard_coded": (
                "the number of layers is written into the code",
                *(LAYERS, "in self.bert_layers[:2]:"),
            ),
            "first_layer_repeated": (
                "the first layer runs in place of every layer",
                *("= layer(", "= self.bert_layers[0]("),
            ),
            "every_second_layer": (
                "only every second layer runs",
                *(LAYERS, "in self.bert_layers[::2]:"),
            ),
            "embeddings_added_to_each": (
                "the embeddings are added to what each layer reads",
                *("extended_mask =", "embedded = hidden_states\n        extended_mask ="),
                *("layer(hidden_states", "layer(hidden_states + embedded"),
            ),
            "last_layer_twice": (
                "the last layer runs twice",
                *(LAYERS, "in [*self.bert_layers, self.bert_layers[-1]]:"),
            ),
            "first_layer_twice": (
                "the first layer runs twice",
                *(LAYERS, "in [self.bert_layers[0], *self.bert_layers]:"),
            ),
            "outputs_summed": (
                "the outputs of all layers are added up",
                *(STEP, f"{STEP}{INSIDE}total = total + hidden_states"),
                *("extended_mask =", "total = 0\n        extended_mask ="),
                *(RETURN, "return total"),
            ),
            "outputs_stacked": (
                "the outputs of all layers are returned, not only the last one's",
                *(STEP, f"{STEP}{INSIDE}outputs.append(hidden_states)"),
                *("extended_mask =", "outputs = []\n        extended_mask ="),
                *(RETURN, "return torch.stack(outputs)"),
            ),
            "outputs_averaged": (
                "the outputs of all layers are averaged",
                *(STEP, f"{STEP}{INSIDE}outputs.append(hidden_states)"),
                *("extended_mask =", "outputs = []\n        extended_mask ="),
                *(RETURN, "return torch.stack(outputs).mean(0)"),
            ),
            "embeddings_added_to_output": (
                "the embeddings are added to the last layer's output",
                *("extended_mask =", "embedded = hidden_states\n        extended_mask ="),
                *(RETURN, "return hidden_states + embedded"),
            ),
            "every_layer_twice": ("every layer runs twice", *(STEP, f"{STEP}{INSIDE}{STEP}")),
            "layers_skipped_over": (
                "there is a residual around each layer",
                *(STEP, "hidden_states = hidden_states + layer(hidden_states, extended_mask)"),
            ),
            "no_layer": ("no layer runs", *(LAYERS, "in []:")),
            "encode_tanh": (
                "there is an extra tanh after the last layer",
                *(RETURN, "return torch.tanh(hidden_states)"),
            ),
            "encode_norm_after": (
                "there is an extra norm after the last layer",
                *(RETURN, "return self.embed_layer_norm(hidden_states)"),
            ),
            "encode_norm_after_each": (
                "there is an extra norm after each layer",
                *(STEP, f"{STEP}{INSIDE}hidden_states = self.embed_layer_norm(hidden_states)"),
            ),
            "encode_norm_before": (
                "there is an extra norm before the first layer",
                *(
                    "extended_mask =",
                    "hidden_states = self.embed_layer_norm(hidden_states)\n        extended_mask =",
                ),
            ),
            "padding_blanked_before": (
                "the vectors of padding are set to 0 before the first layer",
                *(
                    "extended_mask =",
                    "hidden_states = hidden_states * attention_mask[..., None]\n"
                    "        extended_mask =",
                ),
            ),
            "padding_blanked": (
                "the vectors of padding are set to 0 at the end",
                *(RETURN, "return hidden_states * attention_mask[..., None]"),
            ),
        },
    ),
    *mistakes(
        "encode",
        "The mask",
        {
            "mask_not_extended": (
                "the mask is not made additive: padding's scores are only lower by 1",
                *(EXTENDED, "attention_mask[:, None, None, :]"),
            ),
            "mask_of_ones": (
                "the mask passed to the layers hides nothing",
                *("(attention_mask,", "(torch.ones_like(attention_mask),"),
            ),
            "encode_mask_inverted": (
                "the mask passed to the layers hides tokens and shows padding",
                *("(attention_mask,", "(1 - attention_mask,"),
            ),
            "encode_mask_negated": (
                "the mask passed to the layers has the wrong sign",
                *(EXTENDED, f"-{EXTENDED}"),
            ),
            "encode_mask_of_one": (
                "the mask passed to the layers is 1 for padding, where it should be -10000",
                *(EXTENDED, f"{EXTENDED} / -1e4"),
            ),
            "encode_mask_too_weak": (
                "the mask passed to the layers is too weak: padding is still attended to",
                *(EXTENDED, f"{EXTENDED} / 1000"),
            ),
            "encode_mask_nan": (
                "the mask passed to the layers is NaN for tokens, because 0 times infinity is",
                *(EXTENDED, f'{EXTENDED} * float("inf")'),
            ),
            "encode_mask_shifted": (
                "the mask passed to the layers is off by one token",
                *("(attention_mask,", "(F.pad(attention_mask, (1, -1), value=1),"),
            ),
            "encode_mask_kept": (
                "the mask of the first call is kept and used for all others",
                *(EXTENDED, f'getattr(self, "kept", {EXTENDED})'),
                *("for layer", "self.kept = extended_mask\n        for layer"),
            ),
            "encode_mask_of_future": (
                "the mask passed to the layers hides the tokens that follow, as in a decoder",
                *(
                    EXTENDED,
                    f"{EXTENDED} + -1e4 * torch.ones(hidden_states.shape[1], "
                    "hidden_states.shape[1], dtype=self.dtype).triu(1)",
                ),
            ),
            "encode_mask_in_loop": (
                "the mask is extended anew for each layer, from the one that already is",
                *(
                    STEP,
                    f"extended_mask = get_extended_attention_mask(extended_mask, self.dtype)"
                    f"{INSIDE}{STEP}",
                ),
            ),
            "last_layer_without_mask": (
                "the last layer gets no mask",
                *(
                    STEP,
                    "last = layer is self.bert_layers[-1]"
                    + INSIDE
                    + "hidden_states = layer(hidden_states, extended_mask * (not last))",
                ),
            ),
            "mask_for_first_layer_only": (
                "only the first layer gets the mask",
                *(STEP, f"{STEP}{INSIDE}extended_mask = torch.zeros_like(extended_mask)"),
            ),
        },
    ),
    *mistakes(
        "encode",
        "Dropout",
        {
            "encode_dropout_after": (
                "there is an extra dropout after the last layer, or after each",
                *(RETURN, "return self.embed_dropout(hidden_states)"),
            ),
            "encode_dropout_between": (
                "there is an extra dropout before each layer",
                *("layer(hidden_states", "layer(self.embed_dropout(hidden_states)"),
            ),
        },
    ),
    *mistakes(
        "encode",
        "Gradients and types",
        {
            "layers_detached": (
                "gradients stop between the layers",
                *("layer(hidden_states", "layer(hidden_states.detach()"),
            ),
            "encode_detached": (
                "gradients do not pass through encode's output",
                *(RETURN, "return hidden_states.detach()"),
            ),
            "encode_in_eval": (
                "the model is switched to eval mode",
                *("extended_mask =", "self.eval()\n        extended_mask ="),
            ),
            "encode_in_float32": (
                "encode always returns float32, whatever its input",
                *(RETURN, "return hidden_states.float()"),
            ),
        },
    ),
    *mistakes(
        "encode",
        "The given forward",
        {
            "pooler_reads_last_token": (
                "the given forward was changed: the pooler reads the last token",
                *("hidden_states[:, 0]", "hidden_states[:, -1]"),
            ),
            "pooler_reads_mean": (
                "the given forward was changed: the pooler reads the mean of the tokens",
                *("hidden_states[:, 0]", "hidden_states.mean(1)"),
            ),
            "pooler_without_tanh": (
                "the given forward was changed: the pooler has no tanh",
                *(POOLED, "self.pooler_dense(hidden_states[:, 0])"),
            ),
            "pooler_without_dense": (
                "the given forward was changed: the pooler has no dense layer",
                *(POOLED, "self.pooler_af(hidden_states[:, 0])"),
            ),
            "pooler_reads_second_token": (
                "the given forward was changed: the pooler reads the second token",
                *("hidden_states[:, 0]", "hidden_states[:, 1]"),
            ),
            "pooler_twice": (
                "the given forward was changed: the pooler is applied twice",
                *(POOLED, f"self.pooler_af(self.pooler_dense({POOLED}))"),
            ),
            "embeddings_not_encoded": (
                "the given forward was changed: the layers are left out",
                *("hidden_states = self.encode(hidden_states, attention_mask)\n        ", ""),
            ),
            "weights_drawn_again": (
                "the given forward was changed: it draws new weights",
                *(EMBEDDED, f"self.init_weights()\n        {EMBEDDED}"),
            ),
        },
        everywhere=True,
    ),
)

NAMED = {one.id: one for one in MISTAKES}
VARIANTS = (
    *MISTAKES,
    *forms(
        NAMED["encode_mask_shifted"],
        {
            f"encode_mask_shifted_{how}": ("(attention_mask,", f"({shifted},")
            for how, shifted in {
                "right": "F.pad(attention_mask, (1, -1))",
                "left": "F.pad(attention_mask, (-1, 1))",
                "around_right": "attention_mask.roll(1, dims=1)",
                "around_left": "attention_mask.roll(-1, dims=1)",
            }.items()
        },
    ),
)

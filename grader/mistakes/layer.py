"""What goes wrong in one encoder layer."""

from tensormark.authoring.variants import forms, mistakes

FIRST = "x = self.add_norm(x, context, *modules)"
FIRST_MODULES = "self.attention_dense, self.attention_dropout, self.attention_layer_norm"
SECOND_MODULES = "self.out_dense, self.out_dropout, self.out_layer_norm"
SECOND = "self.add_norm(x, interm, *modules)"
# the hidden states, split into heads: key, query and value alike
NOT_PROJECTED = (
    "self.self_attention.attention(*3 * [hidden_states.unflatten(-1, "
    "(self.self_attention.num_attention_heads, -1)).transpose(1, 2)], attention_mask)"
)
NORMED = "self.attention_layer_norm(hidden_states + self.attention_dense(context))"

MISTAKES = (
    *mistakes(
        "layer",
        "Two sublayers",
        {
            "second_residual_of_input": (
                "the second residual is the layer's input",
                *("self.add_norm(x, interm", "self.add_norm(hidden_states, interm"),
            ),
            "second_residual_of_context": (
                "the second residual is attention's output",
                *("self.add_norm(x, interm", "self.add_norm(context, interm"),
            ),
            "first_residual_missing": (
                "the first residual is missing",
                *("self.add_norm(x, context", "self.add_norm(torch.zeros_like(x), context"),
            ),
            "first_residual_of_context": (
                "the first residual is attention's output, not the layer's input",
                *("self.add_norm(x, context", "self.add_norm(context, context"),
            ),
            "second_residual_missing": (
                "the second residual is missing",
                *("self.add_norm(x, interm", "self.add_norm(torch.zeros_like(x), interm"),
            ),
            "first_add_norm_missing": (
                "attention is not followed by an add_norm",
                *(FIRST, "x = context"),
            ),
            "second_add_norm_missing": (
                "the feed-forward part is not followed by an add_norm",
                *(SECOND, "self.out_dense(interm)"),
            ),
            "second_norm_missing": (
                "the feed-forward part ends without its norm",
                *(SECOND, "x + self.out_dropout(self.out_dense(interm))"),
            ),
            "feed_forward_missing": (
                "the layer ends after attention and its add_norm",
                *(SECOND, "x"),
            ),
            "first_sublayer_missing": (
                "the result of attention and its add_norm is discarded",
                *(FIRST, "x = hidden_states"),
            ),
            "attention_not_projected": (
                "attention is called without the projections to query, key and value",
                *("self.self_attention(hidden_states, attention_mask)", NOT_PROJECTED),
            ),
            "attention_missing": (
                "the layer has no attention",
                *(FIRST, "x = self.add_norm(x, x, *modules)"),
            ),
            "layer_norm_again": (
                "the second norm is applied once more to the layer's output",
                *(SECOND, f"self.out_layer_norm({SECOND})"),
            ),
            "layer_padding_blanked": (
                "the vectors of padding are set to 0",
                *(SECOND, f"{SECOND} * (attention_mask[:, 0, 0, :, None] == 0)"),
            ),
            "attention_dense_missing": (
                "attention's dense layer is missing: its output is added as it is",
                *(FIRST, "x = self.attention_layer_norm(x + self.attention_dropout(context))"),
            ),
            "input_added_to_output": (
                "the layer's input is added to its output once more",
                *(SECOND, f"hidden_states + {SECOND}"),
            ),
            "residual_added_to_output": (
                "the feed-forward part's input is added to its output once more",
                *(SECOND, f"x + {SECOND}"),
            ),
            "context_kept": (
                "attention's output of the first call is kept and used for all others",
                *(FIRST, 'self.kept = context = getattr(self, "kept", context)\n        ' + FIRST),
            ),
            "attention_input_zeroed": (
                "attention does not read the layer's input",
                *(
                    "self.self_attention(hidden_states,",
                    "self.self_attention(torch.zeros_like(hidden_states),",
                ),
            ),
            "attention_projected_twice": (
                "attention_dense is applied before add_norm, which applies it again",
                *("(x, context,", "(x, self.attention_dense(context),"),
            ),
            "first_residual_twice": (
                "the layer's input is added before the first add_norm, which adds it again",
                *("(x, context,", "(x, x + context,"),
            ),
            "first_arguments_exchanged": (
                "attention's add_norm gets its two arguments in the wrong order",
                *("(x, context,", "(context, x,"),
            ),
            "attention_twice": (
                "attention runs twice, the second time on its own output",
                *(
                    FIRST,
                    "context = self.self_attention(context, attention_mask)\n        " + FIRST,
                ),
            ),
            "feed_forward_twice": (
                "the feed-forward part runs twice",
                *(
                    "interm = self",
                    "modules = self.out_dense, self.out_dropout, self.out_layer_norm\n        "
                    "x = self.add_norm(x, self.interm_af(self.interm_dense(x)), *modules)"
                    "\n        interm = self",
                ),
            ),
            "norm_before_attention": (
                "attention reads a normalized input; here each norm comes after its sublayer",
                *(
                    "self.self_attention(hidden_states,",
                    "self.self_attention(self.attention_layer_norm(hidden_states),",
                ),
            ),
            "norms_before_sublayers": (
                "each norm comes before its sublayer; here it comes after, on the sum",
                *(
                    "self.self_attention(hidden_states,",
                    "self.self_attention(self.attention_layer_norm(hidden_states),",
                ),
                *(FIRST, "x = x + self.attention_dropout(self.attention_dense(context))"),
                *("self.interm_dense(x)", "self.interm_dense(self.out_layer_norm(x))"),
                *(SECOND, "x + self.out_dropout(self.out_dense(interm))"),
            ),
            "sublayers_side_by_side": (
                "attention and the feed-forward part both read the layer's input",
                *("self.interm_dense(x)", "self.interm_dense(hidden_states)"),
                *("self.add_norm(x, interm", "self.add_norm(x + hidden_states, interm"),
            ),
            "layer_mask_inverted": (
                "the mask passed to attention hides tokens and shows padding",
                *("attention_mask)", "-10000.0 - attention_mask)"),
            ),
            "layer_mask_extended_again": (
                "the mask is made additive again, which it already is",
                *("attention_mask)", "(1.0 - attention_mask) * -10000.0)"),
            ),
            "layer_mask_of_first_row": (
                "every row of the batch gets the mask of the first one",
                *("attention_mask)", "attention_mask[:1])"),
            ),
            "layer_mask_negated": (
                "the mask passed to attention has the wrong sign",
                *("attention_mask)", "-attention_mask)"),
            ),
            "layer_mask_boolean": (
                "the mask is compared with a number, and attention gets only true or false",
                *("attention_mask)", "attention_mask == 0)"),
            ),
            "feed_forward_first": (
                "the feed-forward part comes before attention",
                *("self.self_attention(hidden_states, attention_mask)", "INTERM"),
                *("self.interm_af(self.interm_dense(x))", "self.self_attention(x, attention_mask)"),
                *("INTERM", "self.interm_af(self.interm_dense(hidden_states))"),
                *(FIRST_MODULES, "MODULES"),
                *(SECOND_MODULES, FIRST_MODULES),
                *("MODULES", SECOND_MODULES),
            ),
            "layer_mask_dropped": (
                "the mask is not passed on to attention",
                *("attention_mask)", "torch.zeros_like(attention_mask))"),
            ),
        },
    ),
    *mistakes(
        "layer",
        "The modules",
        {
            "norms_exchanged": (
                "the two norms are exchanged",
                *("self.attention_layer_norm", "NORM"),
                *("self.out_layer_norm", "self.attention_layer_norm"),
                *("NORM", "self.out_layer_norm"),
            ),
            "first_norm_twice": (
                "the first norm is used for the feed-forward part too",
                *("self.out_layer_norm", "self.attention_layer_norm"),
            ),
            "second_norm_twice": (
                "the second norm is used for attention too",
                *("self.attention_layer_norm", "self.out_layer_norm"),
            ),
            "dropouts_exchanged": (
                "the two dropout modules are exchanged",
                *("self.attention_dropout", "DROPOUT"),
                *("self.out_dropout", "self.attention_dropout"),
                *("DROPOUT", "self.out_dropout"),
            ),
            "first_dropout_twice": (
                "the first dropout module is used for the feed-forward part too",
                *("self.out_dropout", "self.attention_dropout"),
            ),
            "second_dropout_twice": (
                "the second dropout module is used for attention too",
                *("self.attention_dropout", "self.out_dropout"),
            ),
        },
    ),
    *mistakes(
        "layer",
        "Dropout",
        {
            "first_dropout_missing": (
                "no dropout after attention's dense layer in training",
                *(FIRST, f"x = {NORMED}"),
            ),
            "second_dropout_missing": (
                "no dropout after the feed-forward part's dense layer in training",
                *(SECOND, "self.out_layer_norm(x + self.out_dense(interm))"),
            ),
            "extra_dropout_on_context": (
                "there is an extra dropout on attention's output",
                *("(x, context,", "(x, self.attention_dropout(context),"),
            ),
            "extra_dropout_on_interm": (
                "there is an extra dropout on the feed-forward part's inner units",
                *("(x, interm,", "(x, self.out_dropout(interm),"),
            ),
            "extra_dropout_on_output": (
                "there is an extra dropout on the layer's output",
                *(SECOND, f"self.out_dropout({SECOND})"),
            ),
            "extra_dropout_between": (
                "there is an extra dropout between the two sublayers",
                *(FIRST, "x = self.attention_dropout(self.add_norm(x, context, *modules))"),
            ),
        },
    ),
    *mistakes(
        "layer",
        "Gradients and types",
        {
            "sublayer_detached": (
                "gradients stop between the two sublayers",
                *("self.interm_dense(x)", "self.interm_dense(x.detach())"),
            ),
            "context_detached": (
                "gradients stop at attention's output",
                *("(x, context,", "(x, context.detach(),"),
            ),
            "layer_in_float32": (
                "the layer always returns float32, whatever its input",
                *(SECOND, f"{SECOND}.float()"),
            ),
        },
    ),
)

NAMED = {one.id: one for one in MISTAKES}
VARIANTS = (
    *MISTAKES,
    *forms(
        NAMED["layer_mask_boolean"],
        {"layer_mask_as_boolean": ("attention_mask)", "attention_mask.bool())")},
    ),
)

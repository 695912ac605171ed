"""What goes wrong in the stack of layers, and in the given forward of the whole model."""

from tensormark.authoring.variants import mistakes

VARIANTS = mistakes(
    "encode",
    """
## The chain

layers_not_chained: the layers are not chained: the last one reads the embeddings
    - hidden_states = layer(hidden_states, extended_mask)
    + last = layer(hidden_states, extended_mask)
    - return hidden_states
    + return last
layers_reversed: the layers run in reverse
    - in self.bert_layers:
    + in self.bert_layers[::-1]:
only_first_layer: the output is that of the first layer: the return may be inside the loop
    - in self.bert_layers:
    + in self.bert_layers[:1]:
last_layer_left_out: the output is that of the layer before the last one
    - in self.bert_layers:
    + in self.bert_layers[:-1]:
first_layer_left_out: the first layer is left out
    - in self.bert_layers:
    + in self.bert_layers[1:]:
layers_hard_coded: the number of layers is hard-coded
    - in self.bert_layers:
    + in self.bert_layers[:2]:
first_layer_repeated: the first layer runs in place of all the others
    - = layer(
    + = self.bert_layers[0](
every_second_layer: only every second layer runs
    - in self.bert_layers:
    + in self.bert_layers[::2]:
embeddings_added_to_each: the embeddings are added to each layer's input
    - extended_mask =
    + embedded = hidden_states
    +         extended_mask =
    - layer(hidden_states
    + layer(hidden_states + embedded
last_layer_twice: the last layer runs twice
    - in self.bert_layers:
    + in [*self.bert_layers, self.bert_layers[-1]]:
first_layer_twice: the first layer runs twice
    - in self.bert_layers:
    + in [self.bert_layers[0], *self.bert_layers]:
outputs_summed: the outputs of all layers are added up
    - hidden_states = layer(hidden_states, extended_mask)
    + hidden_states = layer(hidden_states, extended_mask)
    +             total = total + hidden_states
    - extended_mask =
    + total = 0
    +         extended_mask =
    - return hidden_states
    + return total
outputs_stacked: the outputs of all layers are returned, not only the last one's
    - hidden_states = layer(hidden_states, extended_mask)
    + hidden_states = layer(hidden_states, extended_mask)
    +             outputs.append(hidden_states)
    - extended_mask =
    + outputs = []
    +         extended_mask =
    - return hidden_states
    + return torch.stack(outputs)
outputs_averaged: the outputs of all layers are averaged
    - hidden_states = layer(hidden_states, extended_mask)
    + hidden_states = layer(hidden_states, extended_mask)
    +             outputs.append(hidden_states)
    - extended_mask =
    + outputs = []
    +         extended_mask =
    - return hidden_states
    + return torch.stack(outputs).mean(0)
embeddings_added_to_output: the embeddings are added to the last layer's output
    - extended_mask =
    + embedded = hidden_states
    +         extended_mask =
    - return hidden_states
    + return hidden_states + embedded
every_layer_twice: every layer runs twice
    - hidden_states = layer(hidden_states, extended_mask)
    + hidden_states = layer(hidden_states, extended_mask)
    +             hidden_states = layer(hidden_states, extended_mask)
layers_skipped_over: there is a residual around each layer
    - hidden_states = layer(hidden_states, extended_mask)
    + hidden_states = hidden_states + layer(hidden_states, extended_mask)
no_layer: the layers have no effect: the output is the input
    - in self.bert_layers:
    + in []:
encode_tanh: there is an extra tanh after the last layer
    - return hidden_states
    + return torch.tanh(hidden_states)
encode_norm_after: there is an extra norm after the last layer
    - return hidden_states
    + return self.embed_layer_norm(hidden_states)
encode_norm_after_each: there is an extra norm after each layer
    - hidden_states = layer(hidden_states, extended_mask)
    + hidden_states = layer(hidden_states, extended_mask)
    +             hidden_states = self.embed_layer_norm(hidden_states)
encode_norm_before: there is an extra norm before the first layer
    - extended_mask =
    + hidden_states = self.embed_layer_norm(hidden_states)
    +         extended_mask =
padding_blanked_before: the vectors of padding are set to 0 before the first layer
    - extended_mask =
    + hidden_states = hidden_states * attention_mask[..., None]
    +         extended_mask =
padding_blanked: the vectors of padding are set to 0 at the end
    - return hidden_states
    + return hidden_states * attention_mask[..., None]

## The mask

mask_not_extended: the mask is not made additive: padding's scores are only lower by 1
    - get_extended_attention_mask(attention_mask, self.dtype)
    + attention_mask[:, None, None, :]
mask_of_ones: the mask passed to the layers hides nothing
    - (attention_mask,
    + (torch.ones_like(attention_mask),
encode_mask_inverted: the mask passed to the layers hides tokens and shows padding
    - (attention_mask,
    + (1 - attention_mask,
encode_mask_negated: the mask passed to the layers has the wrong sign
    - get_extended_attention_mask(attention_mask, self.dtype)
    + -get_extended_attention_mask(attention_mask, self.dtype)
encode_mask_of_one: the mask passed to the layers is 1 for padding, not -10000
    - get_extended_attention_mask(attention_mask, self.dtype)
    + get_extended_attention_mask(attention_mask, self.dtype) / -1e4
encode_mask_too_weak: the mask passed to the layers is too weak: padding is still attended to
    - get_extended_attention_mask(attention_mask, self.dtype)
    + get_extended_attention_mask(attention_mask, self.dtype) / 1000
encode_mask_nan: the mask passed to the layers is NaN for tokens, as 0 times infinity is
    - get_extended_attention_mask(attention_mask, self.dtype)
    + get_extended_attention_mask(attention_mask, self.dtype) * float("inf")
encode_mask_shifted: the mask passed to the layers is off by one token
    - (attention_mask,
    + (F.pad(attention_mask, (1, -1), value=1),
encode_mask_kept: the mask of the first call is kept and used for all others
    - get_extended_attention_mask(attention_mask, self.dtype)
    + getattr(self, "kept", get_extended_attention_mask(attention_mask, self.dtype))
    - for layer
    + self.kept = extended_mask
    +         for layer
encode_mask_of_future: the mask passed to the layers hides the tokens that follow, as in a decoder
    - get_extended_attention_mask(attention_mask, self.dtype)
    + get_extended_attention_mask(attention_mask, self.dtype) + -1e4 * torch.ones(hidden_states.shape[1], hidden_states.shape[1], dtype=self.dtype).triu(1)
encode_mask_in_loop: the mask is extended more than once
    - hidden_states = layer(hidden_states, extended_mask)
    + extended_mask = get_extended_attention_mask(extended_mask, self.dtype)
    +             hidden_states = layer(hidden_states, extended_mask)
last_layer_without_mask: the last layer gets no mask
    - hidden_states = layer(hidden_states, extended_mask)
    + last = layer is self.bert_layers[-1]
    +             hidden_states = layer(hidden_states, extended_mask * (not last))
mask_for_first_layer_only: only the first layer gets the mask
    - hidden_states = layer(hidden_states, extended_mask)
    + hidden_states = layer(hidden_states, extended_mask)
    +             extended_mask = torch.zeros_like(extended_mask)

## Dropout

encode_dropout_after: there is an extra dropout after the last layer, or after each
    - return hidden_states
    + return self.embed_dropout(hidden_states)
token_types_not_passed_on, in given code: BertModel.forward does not pass the token types on to embed
    - self.embed(input_ids, token_type_ids)
    + self.embed(input_ids)
pooler_dropout, in given code: there is an extra dropout before the pooler
    - self.pooler_dense(hidden_states[:, 0])
    + self.pooler_dense(self.embed_dropout(hidden_states[:, 0]))
encode_dropout_between: there is an extra dropout before each layer
    - layer(hidden_states
    + layer(self.embed_dropout(hidden_states)

## Gradients and types

layers_detached: gradients stop between the layers
    - layer(hidden_states
    + layer(hidden_states.detach()
encode_detached: gradients do not pass through encode's output
    - return hidden_states
    + return hidden_states.detach()
encode_in_eval: the model is switched to eval mode
    - extended_mask =
    + self.eval()
    +         extended_mask =
encode_in_float32: encode always returns float32, whatever its input
    - return hidden_states
    + return hidden_states.float()

## The given forward

pooler_reads_last_token, in given code: the given forward was changed: the pooler reads the last token
    - hidden_states[:, 0]
    + hidden_states[:, -1]
pooler_reads_mean, in given code: the given forward was changed: the pooler reads the mean of the tokens
    - hidden_states[:, 0]
    + hidden_states.mean(1)
pooler_without_tanh, in given code: the given forward was changed: the pooler has no tanh
    - self.pooler_af(self.pooler_dense(hidden_states[:, 0]))
    + self.pooler_dense(hidden_states[:, 0])
pooler_without_dense, in given code: the given forward was changed: the pooler has no dense layer
    - self.pooler_af(self.pooler_dense(hidden_states[:, 0]))
    + self.pooler_af(hidden_states[:, 0])
pooler_reads_second_token, in given code: the given forward was changed: the pooler reads the second token
    - hidden_states[:, 0]
    + hidden_states[:, 1]
pooler_twice, in given code: the given forward was changed: the pooler is applied twice
    - self.pooler_af(self.pooler_dense(hidden_states[:, 0]))
    + self.pooler_af(self.pooler_dense(self.pooler_af(self.pooler_dense(hidden_states[:, 0]))))
embeddings_not_encoded, in given code: the given forward was changed: the layers are left out
    - hidden_states = self.encode(hidden_states, attention_mask)
    +
weights_drawn_again, in given code: the given forward was changed: it draws new weights
    - hidden_states = self.embed(input_ids, token_type_ids)
    + self.init_weights()
    +         hidden_states = self.embed(input_ids, token_type_ids)
encode_mask_shifted_right = encode_mask_shifted
    - (attention_mask,
    + (F.pad(attention_mask, (1, -1)),
encode_mask_shifted_left = encode_mask_shifted
    - (attention_mask,
    + (F.pad(attention_mask, (-1, 1)),
encode_mask_shifted_around_right = encode_mask_shifted
    - (attention_mask,
    + (attention_mask.roll(1, dims=1),
encode_mask_shifted_around_left = encode_mask_shifted
    - (attention_mask,
    + (attention_mask.roll(-1, dims=1),
""",
)

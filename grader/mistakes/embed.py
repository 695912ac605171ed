"""What goes wrong in the embedding."""

from tensormark.authoring.variants import mistakes

VARIANTS = mistakes(
    "embed",
    """
## Three embeddings

no_positions: the position embedding is missing, or plain numbers replace it
    - words + positions
    + words
no_token_types: the token-type embedding is missing, or plain numbers replace it
    - + token_types
    +
no_words: the word embedding is missing
    - words + positions
    + positions
only_words: only the word embedding is used
    - words + positions + token_types
    + words
ids_added: the word ids are added, not their embeddings
    - self.word_embedding(input_ids)
    + input_ids[..., None].to(self.dtype)
token_types_of_one: the token types are all 1, not 0
    - (token_type_ids)
    + (torch.ones_like(token_type_ids))
token_types_only_if_given: without token types, no token-type embedding is added; it should be that of type 0
    -     words =
    +     if (token_type_ids == 0).all():
    +             positions = self.pos_embedding(self.position_ids[:, : input_ids.shape[1]])
    +             return self.embed_dropout(self.embed_layer_norm(self.word_embedding(input_ids) + positions))
    +         words =
token_types_ignored: the token types that are given are ignored
    - (token_type_ids)
    + (torch.zeros_like(input_ids))
token_types_inverted: the token types are swapped: 1 in the first sentence, 0 in the second
    - (token_type_ids)
    + (1 - token_type_ids)
token_types_subtracted: the token-type embedding is subtracted
    - words + positions + token_types
    + words + positions - token_types
token_types_of_words: the token types are looked up in the word embedding
    - self.tk_type_embedding(
    + self.word_embedding(
token_types_of_positions: the token types are looked up in the position embedding
    - self.tk_type_embedding(
    + self.pos_embedding(
positions_of_words: the positions are looked up in the word embedding
    - self.pos_embedding(
    + self.word_embedding(
words_of_positions: the word embedding is looked up by position, not by word
    - self.word_embedding(input_ids)
    + self.word_embedding(self.position_ids[:, : input_ids.shape[1]]).expand(*input_ids.shape, -1)
embeddings_averaged: the three embeddings are averaged, not added
    - words + positions + token_types
    + (words + positions + token_types) / 3.0
token_types_twice: the token-type embedding is added twice
    - words + positions + token_types
    + words + positions + token_types + token_types
words_twice: the word embedding is added twice
    - words + positions + token_types
    + words + positions + token_types + words
positions_twice: the position embedding is added twice
    - words + positions + token_types
    + words + positions + token_types + positions
positions_subtracted: the position embedding is subtracted
    - words + positions
    + words - positions
only_positions: only the position embedding is used
    - words + positions + token_types
    + positions.expand_as(words)
words_scaled: the word embeddings are scaled
    - self.word_embedding(input_ids)
    + self.word_embedding(input_ids) * self.config.hidden_size ** 0.5
embeddings_multiplied: the embeddings are multiplied, not added
    - words + positions + token_types
    + words * positions * token_types
positions_multiplied: the position embedding is multiplied, not added
    - words + positions
    + words * positions
embed_padding_blanked: the vectors of padding are set to 0
    - self.embed_dropout(self.embed_layer_norm(words + positions + token_types))
    + self.embed_dropout(self.embed_layer_norm(words + positions + token_types)) * (input_ids != 0)[..., None]
words_blanked_at_padding: the word embedding of padding is set to 0
    - self.word_embedding(input_ids)
    + self.word_embedding(input_ids) * (input_ids != 0)[..., None]

## Positions

positions_from_one: positions count from 1, not from 0
    - self.position_ids[:, : input_ids.shape[1]]
    + self.position_ids[:, 1 : input_ids.shape[1] + 1]
positions_from_two: positions count from 2, not from 0
    - self.position_ids[:, : input_ids.shape[1]]
    + self.position_ids[:, 2 : input_ids.shape[1] + 2]
positions_of_rows: the row number is used as the position
    - self.position_ids[:, : input_ids.shape[1]]
    + torch.arange(len(input_ids))[:, None]
positions_all_zero: every token has position 0
    - self.position_ids[:, : input_ids.shape[1]]
    + torch.zeros_like(input_ids)
positions_of_mask: padding has position 0 and tokens count from 1
    - self.position_ids[:, : input_ids.shape[1]]
    + (input_ids != 0).cumsum(-1) * (input_ids != 0)
positions_over_tokens: positions count from 1, and only over tokens that are not padding
    - self.position_ids[:, : input_ids.shape[1]]
    + (input_ids != 0).cumsum(-1)
positions_stop_at_padding: positions count only tokens that are not padding
    - self.position_ids[:, : input_ids.shape[1]]
    + ((input_ids != 0).cumsum(-1) - 1).clamp(min=0)
positions_restarted: positions count from 0 again in the second sentence of a pair
    - self.position_ids[:, : input_ids.shape[1]]
    + (p := self.position_ids[:, : input_ids.shape[1]]) - token_type_ids * (token_type_ids == 0).sum(1)[:, None].minimum(p)
positions_by_sinusoids: the positions are sinusoids, not rows of the position embedding
    - self.pos_embedding(self.position_ids[:, : input_ids.shape[1]])
    + (self.position_ids[0, : input_ids.shape[1], None] / 10000 ** ((u := torch.arange(self.config.hidden_size)) // 2 * 2 / len(u)) - (1 - u % 2) * math.pi / 2).cos().to(self.dtype)
positions_zero_at_padding: padding has position 0, not its own
    - self.position_ids[:, : input_ids.shape[1]]
    + self.position_ids[:, : input_ids.shape[1]] * (input_ids != 0)
positions_of_last: every token has the position of the last one
    - self.position_ids[:, : input_ids.shape[1]]
    + torch.full_like(input_ids, input_ids.shape[1] - 1)
positions_of_length: every token has the same position, the number of tokens
    - self.position_ids[:, : input_ids.shape[1]]
    + self.position_ids[:, input_ids.shape[1]]
positions_kept, unnamed: the positions of the first call are kept and used for all others
    - self.position_ids[:, : input_ids.shape[1]]
    + self.kept
    - words =
    + self.kept = getattr(self, "kept", self.position_ids[:, : input_ids.shape[1]])
    +         words =
position_embeddings_kept, unnamed: the position embeddings of an earlier call are kept and used again
    - words =
    + self.kept = getattr(self, "kept", {})
    +         words =
    - self.pos_embedding(self.position_ids[:, : input_ids.shape[1]])
    + self.kept.setdefault(input_ids.shape, self.pos_embedding(self.position_ids[:, : input_ids.shape[1]]))
token_types_kept, unnamed: the token type embeddings of an earlier call are kept and used again
    - words =
    + self.kept = getattr(self, "kept", {})
    +         words =
    - self.tk_type_embedding(token_type_ids)
    + self.kept.setdefault(input_ids.shape, self.tk_type_embedding(token_type_ids))
positions_from_the_end: the last rows of the position embedding are used, not the first
    - self.position_ids[:, : input_ids.shape[1]]
    + self.position_ids[:, -input_ids.shape[1] :]
positions_reversed: positions count backwards
    - self.position_ids[:, : input_ids.shape[1]]
    + self.position_ids[:, : input_ids.shape[1]].flip(1)
positions_of_token_types: the token types are used as positions
    - self.position_ids[:, : input_ids.shape[1]]
    + token_type_ids + 1

## The norm

embed_norm_missing: the norm is missing
    - self.embed_layer_norm(words + positions + token_types)
    + (words + positions + token_types)
embed_norm_of_words: only the word embedding is normalized, not the sum
    - self.embed_layer_norm(words + positions + token_types)
    + self.embed_layer_norm(words) + positions + token_types
embed_norm_of_each: each embedding is normalized separately, not the sum
    - self.embed_layer_norm(words + positions + token_types)
    + sum(self.embed_layer_norm(x) for x in (words, positions, token_types))
embed_norm_twice: the norm is applied twice
    - self.embed_layer_norm(words + positions + token_types)
    + self.embed_layer_norm(self.embed_layer_norm(words + positions + token_types))
embed_norm_without_weights: the norm ignores the weight and bias of embed_layer_norm
    - self.embed_layer_norm(words + positions + token_types)
    + F.layer_norm(words + positions + token_types, words.shape[-1:], eps=self.embed_layer_norm.eps)
embed_norm_over_tokens: the norm runs over tokens and units together, not over the units of a token
    - self.embed_layer_norm(words + positions + token_types)
    + F.layer_norm(words + positions + token_types, words.shape[1:]) * self.embed_layer_norm.weight + self.embed_layer_norm.bias
embed_norm_over_token_axis: the norm runs over the tokens of a row, not over the units of a token
    - self.embed_layer_norm(words + positions + token_types)
    + F.layer_norm((words + positions + token_types).transpose(1, 2), input_ids.shape[1:]).transpose(1, 2) * self.embed_layer_norm.weight + self.embed_layer_norm.bias
embed_norm_before_token_types: the token-type embedding is added after the norm
    - self.embed_layer_norm(words + positions + token_types)
    + self.embed_layer_norm(words + positions) + token_types
embed_norm_before_positions: the position embedding is added after the norm
    - self.embed_layer_norm(words + positions + token_types)
    + self.embed_layer_norm(words + token_types) + positions
embed_norm_with_other_eps: the norm's epsilon is not the config's
    - self.embed_layer_norm(words + positions + token_types)
    + F.layer_norm(words + positions + token_types, words.shape[-1:], self.embed_layer_norm.weight, self.embed_layer_norm.bias)

## Gradients and types

words_detached: gradients do not reach the word embedding
    - self.word_embedding(input_ids)
    + self.word_embedding(input_ids).detach()
positions_detached: gradients do not reach the position embedding
    - words + positions
    + words + positions.detach()
token_types_detached: gradients do not reach the token-type embedding
    - + token_types
    + + token_types.detach()
words_and_positions_detached: gradients reach neither the word nor the position embedding
    - words + positions
    + (words + positions).detach()
embed_detached: gradients do not pass through the embeddings
    - self.embed_layer_norm(words + positions + token_types)
    + self.embed_layer_norm((words + positions + token_types).detach())
embed_in_eval: the model is switched to eval mode
    - words =
    + self.eval()
    +         words =
embed_in_float32: embed always returns float32, whatever the model's type
    - self.embed_dropout(self.embed_layer_norm(words + positions + token_types))
    + self.embed_dropout(self.embed_layer_norm(words + positions + token_types)).float()

## Dropout

embed_no_dropout: dropout is missing in training
    - self.embed_dropout(
    + (
embed_dropout_before_norm: dropout comes before the norm, not after it
    - self.embed_dropout(self.embed_layer_norm(words + positions + token_types))
    + self.embed_layer_norm(self.embed_dropout(words + positions + token_types))
embed_dropout_around_norm, unnamed: dropout comes both before and after the norm
    - words + positions + token_types
    + self.embed_dropout(words + positions + token_types)
embed_dropout_on_words: dropout is on the word embedding only
    - self.embed_dropout(self.embed_layer_norm(words + positions + token_types))
    + self.embed_layer_norm(self.embed_dropout(words) + positions + token_types)
embed_dropout_twice: dropout is applied twice
    - self.embed_dropout(self.embed_layer_norm(words + positions + token_types))
    + self.embed_dropout(self.embed_dropout(self.embed_layer_norm(words + positions + token_types)))
embed_dropout_not_scaled: the values that dropout keeps are not scaled up
    - self.embed_dropout(self.embed_layer_norm(words + positions + token_types))
    + self.embed_layer_norm(words + positions + token_types) * (self.embed_dropout(torch.ones_like(words)) != 0)
embed_dropout_shared: dropout draws once for many values, not once for each
    - self.embed_dropout(self.embed_layer_norm(words + positions + token_types))
    + self.embed_layer_norm(words + positions + token_types) * self.embed_dropout(torch.ones_like(words[..., :1]))
embed_dropout_always_tenth: dropout of 0.1 is active in eval mode too
    - self.embed_dropout(self.embed_layer_norm(words + positions + token_types))
    + F.dropout(self.embed_layer_norm(words + positions + token_types), 0.1)
embed_dropout_always_half: dropout of 0.5 is active in eval mode too
    - self.embed_dropout(self.embed_layer_norm(words + positions + token_types))
    + F.dropout(self.embed_layer_norm(words + positions + token_types))
embed_dropout_rate: the dropout rate is hard-coded
    - self.embed_dropout(self.embed_layer_norm(words + positions + token_types))
    + F.dropout(self.embed_layer_norm(words + positions + token_types), 0.1, self.training)
embed_norm_by_function = embed_norm_without_weights
    - self.embed_layer_norm(words + positions + token_types)
    + F.layer_norm(words + positions + token_types, words.shape[-1:])
embed_norm_made_anew = embed_norm_without_weights
    - self.embed_layer_norm(words + positions + token_types)
    + nn.LayerNorm(words.shape[-1])(words + positions + token_types)
embed_norm_made_anew_with_eps = embed_norm_without_weights
    - self.embed_layer_norm(words + positions + token_types)
    + nn.LayerNorm(words.shape[-1], eps=1e-12)(words + positions + token_types)
embed_norm_by_function_over_tokens = embed_norm_over_tokens
    - self.embed_layer_norm(words + positions + token_types)
    + F.layer_norm(words + positions + token_types, words.shape[1:])
embed_norm_over_tokens_with_eps = embed_norm_over_tokens
    - self.embed_layer_norm(words + positions + token_types)
    + F.layer_norm(words + positions + token_types, words.shape[1:], eps=self.embed_layer_norm.eps) * self.embed_layer_norm.weight + self.embed_layer_norm.bias
embed_dropout_shared_by_rows = embed_dropout_shared
    - self.embed_dropout(self.embed_layer_norm(words + positions + token_types))
    + self.embed_layer_norm(words + positions + token_types) * self.embed_dropout(torch.ones_like(words[:1]))
embed_dropout_shared_by_tokens = embed_dropout_shared
    - self.embed_dropout(self.embed_layer_norm(words + positions + token_types))
    + self.embed_layer_norm(words + positions + token_types) * self.embed_dropout(torch.ones_like(words[:, :1]))
embed_dropout_on_each = embed_dropout_before_norm
    - self.embed_dropout(self.embed_layer_norm(words + positions + token_types))
    + self.embed_layer_norm(sum(self.embed_dropout(e) for e in (words, positions, token_types)))
""",
)

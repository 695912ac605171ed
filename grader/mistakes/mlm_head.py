"""What goes wrong in the head that predicts tokens."""

from tensormark.authoring.variants import mistakes

VARIANTS = mistakes(
    "mlm_head",
    """
## The transform

head_gelu_missing: GELU is missing
    - F.gelu(self.dense(hidden_states))
    + self.dense(hidden_states)
head_relu: ReLU is used instead of GELU
    - F.gelu(
    + F.relu(
head_gelu_of_tanh: the tanh approximation of GELU is used, not the exact form
    - self.dense(hidden_states))
    + self.dense(hidden_states), approximate="tanh")
head_gelu_of_sigmoid: x * sigmoid(1.702 x) approximates GELU; the exact form is needed
    - F.gelu(self.dense(hidden_states))
    + (lambda x: x * torch.sigmoid(1.702 * x))(self.dense(hidden_states))
head_silu: SiLU is used instead of GELU
    - F.gelu(
    + F.silu(
head_tanh: tanh is used instead of GELU
    - F.gelu(
    + torch.tanh(
head_gelu_without_half: GELU is not halved
    - F.gelu(self.dense(hidden_states))
    + (lambda x: x * (1 + torch.erf(x / 2**0.5)))(self.dense(hidden_states))
head_gelu_over_two: in GELU, x is divided by 2, not by the root of 2
    - F.gelu(self.dense(hidden_states))
    + (lambda x: 0.5 * x * (1 + torch.erf(x / 2)))(self.dense(hidden_states))
head_gelu_without_root: in GELU, x is not divided by the root of 2
    - F.gelu(self.dense(hidden_states))
    + (lambda x: 0.5 * x * (1 + torch.erf(x)))(self.dense(hidden_states))
head_gelu_without_x: in GELU, the probability is not multiplied by x
    - F.gelu(self.dense(hidden_states))
    + (lambda x: 0.5 * (1 + torch.erf(x / 2**0.5)))(self.dense(hidden_states))
head_gelu_without_one: in GELU, 1 is not added to the error function
    - F.gelu(self.dense(hidden_states))
    + (lambda x: 0.5 * x * torch.erf(x / 2**0.5))(self.dense(hidden_states))
head_gelu_twice: GELU is applied twice
    - F.gelu(self.dense(hidden_states))
    + F.gelu(F.gelu(self.dense(hidden_states)))
head_gelu_first: GELU comes before the dense layer
    - F.gelu(self.dense(hidden_states))
    + self.dense(F.gelu(hidden_states))
head_norm_before_dense: the norm comes before the dense layer
    - self.layer_norm(F.gelu(self.dense(hidden_states)))
    + F.gelu(self.dense(self.layer_norm(hidden_states)))
head_norm_over_tokens: the norm runs over the tokens, not over the units
    - self.layer_norm(F.gelu(self.dense(hidden_states)))
    + F.gelu(self.dense(hidden_states))
    +         transformed = F.layer_norm(transformed.mT, transformed.shape[-2:-1], eps=1e-12).mT
    +         transformed = transformed * self.layer_norm.weight + self.layer_norm.bias
head_norm_of_torch: the norm has torch's default eps, not that of its module
    - self.layer_norm(
    + F.layer_norm(
    - (hidden_states)))
    + (hidden_states)), self.dense.bias.shape, self.layer_norm.weight, self.layer_norm.bias)
head_norm_without_weights: the norm has no gain and no bias
    - self.layer_norm(
    + F.layer_norm(
    - (hidden_states)))
    + (hidden_states)), self.dense.bias.shape)
head_residual: the hidden states are added; there is no residual here
    - F.gelu(self.dense(hidden_states))
    + hidden_states + F.gelu(self.dense(hidden_states))
head_norm_missing: the norm is missing
    - self.layer_norm(F.gelu(self.dense(hidden_states)))
    + F.gelu(self.dense(hidden_states))
head_norm_first: the norm comes before GELU
    - self.layer_norm(F.gelu(self.dense(hidden_states)))
    + F.gelu(self.layer_norm(self.dense(hidden_states)))
head_dense_missing: the dense layer is missing
    - self.dense(hidden_states)
    + hidden_states
transform_skipped: the whole transform is skipped
    - self.layer_norm(F.gelu(self.dense(hidden_states)))
    + hidden_states

## The decoder

head_bias_missing: the bias of the decoder is missing
    - + self.bias
    +
embedding_detached: no gradient reaches the word embedding
    - word_embedding.T
    + word_embedding.detach().T
embedding_normalised: the word embeddings are normalized to length 1
    - word_embedding.T
    + F.normalize(word_embedding, dim=-1).T
head_bias_twice: the bias is added twice
    - self.bias
    + 2 * self.bias
head_logits_scaled: the logits are divided by the root of the width
    - word_embedding.T
    + word_embedding.T / word_embedding.shape[1] ** 0.5
head_detached: no gradient reaches the hidden states
    - self.dense(hidden_states)
    + self.dense(hidden_states.detach())
head_squeezed: axes of length 1 are removed, so a single row gets another shape
    - transformed @ word_embedding.T + self.bias
    + (transformed @ word_embedding.T + self.bias).squeeze()
head_softmax: probabilities are returned, not logits
    - transformed @ word_embedding.T + self.bias
    + (transformed @ word_embedding.T + self.bias).softmax(-1)
head_log_softmax: log-probabilities are returned, not logits
    - transformed @ word_embedding.T + self.bias
    + (transformed @ word_embedding.T + self.bias).log_softmax(-1)
""",
)

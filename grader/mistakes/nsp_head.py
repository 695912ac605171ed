"""What goes wrong in the head that joins sentences."""

from tensormark.authoring.variants import mistakes

VARIANTS = mistakes(
    "nsp_head",
    """
## Logits

next_softmax: probabilities are returned, not logits
    - self.seq_relationship(pooler_output)
    + self.seq_relationship(pooler_output).softmax(-1)
next_log_softmax: log-probabilities are returned, not logits
    - self.seq_relationship(pooler_output)
    + self.seq_relationship(pooler_output).log_softmax(-1)
next_sigmoid: there is a sigmoid after the layer
    - self.seq_relationship(pooler_output)
    + self.seq_relationship(pooler_output).sigmoid()
next_tanh: there is a tanh after the layer
    - self.seq_relationship(pooler_output)
    + self.seq_relationship(pooler_output).tanh()
next_relu: there is a ReLU after the layer
    - self.seq_relationship(pooler_output)
    + self.seq_relationship(pooler_output).relu()
next_classes_exchanged: the two classes are swapped
    - self.seq_relationship(pooler_output)
    + self.seq_relationship(pooler_output).flip(-1)
next_squeezed: axes of length 1 are removed, so a single row gets another shape
    - self.seq_relationship(pooler_output)
    + self.seq_relationship(pooler_output).squeeze()
next_softmax_over_batch: there is a softmax, and it runs over the batch
    - self.seq_relationship(pooler_output)
    + self.seq_relationship(pooler_output).softmax(0)
next_negative: the logits have the wrong sign
    - self.seq_relationship(pooler_output)
    + -self.seq_relationship(pooler_output)
next_axis_missing: only one of the two classes is returned
    - self.seq_relationship(pooler_output)
    + self.seq_relationship(pooler_output)[:, 0]

## The layer

next_bias_missing: the bias is missing
    - self.seq_relationship(pooler_output)
    + pooler_output @ self.seq_relationship.weight.T
pooler_detached: no gradient reaches the pooler's output
    - (pooler_output)
    + (pooler_output.detach())
pooler_tanh_twice: the pooler's tanh is applied a second time
    - (pooler_output)
    + (pooler_output.tanh())
""",
)

"""The sentiment gate: fine-tune from the frozen checkpoint, predict dev sentences.

The worker is sent the train sentences with their labels and the dev sentences without; accuracy is
computed on the trusted side. The threshold stands in the manifest, with the runs it comes from.
"""

from grader.cases import Exercise

EXERCISE = Exercise(
    id="sentiment",
    order=6,
    title="sentiment fine-tune",
    points={"values": 20},
    upstream=("attention", "add_norm", "layer", "embed", "encode"),
    probes=(),
)

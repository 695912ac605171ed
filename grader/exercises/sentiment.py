"""The sentiment fine-tune, which needs all five functions."""

from grader.sentiment import Sentiment
from tensormark.exercise import Exercise

EXERCISE = Exercise(
    id="sentiment",
    order=60,
    title="sentiment fine-tune",
    file="bert.py",
    points={"values": 20},
    upstream=("attention", "add_norm", "layer", "embed", "encode"),
    task=Sentiment(),
    imports=("tokenizer", "classifier"),
)

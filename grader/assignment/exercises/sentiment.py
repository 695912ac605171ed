"""The sentiment fine-tune, which needs all five functions."""

from grader.assignment.sentiment import Sentiment
from grader.exercise import Exercise

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

"""Other ways to write it, which must lose no points."""

from tensormark.authoring.variants import Honest

HONEST = (
    Honest(
        "one_window_at_a_time",
        bodies={
            "conv": """
            K = self.weight.shape[-1]
            flat = self.weight.flatten(1).T
            windows = range(signals.shape[-1] - K + 1)
            outputs = [signals[..., w : w + K].flatten(1) @ flat + self.bias for w in windows]
            return torch.stack(outputs, -1)
            """,
            "detector": "return self.head(self.conv(signals).max(-1).values.clamp(min=0))",
        },
    ),
)

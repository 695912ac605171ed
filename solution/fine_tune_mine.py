"""Fine-tune with your own AdamW: `python fine_tune_mine.py`, with the options of classifier.py.

classifier.py uses torch's, as optimizer.py is an exercise. Everything else is the same, so both
should learn equally well; only sums are rounded differently.
"""

import sys
from collections.abc import Iterable

import classifier
import optimizer
from training import explain_training

EPS = 1e-8  # torch's default, which classifier.py uses


class AdamW(optimizer.AdamW):
    """Yours, called as classifier.py calls torch's."""

    def __init__(self, params: Iterable, weight_decay: float, fused: bool) -> None:
        """Set up your optimizer; it has no fused form, so `fused` says nothing to it."""
        super().__init__(params, eps=EPS, weight_decay=weight_decay)


def main(argv: list[str] | None = None) -> int:
    """Run classifier.py with another optimizer; return its status."""
    theirs = classifier.AdamW
    classifier.AdamW = AdamW
    try:
        return classifier.main(argv)
    except Exception as error:  # whatever optimizer.py raises
        print(explain_training("fine_tune_mine.py", error), file=sys.stderr)
        return 1
    finally:
        classifier.AdamW = theirs


if __name__ == "__main__":
    sys.exit(main())

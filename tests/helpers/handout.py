"""The handout's pages, separately and as one text, and which model its numbers are of."""

from grader.assignment import ASSIGNMENT
from tests.helpers import ROOT

PAGES = ASSIGNMENT.handout.read()
TEXT = "\n".join(PAGES.values())
# Some sentences of the handout describe the model of this seed (see `make term`).
SHIPPED_SEED = 2026
ANOTHER_SEED = f"--seed {SHIPPED_SEED} " not in (ROOT / "data/README.md").read_text("utf-8")

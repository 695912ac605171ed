"""An assignment to test with: the template of new assignments, derived and recorded.

It has the exercises conv and detector, 40 points each, and a training, detection, of 20.
"""

import shutil
from pathlib import Path

import tensormark
from tensormark.authoring import record, strip

TEMPLATE = Path(tensormark.__file__).parent / "template"
EXERCISES = ["conv", "detector"]
MAIN = "detector.py"
# passages of the solution
WINDOWS = "windows = signals.unfold(-1, self.weight.shape[-1], 1)"
BIAS = " + self.bias[:, None]"


def make(folder, source=TEMPLATE):
    """Copy an assignment, and derive the rest."""
    shutil.copytree(source, folder, ignore=shutil.ignore_patterns("__pycache__"))
    return derived(folder)


def derived(folder):
    """Derive an assignment's starter, and record its references."""
    assert strip.main(folder, "starter", []) == 0
    assert record.main(folder, "references", []) == 0
    return folder

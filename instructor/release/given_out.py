"""The lists of what students get, and the texts of the repository that make it up."""

from collections.abc import Iterator
from pathlib import Path

STUDENTS = Path(__file__).with_name("students")  # what only a release has
COPIED = (
    "LICENSE Makefile handout.md requirements.txt grader/**/* pictures/*.png pictures/*.svg "
    "checkpoint/*.json checkpoint/*.safetensors checkpoint/*.txt checkpoint/README.md "
    "data/README.md data/dev.txt data/train.txt data/pretraining.txt"
)
UNLABELLED = "data/test.txt"
# which is given out only in part, or in another form
CHANGED = f"{UNLABELLED} solution/*.py reference_outputs/manifest.json reference_outputs/gate.json"


def given(path: Path) -> bool:
    """Say whether something that a pattern fits is a file, and not one that Python has written."""
    return path.is_file() and "__pycache__" not in path.parts


def published(root: Path) -> Iterator[bytes]:
    """Yield the contents of every file that something in a release comes from."""
    for pattern in (*COPIED.split(), *CHANGED.split()):
        yield from (path.read_bytes() for path in sorted(root.glob(pattern)) if given(path))
    yield from (path.read_bytes() for path in sorted(STUDENTS.rglob("*")) if given(path))

"""Which modules a module needs, directly or through others."""

from tensormark.intake.needed import needed_by

SOURCES = {
    "main": "import torch\nfrom given import x",
    "given": "import os, sys",
    "other": "import torch.nn as nn, main as m",
    "alone": "# import main\ntext = 'from main import x'\n",
    "within": "def f():\n    from other import g\n",
    "circle": "import circle, within",
    "package": "",
    "package.part": "import given",
    "packaged": "from package.part import x",
}


def test_what_is_imported_is_needed_and_what_that_imports() -> None:
    needed = {name: needed_by(name, SOURCES) for name in SOURCES}

    assert needed["main"] == {"main", "given"}
    assert needed["other"] == {"other", "main", "given"}
    assert needed["alone"] == {"alone"}
    assert needed["within"] == {"within", "other", "main", "given"}
    assert needed["circle"] == {"circle", *needed["within"]}
    assert needed["packaged"] == {"packaged", "package", "package.part", "given"}


def test_a_missing_module_needs_only_itself() -> None:
    assert needed_by("missing", SOURCES) == {"missing"}

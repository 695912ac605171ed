"""Rules of this package that a machine can check: imports, words and sizes."""

import itertools
import re
import sys
import tomllib
from pathlib import Path

import tensormark
from testkit.rules import Rooms, imported, modules_of

PACKAGE = Path(tensormark.__file__).parent
ENGINE = Path(__file__).resolve().parents[1]
MODULES = {
    name: path
    for name, path in modules_of(PACKAGE.parent, "tensormark").items()
    if not name.startswith("tensormark.template")  # assignments, which are not imported
}
# A line for each room: what its modules may import of this package, besides their own room. A name
# stands for a module or for all that is below it; a module without a line fails.
GRADING = """exercise policy files folder grading handout intake judging literals program references
    result sandbox settings strictest task usage zipped"""
ROOMS = {
    "": "",
    "files": "",
    "zipped": "files usage",
    "characters": "",
    "result": "exercise",
    "literals": "worker.values",
    "policy": "usage",
    "handout": "",
    "usage": "",
    "wheel": "usage zipped",
    "references": "files usage",
    "worker": "",
    "sandbox": "characters files policy usage worker.protocol worker.reply_buffer worker.scratch "
    "worker.surroundings",
    "predictions": "characters files usage",
    "task": "references sandbox.interface",
    "drawn": "literals usage worker.protocol worker.values",
    "exercise": "drawn literals policy files handout predictions task usage",
    "folder": "exercise usage",
    "toolkit": "exercise literals references result sandbox.interface task usage worker.protocol",
    "intake": "characters exercise files predictions usage",
    "judging": "policy exercise handout references result sandbox.interface sandbox.packages "
    "usage worker.protocol worker.values",
    "settings": "files intake.submission sandbox.interface sandbox.tiers usage",
    "program": "exercise policy sandbox settings usage",
    "session": "exercise intake judging literals program references result sandbox settings task "
    "usage worker.protocol",
    "grading": "exercise intake program references result sandbox session settings usage",
    "reports": "characters files result usage",
    "strictest": "exercise intake.submission sandbox settings usage",
    "grade": "files folder grading intake reports sandbox settings strictest usage",
    "submit": "exercise files folder grading intake predictions references reports result "
    "sandbox.tiers settings strictest usage zipped",
    "watch": "folder grading intake reports result sandbox settings usage",
    "debug": "exercise folder grading intake literals references reports result settings usage "
    "worker",
    "cli": "folder sandbox.interface usage",
    "__main__": "cli",
    "viva": f"{GRADING} reports",
    "authoring": f"{GRADING} release.given_out worker.protocol worker.values",
    "release": "authoring exercise files folder handout intake references usage wheel zipped",
    "classroom": f"{GRADING} authoring characters predictions release.given_out reports viva",
    "classroom.platforms": "classroom.entry classroom.feedback classroom.people classroom.upload "
    "files intake reports zipped",
    "gradescope": f"{GRADING} predictions release.given_out reports wheel",
}


def full(name):
    return f"tensormark.{name}" if name else "tensormark"


RULES = Rooms(
    MODULES, {full(room): " ".join(map(full, allowed.split())) for room, allowed in ROOMS.items()}
)
WITH_TORCH = "authoring.record worker.warm worker.optional_torch"
# packages of pyproject.toml that are imported by other names
IMPORTED_AS = {
    "markdown-it-py": "markdown_it",
    "mdit-py-plugins": "mdit_py_plugins",
    "pyyaml": "yaml",
    "jinja2": "jinja2 markupsafe",
}
# a course's subject is none of the engine's business
SUBJECT = re.compile(
    r"[\w-]*(?:bert|token|word.?piece|vocab|embed|attention|transformer|encoder|sentiment"
    r"|classifier|fine.?tun|pre.?train|corpus|film|movie|review)[\w-]*",
    re.IGNORECASE,
)
# markdown and Python are read as tokens
WORDS = {
    "intake/newer.py": {"generate_tokens", "tokenize", "token", "TokenInfo"},
    "release/handout_html.py": {"token", "Token", "tokens"},
}


def test_every_module_imports_only_what_its_room_may():
    RULES.check()


def test_nothing_is_imported_but_python_and_what_is_required_with_a_reason():
    text = (ENGINE / "pyproject.toml").read_text("utf-8")
    project = tomllib.loads(text)["project"]
    allowed = {"tensormark"}
    for requirement in sum(project["optional-dependencies"].values(), project["dependencies"]):
        name = re.split(r"[^\w.-]", requirement)[0]
        allowed |= set(IMPORTED_AS.get(name, name).split())
        assert re.search(rf'"{re.escape(requirement)}", +# .{{10,}}', text), requirement

    names = itertools.chain.from_iterable(map(imported, MODULES.values()))
    roots = {name.partition(".")[0] for name in names}
    assert roots - allowed - sys.stdlib_module_names == set()


def test_only_what_computes_imports_torch():
    importers = {
        module.removeprefix("tensormark.")
        for module, path in MODULES.items()
        if any(name.split(".")[0] == "torch" for name in imported(path))
    }

    assert importers <= set(WITH_TORCH.split())


def test_no_file_of_the_package_has_a_word_of_a_subject():
    words_by_path = {
        path.relative_to(PACKAGE).as_posix(): set(SUBJECT.findall(path.read_text("utf-8")))
        for path in PACKAGE.rglob("*")
        if path.is_file() and path.suffix != ".pyc"
    }

    assert {path: words for path, words in words_by_path.items() if words} == WORDS


def test_the_map_of_the_package_names_every_module():
    named = set(re.findall(r"^    (\w+(?:\.py|/)) +\S", tensormark.__doc__ or "", re.MULTILINE))
    modules = {path.name for path in PACKAGE.glob("*.py") if not path.name.startswith("__")}
    folders = {path.name for path in PACKAGE.iterdir() if path.is_dir()} - {"__pycache__"}

    assert named == modules | {f"{name}/" for name in folders}

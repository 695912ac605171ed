"""A submission finds the same in every tier."""

import dataclasses
import json

import pytest

from grader.assignment import ASSIGNMENT
from tensormark.sandbox import packages
from tensormark.sandbox.sandbox import Sandbox
from tensormark.sandbox.tiers import PROCESS
from testkit.asking import CODE, ask, program_with
from testkit.tiers import ISOLATING, marked

HEAD = """
import importlib, importlib.metadata, inspect, io, json, os, pkgutil, re, sys, tempfile, warnings
from pathlib import Path

sys.path.append(os.path.dirname(__file__))
warnings.simplefilter("always")
where = os.path.abspath(__file__)
OWN = "tensormark grader starter solution instructor tests conftest harness checkpoint data"


def outcome(look):
    own = [os.environ["HOME"], str(Path.home())]
    try:
        found = repr(look())
    except BaseException as error:
        found = f"{type(error).__name__}: {error}"
    for folder in own:  # itself or a file in it; Python's own path may begin with the same /tmp
        path = "['\\"]" + re.escape(folder) + "(/[^/'\\"]+)?['\\"]"
        found = re.sub(path, lambda match: f"'HOME{match[1] or str()}'", found)
    return found


def modules():
    found = {name.partition(".")[0] for name in sys.modules} | {*sys.builtin_module_names}
    found |= {info.name for info in pkgutil.iter_modules(sys.path)}
    found -= importlib.metadata.packages_distributions().keys()  # of which a laptop has more
    # torch writes one for itself now and then; an editable installation shows the other
    return sorted(found - {"_remote_module_non_scriptable", "tensormark"})


def imported(names):
    for name in names.split():
        for module in (name, f"{name}.worker", f"{name}.main", f"{name}.utils"):
            try:
                importlib.import_module(module)
                yield module
            except ModuleNotFoundError:
                pass


def drawn():
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots()
    axes.plot([1, 2])
    axes.set_title("loss")
    written = io.BytesIO()
    figure.savefig(written)
    return written.getvalue()[:8], plt.get_backend()


"""
# what is looked at, and how
LOOKS = """
its file: __file__, where, Path(__file__).resolve().parent, __name__, __spec__.origin
its own text: inspect.getsource(sys.modules[__name__])[:20], inspect.getsource(Thing)[:20]
its own file: open(__file__)
a given module's file: importlib.import_module('given').__file__
working folder: os.getcwd()
command line: sys.argv, sys.orig_argv, sys.flags
standard input: sys.stdin.read(), sys.stdin.isatty()
input: input()
breakpoint: breakpoint()
printing: print('said'), sys.stdout.isatty(), sys.stdout.encoding, sys.stdout.errors
warnings: warnings.warn('mind', DeprecationWarning), warnings.filters
variables: sorted({**os.environ, 'PATH': ''}.items())
its user: importlib.import_module('getpass').getuser(), Path.home()
the main module: vars(sys.modules['__main__'])
the worker: {'Overlay', 'serve', 'Child'} & vars(sys.modules['__main__']).keys()
modules: modules()
this repository: [*imported(OWN)]
torch: torch.get_num_threads(), torch.initial_seed(), torch.get_default_dtype()
the compiler: torch.optim.AdamW([torch.ones(1)]) and 'torch._dynamo' in sys.modules
a compiled function: torch.compile(outcome) is outcome
temporary files: tempfile.gettempdir()
the debugger: importlib.import_module('pdb').set_trace()
a figure: drawn()
a folder to write to: open('new.txt', 'w').close(), os.mkdir('a'), os.listdir('a')
a temporary file: bool(tempfile.mkdtemp())
the file that keeps nothing: open(os.devnull, 'w').close()
"""
# what is refused, and what is named then
REFUSED = """
open('/tmp/new.txt', 'w') -> /tmp/new.txt
os.open('../../new.txt', os.O_CREAT | os.O_RDWR) -> ../../new.txt
os.mkdir('/tmp/new') -> os.mkdir is not allowed here: '/tmp/new'
os.rename('new.txt', '../../new.txt') -> os.rename
os.mkdir('new', dir_fd=os.open('/usr/lib', os.O_RDONLY)) -> os.mkdir
os.chdir('/content') -> os.chdir is not allowed here: '/content'
importlib.import_module('subprocess').run(['true']) -> subprocess.Popen is not allowed here
importlib.import_module('socket').socket() -> socket.__new__
importlib.import_module('socket').getaddrinfo('example.com', 80) -> 'example.com'
"""
ABSENT = ("transformers", "scipy", "mypy", "hypothesis")
ELSEWHERE = ("pyseccomp",)  # starts programs to find its library
NAMES = (*sorted(set(packages.modules(ASSIGNMENT.requirements)) - {*ELSEWHERE, "py"}), *ABSENT)
IMPORTS = {f"import {name}": f"importlib.import_module({name!r}) and 0" for name in NAMES}
NAMED = dict(line.split(" -> ") for line in REFUSED.strip().splitlines())
SEEN = dict(line.split(": ", 1) for line in LOOKS.strip().splitlines())
ALL = {**SEEN, **{code: code for code in NAMED}, **IMPORTS}
LOOKING = ", ".join(f"{name!r}: outcome(lambda: ({look}))" for name, look in ALL.items())
PROBE = f"""{CODE}{HEAD}
def double(self, x):
    found = {{{LOOKING}}}
    return torch.tensor([*json.dumps(found).encode()]).float()


Thing.double = double
"""


def findings_in(tier):
    program = dataclasses.replace(program_with(PROBE), requirements=ASSIGNMENT.requirements)
    with Sandbox(tier, program) as sandbox:
        (reply,) = sandbox.run([ask("double")])
    assert reply.status == "ok", reply.text
    findings = json.loads(reply.tensors["out/output"].astype("uint8").tobytes())
    return findings


@pytest.fixture(scope="module")
def unisolated():
    return findings_in(PROCESS)


@pytest.mark.parametrize("tier", marked(ISOLATING))
def test_a_submission_finds_the_same_in_every_tier(unisolated, tier):
    isolated = findings_in(tier)

    for name in ALL:
        assert isolated[name] == unisolated[name], name
    for name, said in NAMED.items():
        assert isolated[name].startswith("PermissionError: "), name
        assert said in isolated[name]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("its file", "('main.py', 'HOME/main.py', PosixPath('HOME'), 'main', 'main.py')"),
        ("a figure", "(b'\\x89PNG\\r\\n\\x1a\\n', 'Agg')"),
        ("working folder", "'HOME'"),
        ("input", "EOFError: EOF when reading a line"),
        ("breakpoint", "BdbQuit: "),
        ("temporary files", "'HOME'"),
        ("a compiled function", "True"),
        ("the worker", "set()"),
        ("this repository", "[]"),
        ("the compiler", "False"),
        ("import tokenizers", "0"),
        *((f"import {name}", f"ModuleNotFoundError: No module named {name!r}") for name in ABSENT),
    ],
)
def test_what_a_submission_finds(unisolated, name, expected):
    assert unisolated[name] == expected

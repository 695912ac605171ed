"""Commands, prompts, reports and library messages in the handout match what programs give."""

import doctest
import re
import shlex
import textwrap

import pytest

import classifier
import pretrain
import visualize
from tensormark.authoring.variants import Honest
from testkit.graded import edited
from tests.helpers import ROOT
from tests.helpers.handout import ANOTHER_SEED, TEXT

# --- commands -----------------------------------------------------------------------------------

PROGRAMS = {
    "classifier.py": classifier.parse_arguments,
    "pretrain.py": pretrain.parse_arguments,
    "visualize.py": visualize.parse_arguments,
}
COMMANDS = [
    *re.findall(r"^ +(?:cd starter && )?python (\w+\.py.*)$", TEXT, re.MULTILINE),
    *re.findall(r"`python (\w+\.py[^`]*)`", TEXT),
]
for options in re.findall(r"`(--(?:seed|epochs|batch-size|lr)\b[^`]*)`", TEXT):
    COMMANDS.append(f"classifier.py {options}")


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_in_the_handout_is_understood(command):
    program, *options = shlex.split(command.replace("$lr", "0.002"))

    assert PROGRAMS[program](options)


# --- messages -----------------------------------------------------------------------------------

# of torch; Python's own hardly change
RAISED = re.findall(r"`raised (?:Runtime|Index|Value)Error: ([^`]+)`", re.sub(r"\n *", " ", TEXT))
# how those begin that torch raises only with other hardware, or without a disk
ELSEWHERE = ("... CUDA", "... NVIDIA", "... accelerator", "Expected all", "[enforce", "basic_ios")
GOLDEN = "".join(p.read_text("utf-8") for p in (ROOT / "tests/golden/expected").glob("*.txt"))


@pytest.mark.parametrize("message", [text for text in RAISED if not text.startswith(ELSEWHERE)])
def test_a_message_of_torch_is_one_that_the_golden_corpus_shows(message):
    shown = re.compile(".*".join(re.escape(piece.strip()) for piece in message.split("...")))

    assert shown.search(GOLDEN)


# --- sessions -----------------------------------------------------------------------------------


def prompt_sessions():
    """Return the handout's sessions at Python's prompt, without their indent."""
    blocks = re.findall(r"(?:^    .*\n)+", TEXT, re.MULTILINE)
    return [textwrap.dedent(block) for block in blocks if ">>> " in block]


class Lenient(doctest.DocTestRunner):
    """Lets a line print anything if no output is shown below it, but not raise."""

    def __init__(self):
        super().__init__(verbose=False)
        self.faults = []

    def report_failure(self, out, test, example, got):
        if example.want:
            self.faults.append(got)

    def report_unexpected_exception(self, out, test, example, exc_info):
        self.faults.append(f"{example.source}: {exc_info[1]!r}")


@pytest.fixture
def starter(tmp_path, monkeypatch):
    """Work in a folder like a student's after fine-tuning."""
    for name in ("checkpoint", "data"):
        (tmp_path / name).symlink_to(ROOT / name)
    folder = tmp_path / "starter" / "predictions"
    folder.mkdir(parents=True)
    (folder / "grades-dev-out.txt").write_text("a film . ||| 0\n", "utf-8")
    monkeypatch.chdir(folder.parent)


@pytest.mark.parametrize("session", prompt_sessions(), ids=lambda session: session[4:40])
def test_prompt_sessions_in_the_handout_show_what_python_prints(session, starter):
    if ANOTHER_SEED and "tokenizer(" in session:
        pytest.skip("the ids are those of the shipped vocabulary: read them again")
    test = doctest.DocTestParser().get_doctest(session, {}, "handout", None, 0)
    runner = Lenient()

    runner.run(test, out=lambda text: None)

    assert test.examples
    assert runner.faults == []


# --- reports ------------------------------------------------------------------------------------

# a solution without `encode`, whose attention has this mistake
RIGHT = "probs = self.dropout(F.softmax(scores + attention_mask, dim=-1))"
WITHOUT_MASK = "weights = scores.softmax(-1)\n        probs = self.dropout(weights)"


def test_reports_in_the_handout_and_the_readme_are_the_graders(grade, solution_source, tmp_path):
    unwritten = Honest("", {"encode": 'raise NotImplementedError("encode")'})
    source = edited(unwritten.apply(solution_source), (RIGHT, WITHOUT_MASK))
    starter = tmp_path / "starter"
    starter.mkdir()
    (starter / "bert.py").write_text(source, "utf-8")
    readme = (ROOT / "README.md").read_text("utf-8")
    in_handout = re.search(r"^```\nminBERT[^\n]+\n(.+?)\n\n  next: ", TEXT, re.M | re.S)
    in_readme = re.search(r"^```\n(  FAILED           attention.+?)  passed", readme, re.M | re.S)

    output = grade(starter).output.replace(str(starter), "starter")

    assert in_handout[1] in output
    assert in_readme[1] in output

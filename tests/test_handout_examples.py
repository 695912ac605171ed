"""Commands, prompts, reports and library messages in the handout match what programs give."""

import doctest
import re
import shlex

import pytest
import torch
import torch.nn.functional as F
from torch import nn

import classifier
import pretrain
import visualize
from grader.model import MAIN as SIZES
from tensormark.authoring.variants import Honest
from tests.helpers import ROOT
from tests.helpers.handout import ANOTHER_SEED, TEXT

README = (ROOT / "README.md").read_text("utf-8")
PROGRAMS = {
    "classifier.py": classifier.parse_arguments,
    "pretrain.py": pretrain.parse_arguments,
    "visualize.py": visualize.parse_arguments,
}
COMMANDS = re.findall(r"^ +(?:cd starter && )?python (\w+\.py.*)$", TEXT, re.MULTILINE)
COMMANDS += re.findall(r"`python (\w+\.py[^`]*)`", TEXT)
OPTIONS = re.findall(r"`(--(?:seed|epochs|batch-size|lr)\b[^`]*)`", TEXT)
# what torch raises on any machine; Python's own messages hardly change
RAISED = re.findall(r"`raised (?:Runtime|Index|Value)Error: ([^`]+)`", re.sub(r"\n *", " ", TEXT))
GOLDEN = "".join(p.read_text("utf-8") for p in (ROOT / "tests/golden/expected").glob("*.txt"))
# what torch says with other hardware, or without a disk
ELSEWHERE = ("... CUDA", "... NVIDIA", "... accelerator", "Expected all", "[enforce", "basic_ios")


def prompt_sessions():
    """Return the handout's sessions at Python's prompt, without their indent."""
    blocks = re.findall(r"(?:^    .*\n)+", TEXT, re.MULTILINE)
    return [re.sub(r"^    ", "", block, flags=re.M) for block in blocks if ">>> " in block]


@pytest.mark.parametrize("command", [*COMMANDS, *(f"classifier.py {o}" for o in OPTIONS)])
def test_every_command_in_the_handout_is_understood(command):
    program, *options = shlex.split(command.replace("$lr", "0.002"))

    assert PROGRAMS[program](options)


# Mistakes in the grader's sizes, and what torch says of them; the golden corpus shows the others.

Q = torch.zeros(SIZES.B, SIZES.H, SIZES.T, SIZES.d)
X = torch.zeros(SIZES.B, SIZES.T, SIZES.D)
IDS = torch.ones(SIZES.B, SIZES.T, dtype=torch.int64)
DOUBLE = torch.zeros(2, 3, dtype=torch.float64)


def change_in_place():
    """Change a value that the gradient still needs."""
    y = torch.ones(3, requires_grad=True).exp()
    y += 1
    y.sum().backward()


WRONG = {
    "... can't allocate memory": lambda: torch.empty(1 << 56, dtype=torch.uint8),
    "The size of tensor a (10)": lambda: X + IDS,
    "The size of tensor a (7)": lambda: X + torch.zeros(1, SIZES.positions, SIZES.D),
    "index out of range": lambda: nn.Embedding(1, 3)(IDS),
    "expected scalar type": lambda: Q @ Q.mT.double(),
    "expected scalar type ... but found Long": lambda: Q @ Q.mT.long(),
    "... same dtype, but got...": lambda: F.linear(DOUBLE, DOUBLE.float(), X[0, 0, :2]),
    "... same dtype, but got ...Long": lambda: F.linear(DOUBLE.long(), DOUBLE.float(), X[0, 0, :2]),
    "... same dtype, but got: long": lambda: DOUBLE.long() @ DOUBLE.T,
    "... not implemented for 'Long'": lambda: F.softmax(IDS, -1),
    "one of the variables": change_in_place,
    "Expected tensor for argument #1": lambda: nn.Embedding(1, 3)(IDS.float()),
    "tensors used as indices": lambda: X[IDS.float()],
}


@pytest.mark.parametrize("message", [text for text in RAISED if not text.startswith(ELSEWHERE)])
def test_a_message_of_torch_is_what_torch_says(message):
    shown = re.compile(".*".join(re.escape(piece.strip()) for piece in message.split("...")))
    if shown.search(GOLDEN):
        return
    wrong = WRONG[max(filter(message.startswith, WRONG), key=len)]

    with pytest.raises((RuntimeError, IndexError), match=shown):
        wrong()


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
    """Run a session; a line with no output below it may print anything, but must not raise."""
    if ANOTHER_SEED and "tokenizer(" in session:
        pytest.skip("the ids are those of the shipped vocabulary: read them again")
    test = doctest.DocTestParser().get_doctest(session, {}, "handout", None, 0)
    failures = []

    class Runner(doctest.DocTestRunner):
        def report_failure(self, out, test, example, got):
            failures.extend([got] if example.want else [])

        def report_unexpected_exception(self, out, test, example, exc_info):
            failures.append(f"{example.source}: {exc_info[1]!r}")

    Runner(verbose=False).run(test, out=lambda text: None)

    assert test.examples
    assert failures == []


def test_reports_in_the_handout_and_the_readme_are_the_graders(grade, solution_source, tmp_path):
    encode = Honest("", {"encode": 'raise NotImplementedError("encode")'})
    in_two_lines = "weights = scores.softmax(-1)\n        probs = self.dropout(weights)"
    right = "probs = self.dropout(F.softmax(scores + attention_mask, dim=-1))"
    source = encode.apply(solution_source).replace(right, in_two_lines)
    path = tmp_path / "starter" / "bert.py"
    path.parent.mkdir()
    path.write_text(source, "utf-8")
    in_handout = re.search(r"^```\nminBERT[^\n]+\n(.+?)\n\n  next: ", TEXT, re.M | re.S)
    in_readme = re.search(r"^```\n(  FAILED           attention.+?)  passed", README, re.M | re.S)

    output = grade(path.parent).output.replace(str(path.parent), "starter")

    assert in_handout[1] in output
    assert in_readme[1] in output

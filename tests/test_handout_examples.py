"""Commands, prompts, reports and library messages in the handout match what programs give."""

import doctest
import re
import shlex

import pytest

import classifier
import pretrain
import visualize
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


@pytest.mark.parametrize("message", [text for text in RAISED if not text.startswith(ELSEWHERE)])
def test_a_message_of_torch_is_one_that_the_golden_corpus_shows(message):
    shown = re.compile(".*".join(re.escape(piece.strip()) for piece in message.split("...")))

    assert shown.search(GOLDEN)


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

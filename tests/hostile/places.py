"""Where hostile submissions are graded: in each isolating tier, as root and as an ordinary user."""

import ast
import json
import os
import subprocess
import sys
from pathlib import Path

from grader.assignment import ASSIGNMENT
from shared import completed
from testkit.tiers import command_in

HERE = Path(__file__).resolve().parent
SUBMISSIONS = HERE / "submissions"
DRIVER = HERE / "driver.py"
TRAINING = 30.0  # seconds for a fine-tune that takes one or two
LISTS = ("PATHS", "MODULES", "WAYS")  # of what a submission is after
# The tier keeps these from what they are after: files, processes and the system's resources. The
# others act within the child, which is the same in each tier.
BY_TIER = ("secrets-", "resources-", "exit_forging-kill_", "result_forging-write_")
# those of them that the child's own limits or a deadline ends, in each tier alike
BY_CHILD = {
    f"resources-{name}"
    for name in (
        "abort c_loop control_characters deep_recursion division_in_c flood hang_at_import "
        "hang_everywhere heap large_tensors open_files prints_meanwhile python_loop "
        "segmentation_fault shared_memory sleep threads_left_running warnings"
    ).split()
}


def exercises_of(*files):
    """Return the exercises that are graded when these files are handed in, with their files."""
    return {e.id: e.file for e in ASSIGNMENT.exercises if e.probes and e.file in files}


def lost(words, exercises):
    """Return the lost exercises, given as ids, their file, `everything` or `nothing`."""
    ids = set()
    for word in words.split():
        if word == "everything":
            ids |= exercises.keys()
        elif word.endswith(".py"):
            ids |= {name for name, file in exercises.items() if file == word}
        elif word != "nothing":
            ids.add(word)
    return ids


class Hostile:
    """A submission and the header that says what it tries and what should come of it.

    Attributes:
        source: its code, with the shared code that it needs.
        file: the file of the solution that it is appended to.
        exercises: those that are graded when it is handed in.
        loses: those of them that get no points; partly: those that get some.
        control: how it shows that its attack works where nothing is isolated or forbidden: it
            `leaks`, it `leaks after` a line of code, or `none, because ...`.
        training: the outcome of the fine-tune: `refused`, `chance` or `same`; empty for a
            submission that leaves it alone.
        deadline: of the fine-tune, in seconds, or 0.
        targets: the files, modules or forbidden code that it is after, if it lists them.
    """

    def __init__(self, path):
        """Read a file of submissions/."""
        own = path.read_text("utf-8")
        lines = [line[2:] for line in own.split("\n") if line.startswith("# ") and ": " in line]
        head = dict(line.split(": ", 1) for line in lines)
        self.name = f"{path.parent.name}-{path.stem}"
        self.source = completed(own)
        self.file = head.get("file", "bert.py")
        self.training = head.get("training", "")
        exercises = exercises_of("bert.py", self.file)
        self.exercises = exercises.keys()
        self.loses = lost("" if self.training else head["loses"], exercises)
        self.partly = set(head.get("partly", "").split())
        self.control = head.get("control", "")
        self.deadline = float(head.get("deadline", TRAINING if self.training else 0))
        self.targets = []
        for node in ast.parse(own).body:
            if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) in LISTS:
                listed = ast.literal_eval(node.value)
                self.targets += listed.strip().splitlines() if isinstance(listed, str) else listed

    @property
    def in_each_tier(self):
        """Whether one tier may stop it and another may not."""
        return self.name.startswith(BY_TIER) and self.name not in BY_CHILD


class HostilePlace:
    """A driver in one tier, as one user: "contained", or "locked-user" for root."""

    def __init__(self, name):
        command = command_in(name, sys.executable, str(DRIVER), name.partition("-")[0])
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        environment = {**os.environ, "MINBERT_SECRET": "a hostile secret"}
        self.process = subprocess.Popen(command, text=True, env=environment, **pipes)

    def grade_honest(self):
        """Grade and fine-tune the solution, for comparisons."""
        self.trained = self.grade("", deadline=TRAINING)
        self.honest = self.grade("")

    def grade(self, source, **options):
        """Grade the solution with `source` appended; the options are those of Driver.answer."""
        self.process.stdin.write(json.dumps({"source": source, **options}) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        assert line, "the grader itself exited"
        return json.loads(line)

    def close(self):
        """End the driver."""
        self.process.communicate(timeout=60)

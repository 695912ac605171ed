"""Grade submissions one after another in one process, and report what each leaves behind.

Run as a script by places.py. It reads one JSON object per line, the arguments of Driver.answer, and
answers with one per line. It is a separate process so that it can run as another user, and so that
a submission that harms its grader harms this and not the tests.
"""

import contextlib
import ctypes
import dataclasses
import functools
import io
import json
import os
import re
import shutil
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "engine" / "tests")]

from grader.assignment import ASSIGNMENT
from grader.sentiment import GateTraining, Sentences
from tensormark.grading import Grading
from tensormark.intake.given_files import GivenFiles
from tensormark.intake.process import READER
from tensormark.intake.submission import Submission
from tensormark.policy import Policy
from tensormark.program import program_of, solution_of
from tensormark.reports.terminal import Report
from tensormark.result import CheckFailed
from tensormark.sandbox.bubblewrap import INSIDE
from tensormark.sandbox.interface import Limits
from tensormark.sandbox.sandbox import Sandbox
from tensormark.sandbox.tiers import PROCESS
from tensormark.settings import Settings
from tensormark.task import TaskRun
from testkit.asking import alive, descendants

# A call takes milliseconds, but a machine may be unresponsive for ten seconds. If points are lost
# anyway, there is no need to wait that long for submissions that hang.
PATIENT = Limits(load_seconds=20.0, call_seconds=20.0, exercise_seconds=30.0, memory_bytes=3 << 29)
# This much memory is enough for right code; code that uses it up does so in each call.
HOPELESS = dataclasses.replace(
    PATIENT, call_seconds=2.0, exercise_seconds=4.0, memory_bytes=3 << 27
)
ALL_HOPELESS = dataclasses.replace(HOPELESS, load_seconds=5.0)
TRAINING = Limits(load_seconds=20.0, memory_bytes=3 << 29)
# waits are numbers of counts, not seconds: an unresponsive machine does not count
INTERVAL = 0.02  # seconds between counts of processes
SETTLED = 50  # equal counts in a row, after which the grader is at rest
REST = 500  # counts within which it is at rest again: the next child is forked by then
PR_SET_CHILD_SUBREAPER = 36
# sentences
TRAIN = 320
PREDICT = 200
MARK = "hostile_mark"  # in the name of every file that a submission tries to leave behind
PLACES = ("/tmp", "/var/tmp", "/dev/shm", "/run", "/", ".", str(Path.home()), tempfile.gettempdir())
KEPT = "engine/src grader reference_outputs solution starter checkpoint data instructor".split()


def adopt_orphans():
    """Become the parent of every descendant whose own parent ends."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def living():
    """Return the descendants of this process that have not ended."""
    return {process for process in descendants(os.getpid()) if alive(process)}


def marks():
    """Return files that submissions left behind, and System V segments."""
    left = []
    for folder in PLACES:
        with contextlib.suppress(OSError):
            left += [f"{folder}/{name}" for name in os.listdir(folder) if MARK in name]
    for kind in ("shm", "sem", "msg"):
        table = Path("/proc/sysvipc", kind)
        if table.exists():
            left += [line for line in table.read_text().splitlines() if str(0x6D42) in line.split()]
    return left


def fingerprint():
    """Return values that change when one of the grader's files does."""
    values = []
    for folder in KEPT:
        for path in sorted((ROOT / folder).rglob("*")):
            if "__pycache__" not in path.parts:
                about = path.stat()
                # a folder's own time also changes when Python writes its bytecode cache
                content = (0, 0) if path.is_dir() else (about.st_size, about.st_mtime_ns)
                values.append((str(path), *content, about.st_mode))
    return values


def locks():
    """Return the locks that descendants hold."""
    processes = {str(process) for process in living()}
    lines = Path("/proc/locks").read_text().splitlines()
    return [line for line in lines if processes & set(line.split()[4:5])]


def complete(file, source, others):
    """Return a hostile file: the solution's, followed by the hostile code.

    Args:
        others: the folder of other students' submissions.
    """
    names = {
        "ROOT": str(ROOT),
        "CHECKPOINT": str(ASSIGNMENT.checkpoint),
        "INSIDE": str(INSIDE),
        "OTHERS": str(others),
        "PREDICT": str(PREDICT),
    }
    right = (ROOT / "solution" / file).read_text("utf-8")
    return right + re.sub(r"\{([A-Z]+)\}", lambda m: names[m[1]], source)


def without_rules(assignment):
    """Return an assignment that forbids nothing."""
    exercises = tuple(dataclasses.replace(e, forbidden=()) for e in assignment.exercises)
    return dataclasses.replace(assignment, policy=Policy(), exercises=exercises)


class Driver:
    """Grades on request."""

    def __init__(self, tier, folder):
        """Prepare to grade what is put into `folder`."""
        assignment = without_rules(ASSIGNMENT) if tier == PROCESS else ASSIGNMENT
        self.grading = Grading(Settings.of(ROOT, tier=tier), assignment)
        opened = self.grading.open
        self.grading.open = lambda *about: self.limited(opened(*about))
        self.limits = {}  # of exercises that are expected to be lost
        self.sandbox = None  # the last one
        self.folder = folder
        self.others = self.folder / "others"
        other = self.others / "other_student"
        other.mkdir(parents=True)
        (other / "bert.py").write_text("# what another student has handed in\n")
        self.handed_in = self.folder / "handed_in"
        READER.start()  # it keeps running, so it must count from the beginning
        self.at_rest = None  # number of descendants, from the first grading on

    def processes(self):
        """Count the descendants: at first once that stays the same, then once it is as at first."""
        count = 0
        repeats = 0
        for _ in range(REST):
            before = count
            count = len(living())
            repeats = repeats + 1 if count == before else 0
            if count == self.at_rest or (self.at_rest is None and repeats == SETTLED):
                break
            time.sleep(INTERVAL)
        if self.at_rest is None:
            self.at_rest = count
        return count

    def limited(self, sandbox):
        """Have a sandbox give each exercise its own limits."""
        self.sandbox = sandbox
        program = sandbox.program
        run = sandbox.run

        def run_within_limits(requests, progress):
            for request in requests:  # all are of one exercise
                limits = self.limits.get(request.exercise, PATIENT)
                sandbox.program = dataclasses.replace(program, limits=limits)
            return run(requests, progress)

        sandbox.run = run_within_limits
        return sandbox

    def grade(self, source, file="bert.py", loses=(), only=None):
        """Grade the exercises of bert.py and of the hostile file.

        Args:
            loses: exercises that are expected to be lost.
            only: grade only this exercise; None: all.
        """
        shutil.rmtree(self.handed_in, ignore_errors=True)
        self.handed_in.mkdir()
        files = {
            "bert.py": complete("bert.py", "", self.others),
            file: complete(file, source, self.others),
        }
        for name, text in files.items():
            (self.handed_in / name).write_text(text, "utf-8")
        exercises = {e.id for e in ASSIGNMENT.exercises if e.probes and e.file in files}
        self.limits = dict.fromkeys(loses, HOPELESS if exercises - set(loses) else ALL_HOPELESS)
        report = io.StringIO()
        with contextlib.redirect_stdout(report):
            submission = self.grading.read(str(self.handed_in))
            grade = self.grading.grade(submission, True, only, observer=Report())
        results = {result["id"]: result for result in grade.as_json()["exercises"]}
        graded = {name: r for name, r in results.items() if ASSIGNMENT.exercise(name).file in files}
        printed = self.sandbox.printed.text()  # the report shows only its beginning
        return {"exercises": graded, "report": report.getvalue(), "printed": printed}

    def train(self, source, deadline):
        """Fine-tune on a few sentences, with the requests that the gate makes."""
        gate = self.small_gate()
        given = GivenFiles(ASSIGNMENT, {})
        hostile = Submission("hostile", {"bert": complete("bert.py", source, self.others)}, {})
        task = [ASSIGNMENT.exercise("sentiment")]
        settings = dataclasses.replace(self.grading.settings, limits=TRAINING)
        program = program_of(ASSIGNMENT, task, given.under(hostile).sources, settings)
        solution = solution_of(program, ASSIGNMENT)
        with Sandbox(settings.tier, program) as sandbox:

            def ask(request):
                return next(iter(sandbox.run([dataclasses.replace(request, deadline=deadline)])))

            ask_solution = sandbox.tier.isolates and functools.partial(sandbox.run_apart, solution)
            run = TaskRun(
                self.grading.references, settings.data, settings.checkpoint, ask, ask_solution
            )
            answer = {"predictions": None, "flags": run.flags}
            try:
                predictions, _ = gate.predictions(run)
                answer["predictions"] = predictions.tolist()
                answer["accuracy"] = float((predictions == gate.dev.labels).mean())
            except CheckFailed as error:
                answer["text"] = str(error)
        return {**answer, "printed": sandbox.printed.text()}

    def small_gate(self):
        """Return the gate of the public references, with fewer sentences."""
        gate = GateTraining(self.grading.references, self.grading.settings.data)
        gate.train = Sentences(gate.train.labels[:TRAIN], gate.train.texts[:TRAIN])
        gate.dev = Sentences(gate.dev.labels[:PREDICT], gate.dev.texts[:PREDICT])
        return gate

    def answer(self, deadline=0, **request):
        """Grade exercises or, with a deadline, a fine-tune; add the time and what is left behind.

        Args:
            request: the arguments of grade or train.
        """
        files = set(fingerprint())
        started = time.monotonic()
        result = self.train(deadline=deadline, **request) if deadline else self.grade(**request)
        result["seconds"] = time.monotonic() - started
        changed = files ^ set(fingerprint())
        result["left"] = {
            "processes": self.processes(),
            "descriptors": len(os.listdir("/proc/self/fd")),
            "marks": marks(),
            "locks": locks(),
            "changed files": sorted({path for path, *_ in changed}),
        }
        return result


def main():
    """Serve the tests."""
    adopt_orphans()
    with tempfile.TemporaryDirectory(prefix="minbert-hostile-") as folder:
        driver = Driver(sys.argv[1], Path(folder))
        for line in sys.stdin:
            print(json.dumps(driver.answer(**json.loads(line))), flush=True)


if __name__ == "__main__":
    main()

"""How fast `make class` is: `python -m benchmarks.class_of` (`make bench-class`).

    --sizes 10 100   submissions a class; --slots 1 2   workers
    --training       with the fine-tune
    --out runs/class   class.json and class.png

Compares a class, in the strictest tier, with (a) fresh processes, one `make check` after another in
the same tier; (b) no isolation: the same session and checks in one process of the tier `process`
that is kept, as a test suite would import one submission after another, without those that would
harm or hang it; (c) the ideal: the time that workers have spent on submissions, divided by the
slots. Only ratios of one run mean anything. It ends with an estimate, on paper, for 100,000
submissions on 100 machines.
"""

import argparse
import dataclasses
import datetime
import json
import random
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import matplotlib

from benchmarks.classes import echo, write_class
from benchmarks.processes import TENSORMARK, megabytes, processor
from grader.assignment import ASSIGNMENT
from instructor import ROOT
from tensormark.classroom import cluster
from tensormark.classroom.engine import Engine, Stop
from tensormark.classroom.options import STORE
from tensormark.classroom.parcel import packed
from tensormark.classroom.progress import Progress
from tensormark.classroom.store import Store, verdict
from tensormark.classroom.version import code, versions
from tensormark.classroom.work import Terms, Work
from tensormark.files import write_whole
from tensormark.grading import Grading
from tensormark.sandbox.interface import CONTAINED, LOCKED, PROCESS, Program, Sandbox
from tensormark.sandbox.process import ProcessSandbox
from tensormark.settings import Settings
from tensormark.strictest import strictest

BAD = ("hostile", "hanging")
SAMPLE = 8  # submissions that are graded in fresh processes
TICK = 0.2  # seconds between looks at a run
SUBMISSIONS, MACHINES, CORES = 100_000, 100, 16
DISPATCHED = 300  # submissions for the costs around the grading


@dataclasses.dataclass
class Measured:
    """One class.

    Attributes:
        seconds: of the whole command; grading: from the first answer to the last.
        worker: seconds that workers spent on submissions, together.
        client: processor seconds of the client and scheduler.
        memory: MB of all processes at the end of each tenth of the time.
    """

    count: int
    slots: int
    seconds: float
    grading: float
    worker: float
    client: float
    memory: list[float]

    @property
    def a_minute(self) -> float:
        """Submissions a minute, while it was grading."""
        return 60 * self.count / self.grading

    @property
    def ideal(self) -> float:
        """How near it comes to workers that are never idle."""
        return self.worker / self.slots / self.grading


def finished(out: Path) -> list[tuple[float, float]]:
    """Return when each submission was done, and the seconds that its worker took."""
    with closing(sqlite3.connect(out / STORE)) as file:
        rows = file.execute("SELECT finished, seconds FROM attempt ORDER BY id").fetchall()
    return [(datetime.datetime.fromisoformat(when).timestamp(), taken) for when, taken in rows]


def graded(folder: Path, out: Path, slots: int, options: Sequence[str]) -> Measured:
    """Grade a class, and look at it meanwhile.

    Raises:
        CalledProcessError: it failed.
    """
    line = [*TENSORMARK, "class", "--out", str(out), "--workers", str(slots)]
    began, looks, client = time.monotonic(), [0.0], 0.0
    with subprocess.Popen([*line, *options, str(folder)], cwd=ROOT, stdout=sys.stderr) as process:
        while process.poll() is None:
            try:
                client = processor(process.pid)
                looks.append(megabytes(process.pid))
            except OSError:  # something has ended meanwhile
                pass
            time.sleep(TICK)
    seconds = time.monotonic() - began
    if process.returncode not in (0, 3):
        raise subprocess.CalledProcessError(process.returncode, line)
    rows = finished(out)
    worker = sum(taken for _, taken in rows)
    first = rows[0][0] - rows[0][1]
    tenths = [max(looks[n * len(looks) // 10 : (n + 1) * len(looks) // 10 + 1]) for n in range(10)]
    grading = rows[-1][0] - first
    return Measured(len(rows), slots, seconds, grading, worker, client, tenths)


def in_class(out: Path) -> dict[str, tuple[Any, float]]:
    """Return what each submission of a class scored, and its seconds, by its file name."""
    query = "SELECT path, result, seconds FROM attempt JOIN submission USING (digest)"
    with closing(sqlite3.connect(out / STORE)) as file:
        rows = file.execute(f"{query} WHERE complete").fetchall()
    return {Path(path).name: (verdict(json.loads(text)), taken) for path, text, taken in rows}


def fresh(paths: Sequence[Path], tier: str, check: bool, known: Mapping[str, Any]) -> list[float]:
    """Grade each in a process of its own, one after another; return the seconds.

    Raises:
        ValueError: a score is another than in the class.
    """
    taken = []
    with tempfile.TemporaryDirectory() as place:
        answer = Path(place) / "result.json"
        for path in paths:
            began = time.monotonic()
            command = [*TENSORMARK, "check" if check else "grade", str(path)]
            command += ["--tier", tier, "--json", str(answer)]
            subprocess.run(command, cwd=ROOT, stdout=subprocess.DEVNULL, check=True)
            taken.append(time.monotonic() - began)
            alone = verdict(json.loads(answer.read_text(encoding="utf-8")))
            if alone != known[path.name][0]:
                raise ValueError(f"{path.name}: {known[path.name][0]} in class, {alone} alone")
    return taken


def without_isolation(paths: Sequence[Path], check: bool) -> list[float]:
    """Grade one after another in a process that is kept; return the seconds."""
    kept: list[ProcessSandbox] = []

    @contextmanager
    def opener(tier: str, program: Program) -> Iterator[Sandbox]:
        if not kept:
            kept.append(ProcessSandbox(program))
        kept[0].program = program
        kept[0].reload(program.sources)
        yield kept[0]

    grading, taken = Grading(Settings.of(ROOT, tier=PROCESS), ASSIGNMENT, opener=opener), []  # type: ignore[arg-type]
    try:
        for path in [paths[0], *paths]:
            began = time.monotonic()
            grading.grade(str(path), check)
            taken.append(time.monotonic() - began)
    finally:
        for sandbox in kept:
            sandbox.__exit__(None, None, None)
    return taken[1:]  # the first one has imported torch


def dispatch(tier: str, check: bool) -> float:
    """Return the processor seconds of client and scheduler for a submission, all slots busy."""
    settings = Settings.of(ROOT, tier=tier)
    parcel, progress = packed(settings, () if check else ASSIGNMENT.data_files), Progress(0)
    terms = Terms(code(ROOT), versions(ROOT), "", "", tier, "check", 1.0, 1.0)
    text = (ROOT / "solution" / "bert.py").read_text(encoding="utf-8")
    works = [Work({"bert": f"{text}\n# {number}\n"}) for number in range(DISPATCHED)]
    with (
        tempfile.TemporaryDirectory() as place,
        Store(Path(place) / STORE) as store,
        cluster.opened("", 2, ROOT) as client,
    ):
        crew = cluster.Crew(client, terms, parcel, True, print, echo)
        began = time.process_time()
        Engine(crew, store, terms, progress, Stop(), lambda _: {}).run(works)
        return (time.process_time() - began) / len(works)


def estimate(each: float, client: float, parcel: int) -> list[str]:
    """Return an estimate for many machines.

    Args:
        each: seconds that a worker takes for a submission; client: that the client does.
        parcel: bytes of references, checkpoint and data.
    """
    slots = MACHINES * CORES
    grading, serial = SUBMISSIONS * each / slots, SUBMISSIONS * client
    first = "the client and scheduler, one process," if serial > grading else "the workers"
    return [
        f"on paper, {SUBMISSIONS:,} submissions on {MACHINES} machines with {CORES} cores each:",
        f"  workers: {each:.2f} s a submission, {grading / 60:.1f} min on {slots:,} slots",
        f"  client and scheduler: {1000 * client:.1f} ms a submission, {serial / 60:.1f} min",
        f"  references: {parcel / 1e6:.1f} MB to each worker, from worker to worker",
        f"  {first} would be saturated first; one client can keep {each / client:.0f} slots busy",
    ]


def draw(report: Mapping[str, Any], path: Path) -> None:
    """Draw submissions a minute over the size of the class."""
    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(6.4, 4.0), layout="constrained")
    for slots in sorted({one["slots"] for one in report["classes"]}):
        rows = [one for one in report["classes"] if one["slots"] == slots]
        sizes = [one["count"] for one in rows]
        axes.plot(
            sizes, [one["a_minute"] for one in rows], "o-", label=f"make class, {slots} slots"
        )
        ideal = [one["a_minute"] / one["ideal"] for one in rows]
        axes.plot(sizes, ideal, ":", color=axes.lines[-1].get_color(), label="the ideal for it")
    for name, style in (("fresh processes", "--"), ("no isolation", "-.")):
        axes.axhline(report["a_minute"][name], color="gray", linestyle=style, label=name)
    axes.set(xscale="log", xlabel="submissions", ylabel="submissions a minute", ylim=(0, None))
    axes.set_xticks(shown := sorted({one["count"] for one in report["classes"]}), map(str, shown))
    axes.minorticks_off()
    axes.legend(fontsize="small", framealpha=1.0)
    figure.savefig(path, dpi=150)


def parsed() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="class_of", description=__doc__.split("\n")[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=[10, 100])
    parser.add_argument("--slots", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--training", action="store_true", help="with the fine-tune")
    parser.add_argument("--seed", type=int, default=random.randrange(10**6))
    parser.add_argument("--out", type=Path, default=ROOT / "runs" / "class")
    return parser.parse_args()


def main() -> int:
    """Measure, print, and write a report and a picture."""
    options = parsed()
    tier = strictest(ASSIGNMENT, Settings.of(ROOT), (CONTAINED, LOCKED)).tier
    if tier is None:
        print("class_of: this machine cannot isolate submissions", file=sys.stderr)
        return 2
    print(f"seed {options.seed}, tier {tier}", flush=True)
    shown = ["--tier", tier, *([] if options.training else ["--check"])]
    made = []
    with tempfile.TemporaryDirectory() as place:
        for count in options.sizes:
            folder = Path(place) / f"{count}"
            kinds = write_class(folder, count, options.seed)
            for slots in options.slots:
                out = Path(place) / f"{count}-{slots}"
                one = graded(folder, out, slots, shown)
                made.append(one)
                print(
                    f"{count:5} submissions, {slots} slots: {one.a_minute:6.1f} a minute, "
                    f"{100 * one.ideal:.0f} % of the ideal; {one.seconds:.0f} s in all; "
                    f"memory {one.memory[3]:.0f} to {max(one.memory):.0f} MB",
                    flush=True,
                )
        quiet = [folder / name for name, kind in kinds.items() if kind not in BAD][:SAMPLE]
        known = in_class(out)
        apart = fresh(quiet, tier, not options.training, known)
        plain = without_isolation(quiet, not options.training)
    same = [known[path.name][1] for path in quiet]
    ours = made[-1].slots * made[-1].ideal * 60 * len(same) / sum(same)
    rates = {"fresh processes": 60 * len(apart) / sum(apart)}
    rates["no isolation"] = 60 * len(plain) / sum(plain)
    print(f"{len(quiet)} of the last class: {ours:.1f} a minute; the same, one by one, with")
    for name, rate in rates.items():
        print(f"  {name}: {rate:.1f} a minute; the class is {ours / rate:.1f} times as fast")
    check = not options.training
    parcel = len(packed(Settings.of(ROOT), () if check else ASSIGNMENT.data_files).content)
    lines = estimate(made[-1].worker / made[-1].count, dispatch(tier, check), parcel)
    print("\n".join(lines))
    classes = [dataclasses.asdict(m) | {"a_minute": m.a_minute, "ideal": m.ideal} for m in made]
    report = {"seed": options.seed, "tier": tier, "classes": classes, "a_minute": rates}
    write_whole(options.out / "class.json", json.dumps(report | {"estimate": lines}, indent=2))
    draw(report, options.out / "class.png")
    print(f"written: {options.out}/class.json, class.png")
    return 0


if __name__ == "__main__":
    sys.exit(main())

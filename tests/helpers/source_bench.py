"""Grade many sources in one worker, as `tensormark prove` does: only this project's own code."""

import functools

from grader.assignment import ASSIGNMENT
from tensormark.authoring import prove
from tensormark.settings import Settings
from tests.helpers import ROOT
from tests.helpers.known import COURSE

PROBED = [exercise for exercise in ASSIGNMENT.exercises if exercise.probes]


class SourceBench(prove.Bench):
    def __init__(self, threads=1):
        super().__init__(COURSE, Settings.of(ROOT, threads=threads), PROBED)
        self.source = self.sources["bert"]
        self.grade = functools.cache(self.ask)

    def ask(self, source, *only, module="bert"):
        """Return results for the module's exercises, or only some; `grade` caches them."""
        own = [exercise for exercise in PROBED if exercise.module == module]
        self.exercises = [exercise for exercise in own if not only or exercise.id in only]
        return dict(self.results({module: source}, tasks=False))


def lost(results):
    return {name for name, result in results.items() if result.score != result.max_score}

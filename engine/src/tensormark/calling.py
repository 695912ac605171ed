"""Make the calls of exercises with recorded inputs, and hide private parts of the answers."""

import ast
import dataclasses
import re
from collections.abc import Collection, Iterable, Sequence

from tensormark.exercise import Assignment, Call, Exercise, Probe
from tensormark.intake.leftovers import hints
from tensormark.intake.submission import Submission
from tensormark.judging.advice import with_advice
from tensormark.judging.fingerprints import AnsweredCall
from tensormark.judging.student_text import without_text
from tensormark.literals import sent
from tensormark.policy import usual_names
from tensormark.references import Recording, References
from tensormark.sandbox.interface import Reply, Request, Sandbox, Shared
from tensormark.settings import Settings
from tensormark.trouble import trouble_in

RecordedCall = tuple[Probe, Call, Recording]
LINE = re.compile(r"\bline \d+")
OWN = (0,)  # the places of calls without stand-ins among their probe's calls


def tensor_names_of(call: Call, recording: Recording) -> frozenset[str]:
    """Return the names of the tensors that an answer to a call may have."""
    names = {f"out/{name}" for name in (*call.returns, *recording.outputs)}
    names |= {f"after/{name}" for name in (*call.args, *recording.inputs)}
    return frozenset(names | {f"grad/{name}" for name in recording.gradients})


@dataclasses.dataclass(frozen=True)
class Calling:
    """Makes calls of one submission's functions in a sandbox."""

    assignment: Assignment
    submission: Submission
    sandbox: Sandbox
    references: References
    settings: Settings

    def recorded_calls(self, exercise: Exercise, places: Collection[int]) -> list[RecordedCall]:
        """Return calls of an exercise with their recordings."""
        self.references.check_checkpoint(self.settings.checkpoint)
        recordings = iter(self.references.recordings(exercise.id, exercise.digest))
        return [
            (probe, call, recording)
            for probe in exercise.probes
            for place, (call, recording) in enumerate(zip(probe.calls, recordings, strict=False))
            if place in places
        ]

    def requests(self, exercise: Exercise, calls: Sequence[RecordedCall]) -> list[Request]:
        """Return the requests that run calls with the recorded inputs."""
        requests = []
        for _, call, recording in calls:
            runs = frozenset({exercise.id, *exercise.upstream} - set(call.given))
            forbidden = {"forbidden": usual_names(exercise.forbidden)}
            message, tensors = sent(call.message(), recording.inputs)
            lost = self.sandbox.budget.lost.keys()  # exercises that hang or end the process
            message["observe"] = lost.isdisjoint(exercise.upstream)
            names = tensor_names_of(call, recording)
            request = Request(exercise.id, runs, message | forbidden, tensors, tensor_names=names)
            requests.append(request)
        return requests

    def answered(
        self, calls: Sequence[RecordedCall], replies: Iterable[Reply]
    ) -> list[AnsweredCall]:
        """Return calls with their replies, as far as students may see them."""
        pairs = zip(calls, map(self.student_reply, replies), strict=True)
        return [AnsweredCall(*call, reply) for call, reply in pairs]

    def ask(self, exercise: Exercise, places: Collection[int]) -> list[AnsweredCall]:
        """Run calls of an exercise with the recorded inputs.

        Args:
            places: of the calls among their probe's; the first one uses only the student's own
                functions, the others have stand-ins.
        """
        calls = self.recorded_calls(exercise, places)
        return self.answered(calls, self.sandbox.run(self.requests(exercise, calls)))

    def ask_together(self, group: Sequence[Exercise]) -> dict[str, Shared]:
        """Run the first calls of several exercises in one process, which the sandbox must offer."""
        assert self.sandbox.together is not None
        calls = ((exercise, self.recorded_calls(exercise, OWN)) for exercise in group)
        return self.sandbox.together([each for pair in calls for each in self.requests(*pair)])

    def hint(self, exercise: Exercise) -> str:
        """Return why an exercise counts as not written although something was written, or ""."""
        target = exercise.calls[0].target
        hint = self.submission.hints.get(f"{exercise.module}.{target}", "")
        given = self.assignment.starter / exercise.file
        if hint and given.is_file():
            given_hint = hints(ast.parse(given.read_text("utf-8"))).get(target, "")
            if LINE.sub("", given_hint) == LINE.sub("", hint):  # it is about the starter's code
                return ""
        return hint

    @property
    def shows_values(self) -> bool:
        """Whether the submission's texts and the expected values may be shown."""
        return not self.references.private or self.settings.show_text

    def student_reply(self, reply: Reply) -> Reply:
        """Return a reply as far as students may see it, with advice.

        Whatever a reply holds only affects its own exercise; only an unreadable file or a lack of
        memory is the grader's problem.
        """
        try:
            return self._student_reply(reply)
        except (OSError, MemoryError):
            raise
        except Exception as error:
            text = "gave an answer that could not be read"
            return Reply("lost", text, trouble=trouble_in(error))

    def _student_reply(self, reply: Reply) -> Reply:
        """Return a reply with advice, and without texts that may not be shown."""
        if not self.shows_values:
            reply = without_text(reply, self.assignment.targets, self.submission.sources)
        return with_advice(reply, self.submission.others, self.assignment)

"""What is said of a wrong answer: the mistake if it was recognized, and where the answer is wrong.

If code that only describes an answer raises an exception, that description is left out.
"""

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from tensormark.exercise import SECOND_CALL, Probe
from tensormark.handout import POINTER
from tensormark.judging.compare import Mismatch
from tensormark.judging.diagnose import PAIR
from tensormark.judging.evidence import Evidence
from tensormark.judging.excerpt import excerpt
from tensormark.judging.fingerprints import AnsweredCall
from tensormark.judging.general import KEPT, Mistake, general_mistake
from tensormark.judging.place import locate
from tensormark.result import FORBIDDEN, Finding

NEARLY_RIGHT = "the output is nearly right: off by less than 1% of its largest value"
INCOMPARABLE = ("names", "unreadable")  # kinds of mismatches
OF_OUTPUT = ("raised", "shape", "values", "finite")  # those of an output that is not random


def _one_sentence(sentences: Sequence[str]) -> str:
    """Join sentences into one; semicolons separate three or more, as each may contain commas."""
    if len(sentences) < 3:
        return ", and ".join(sentences)
    return "; ".join([*sentences[:-1], f"and {sentences[-1]}"])


def _known(evidence: Evidence, answered: AnsweredCall, mismatch: Mismatch) -> Mistake | None:
    """Return the known mistakes that explain why an answer is wrong, or None."""
    diagnosis = evidence.diagnosis
    mistakes = diagnosis.mistakes
    if diagnosis.partly and mismatch.kind == "raised":
        return None
    if not mistakes and diagnosis.training and answered.probe.part == "training":
        mistakes = (diagnosis.training,)
    if not mistakes:
        return None
    variants = evidence.entry["variants"]
    several = [[variants[name] for name in mistake.split(PAIR)] for mistake in mistakes]
    says = [_one_sentence([variant["says"] for variant in together]) for together in several]
    sections = dict.fromkeys(f'"{each["section"]}"' for each in itertools.chain(*several))
    either = "either " if len(says) > 1 else ""
    return Mistake("|".join(mistakes), either + " or ".join(says), sections=tuple(sections))


def _place(evidence: Evidence, answered: AnsweredCall, mismatch: Mismatch) -> str | None:
    """Return a line that says where an output is wrong, or None if that is unclear."""
    if mismatch.kind not in ("values", "shape") or answered.probe.part == "properties":
        return None
    if answered.call.is_plain or answered.call.raises:
        return None
    got = answered.reply.tensors[f"out/{mismatch.name}"]
    expected = answered.recording.outputs[mismatch.name]
    locate = evidence.exercise.locate or evidence.assignment.locate
    exact = np.zeros(expected.shape)
    allowed = mismatch.pair.tolerance.allowed(expected) if mismatch.pair else exact
    with np.errstate(all="ignore"):
        return locate(got, expected, allowed, answered.recording.inputs)


def _excerpt(
    evidence: Evidence, answered: AnsweredCall, mismatch: Mismatch
) -> dict[str, Any] | None:
    """Return where an array's values are wrong, or None if they are not or are private."""
    if mismatch.pair is None or not evidence.public:
        return None
    padding = evidence.assignment.padding(answered.recording.inputs)
    return excerpt(mismatch.pair, evidence.axes, padding)


def _in_training(evidence: Evidence, answered: AnsweredCall) -> Iterator[AnsweredCall]:
    """Yield the exercise's other calls in training."""
    for other in evidence.answered:
        same = other.call.train and other.call.given == answered.call.given
        if same and other.probe.examine is None and other.recording.known is not None:
            yield other


def _line(evidence: Evidence, answered: AnsweredCall, mismatch: Mismatch) -> dict[str, Any] | None:
    """Return the line where a failure begins, or None if that cannot be told."""
    if mismatch.kind == "raised" and answered.reply.status == "ok":  # an object lacks a part
        return None
    others = _in_training(evidence, answered) if mismatch.kind == "draw" else ()
    found = (_line_in(evidence, each, mismatch) for each in (*others, answered))
    # inputs that show what is dropped make values equal, further ones may lack what draws
    line = min((each for each in found if each), key=lambda each: each["line"], default=None)
    return line if line is None or evidence.public else line | {"shapes": []}


def _line_in(
    evidence: Evidence, answered: AnsweredCall, mismatch: Mismatch
) -> dict[str, Any] | None:
    """Return the line of a call where a failure begins, perhaps that of another call."""
    reply = answered.reply
    known = answered.recording.known
    if evidence.taped is not None and known is not None and reply.status in ("ok", "error"):
        taped = evidence.taped(answered, mismatch)
        if mismatch.kind == "draw" and answered.call.gets_objects:
            again = evidence.taped(answered, mismatch)
            if not all(map(np.array_equal, taped.tensors.values(), again.tensors.values())):
                return None  # what it draws from is not what it was given
        reply = reply if taped.status == "lost" else taped
    return locate(evidence, answered, mismatch, reply)


def _of_whole_file(evidence: Evidence, mismatch: Mismatch, line: dict[str, Any] | None) -> Finding:
    """Describe a file that cannot be imported."""
    advice: list[str] = []
    if not mismatch.advised:
        for about in (mismatch.lines, [mismatch.headline]):
            advice += evidence.assignment.handout.explanation(evidence.exercise.id, about)
    return Finding(mismatch.headline, (*mismatch.lines, *advice), place=line)


def _reading(
    evidence: Evidence, probe: Probe, mismatch: Mismatch, named: Mistake, details: Sequence[str]
) -> list[str]:
    """Return the handout's explanation of a message, if there is one, and where to read on."""
    handout = evidence.assignment.handout
    exercise = evidence.exercise.id
    place = () if named.id else named.more
    about = [*place, named.says, *details]
    # advice on wrong values does not help if there are none to compare
    if mismatch.kind in INCOMPARABLE and named.says == probe.says and probe.part == "values":
        about = list(details)
    sections = f", {' and '.join(named.sections)}" if named.sections else ""
    return [*handout.explanation(exercise, about), f"{POINTER}{handout.place(exercise)}{sections}"]


def _unusual(evidence: Evidence, answered: AnsweredCall, mismatch: Mismatch) -> list[str]:
    """Say in what a call differs from the exercise's first one, in a line or none."""
    call = answered.call
    first = evidence.exercise.calls[0]
    says = ["is in float64"] if call.dtype == "float64" != first.dtype else []
    sizes = ""
    letters = call.sizes.letters
    if letters != first.sizes.letters:
        says.insert(0, "has other sizes")
        sizes = f" ({', '.join(f'{name}={size}' for name, size in letters.items())})"
    if not says or mismatch.kind not in OF_OUTPUT:
        return []
    advice = ": look for a hard-coded number, and for `squeeze()`"
    look = advice if sizes and mismatch.kind == "raised" else ""
    return [f"this call {' and '.join(says)}{sizes}{look}"]


def finding(
    evidence: Evidence,
    answered: AnsweredCall,
    mismatch: Mismatch,
    together: str = "",
    kept: bool = False,
) -> Finding:
    """Describe what is wrong with the answer that tells most.

    Args:
        together: a line for the case that each of some exercises is right alone; may be empty.
        kept: whether the call is right without those before it.
    """
    if mismatch.kind == "forbidden":
        section = evidence.assignment.policy.section
        read = (f'{POINTER}handout.md, "{section}"',) if section else ()
        return Finding(mismatch.lines[0], read, FORBIDDEN)
    attempt = evidence.attempt
    line = attempt(_line, answered, mismatch)
    if mismatch.kind == "raised" and mismatch.headline:
        return _of_whole_file(evidence, mismatch, line)
    probe = answered.probe
    # what carries over into a second call may have a name, elsewhere one would be by chance
    named = None if kept and probe.name != SECOND_CALL else attempt(_known, answered, mismatch)
    named = named or (KEPT if kept else attempt(general_mistake, answered, mismatch))
    if named is None:
        place = attempt(_place, answered, mismatch)
        lines = tuple(filter(None, [place, together]))
        nearly = probe.part == "values" and mismatch.pair is not None and mismatch.pair.nearly
        named = Mistake(None, NEARLY_RIGHT if nearly else mismatch.headline or probe.says, lines)
    details = [line for line in mismatch.lines if line != named.says]
    if mismatch.numbers and evidence.public:
        details.append(mismatch.numbers)
    details += named.more
    details += attempt(_unusual, answered, mismatch) or []
    if mismatch.numbers and probe.part == "training" and named.says != probe.says:
        details.insert(0, probe.says)  # numbers need the rate
    details += _reading(evidence, probe, mismatch, named, details)
    shown = attempt(_excerpt, answered, mismatch)
    number = evidence.exercise.calls.index(answered.call)
    return Finding(named.says, tuple(details), named.id, shown, line, number)

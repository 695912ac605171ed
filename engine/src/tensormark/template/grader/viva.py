"""Calls of the two functions and facts about them, for questions on students' own code.

Nothing here defines what is right: a changed function is compared with the student's own.
"""

from grader.exercises import conv, detector
from tensormark.toolkit import Sizes
from tensormark.viva.subject import Fact, Subject, at, depends

# three calls; the sizes in a line differ, and no letter has the same size twice
SIZES = (
    Sizes(B=2, D=3, T=10, P=4, K=5, W=6, C=7),
    Sizes(B=5, D=2, T=9, P=6, K=3, W=7, C=4),
    Sizes(B=3, D=4, T=12, P=5, K=2, W=11, C=6),
)
OTHER_SIGNALS = depends(lambda inputs: slice(1, None))
OTHER_WINDOWS = depends(lambda inputs: (..., slice(-1)))
LAST = (..., -1)
MIXED = "Other signals of the batch change a signal's result."


CONV = Subject.of(
    conv.EXERCISE,
    SIZES,
    facts=(
        Fact(at((0,), "signals"), OTHER_SIGNALS, gained=MIXED),
        Fact(at(LAST, "signals"), OTHER_WINDOWS, gained="Windows change each other's results."),
        Fact(at(LAST, "signals"), depends(), lost="The last step of a signal no longer matters."),
        Fact(at((0,), "weights/bias"), depends(), lost="The bias no longer matters."),
    ),
)
DETECTOR = Subject.of(
    detector.EXERCISE,
    SIZES,
    facts=(
        Fact(at((0,), "signals"), OTHER_SIGNALS, gained=MIXED),
        Fact(at((-1,), "weights/conv.bias"), depends(), lost="A pattern's bias no longer matters."),
        Fact(at((0,), "weights/head.bias"), depends(), lost="The head's bias no longer matters."),
    ),
)
SUBJECTS = (CONV, DETECTOR)

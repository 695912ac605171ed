"""What a function is that draws random numbers in eval mode, where it should give one result.

A worker's word for it (worker/causes.py): it only gives a wrong output a name.
"""

from collections.abc import Iterable

from tensormark.judging.fingerprints import Answered
from tensormark.judging.raised import texts

# what the worker saw draw them, to the id of the mistake and its words; a mistake of any exercise
DRAWN_IN_EVAL = {
    "new weights": (
        "new_weights_in_call",
        "each call makes new weights: use the modules that __init__ has made",
    ),
    "dropout": ("dropout_in_eval", "dropout is active in eval mode too"),
}
DIFFERS = "the same call gives different results: it draws random numbers in eval mode"


def drawn_in_eval(answers: Iterable[Answered]) -> str | None:
    """Say what drew random numbers in eval mode, and not from a generator that was given.

    Returns: a key of DRAWN_IN_EVAL; "" for something else; None if nothing did.
    """
    drew = [
        answered.reply
        for answered in answers
        if answered.reply.message.get("drew")
        and not answered.call.train
        and not any(name.startswith("*") for name in answered.call.args)
    ]
    causes = {cause for reply in drew for cause in texts(reply, "causes")}
    return next((name for name in DRAWN_IN_EVAL if name in causes), "") if drew else None

"""The trial of one exercise: what its stand-ins decide, and what students are told of it."""

from dataclasses import replace

import pytest
import torch
from torch import nn
from torch.nn import functional

from tensormark.exercise import Sizes
from tensormark.judging.compare import Mismatch
from tensormark.judging.fingerprints import AnsweredCall
from tensormark.judging.replies import hole
from tensormark.judging.trial import most_telling
from tensormark.policy import Policy
from tensormark.references import Recording
from tensormark.result import Outcome
from tensormark.sandbox.interface import Reply
from tensormark.worker.calls import repeated
from testkit.trials import (
    CALL_GIVEN_BOTH,
    CALL_GIVEN_NORM,
    CORRECT,
    LAYER,
    OUTPUT,
    OWN_CALL,
    RAISED,
    VALUES,
    WRONG,
    finding,
    make_exercise,
    reply,
    trial,
)

# --- follow-through -----------------------------------------------------------------------------

NOT_WRITTEN = reply(None, "not written", "layer")
NORM_IS_NOT = reply(None, "not written", "norm")
EMBED_IS_NOT = reply(None, "not written", "embed")
BARE = reply(None, "not written", "", function="Layer.forward")
HELPED = "right when given a correct norm"


@pytest.mark.parametrize(
    ("replies", "failed", "outcome", "note"),
    [
        ([CORRECT], [], Outcome.PASSED, ""),
        ([WRONG], [], Outcome.FAILED, ""),
        ([WRONG, CORRECT], ["norm"], Outcome.PASSED, HELPED),
        ([CORRECT, WRONG], ["norm"], Outcome.PASSED, ""),
        ([WRONG, CORRECT], [], Outcome.FAILED, ""),
        ([WRONG, CORRECT], ["embed"], Outcome.FAILED, ""),
        ([WRONG, WRONG], ["norm"], Outcome.FAILED, ""),
        ([NORM_IS_NOT, CORRECT], ["norm"], Outcome.PASSED, HELPED),
        ([NOT_WRITTEN, CORRECT], [], Outcome.NOT_WRITTEN, ""),
        ([BARE], [], Outcome.NOT_WRITTEN, ""),
        ([NORM_IS_NOT], ["norm"], Outcome.BLOCKED, "by norm"),
        ([NORM_IS_NOT, EMBED_IS_NOT], [], Outcome.BLOCKED, "by embed, norm"),
        ([NORM_IS_NOT, CORRECT], [], Outcome.FAILED, ""),
        ([WRONG, NORM_IS_NOT], ["norm"], Outcome.FAILED, ""),
    ],
)
def test_stand_ins_decide_if_what_they_replace_has_failed(replies, failed, outcome, note):
    judged = trial(*replies, failed=failed)

    assert (judged.result().outcome, judged.result().note) == (outcome, note)
    assert judged.undecided is (outcome in (Outcome.FAILED, Outcome.BLOCKED))


OPTIONAL = replace(OWN_CALL, optional=("types",))


@pytest.mark.parametrize(
    ("call", "lacks", "outcome"),
    [
        (OPTIONAL, True, Outcome.PASSED),
        (OPTIONAL, False, Outcome.FAILED),
        (OWN_CALL, True, Outcome.FAILED),
    ],
)
def test_a_function_may_lack_only_what_is_optional(call, lacks, outcome):
    layer = make_exercise("layer", replace(VALUES, calls=(call,)))

    assert trial(reply(None, lacks=lacks), exercise=layer).result().outcome is outcome


LINEAR = ("torch.nn.Linear",)


@pytest.mark.parametrize(
    ("policy", "forbidden", "mistake"),
    [
        (Policy(forbidden=LINEAR), (), "forbidden"),
        (Policy(given_only=LINEAR), (), "forbidden"),
        (Policy(), LINEAR, "forbidden"),
        (Policy(), (), None),  # a worker cannot make it up
    ],
)
def test_forbidden_code_costs_all_points(policy, forbidden, mistake):
    answer = reply(None, "error", "raised ValueError", forbidden="nn.Linear")
    layer = replace(LAYER, forbidden=forbidden)

    result = trial(answer, exercise=layer, fields={"policy": policy}).result()

    assert (result.score, [problem.mistake for problem in result.findings]) == (0, [mistake])


# --- what is said -------------------------------------------------------------------------------

SHIFTED = reply(OUTPUT + 5)
DOUBLED = reply(2 * OUTPUT)


@pytest.mark.parametrize(
    ("replies", "failed", "mistake"),
    [
        ([SHIFTED, DOUBLED], [], "shifted"),
        ([WRONG, DOUBLED], [], None),
        ([SHIFTED, DOUBLED], ["norm"], "doubled"),
        ([SHIFTED, DOUBLED], ["embed"], "shifted"),
    ],
)
def test_a_mistake_explains_a_students_own_calls_unless_they_run_a_failed_exercise(
    replies, failed, mistake
):
    assert finding(trial(*replies, failed=failed)).mistake == mistake


@pytest.mark.parametrize("part", ["values", "properties"])
def test_wrong_values_without_a_name_have_a_place_unless_they_are_of_a_property(part):
    layer = make_exercise("layer", replace(VALUES, part=part))

    details = finding(trial(WRONG, exercise=layer, fields={"locate": lambda *_: "here"})).details

    assert ("here" in details) is (part == "values")


def test_a_message_names_all_that_had_to_be_replaced():
    calls = (OWN_CALL, CALL_GIVEN_NORM, CALL_GIVEN_BOTH)
    layer = make_exercise("layer", replace(VALUES, calls=calls))

    together = "layer, norm and embed pass alone, but not together"
    assert together in finding(trial(WRONG, WRONG, CORRECT, exercise=layer)).details
    assert together not in finding(trial(WRONG, exercise=layer)).details


def test_a_students_exception_is_followed_by_how_a_stand_in_was_miscalled():
    shapes = ["x: (2, 3)"]
    own = reply(None, "error", RAISED.text, shapes=shapes)
    miscalled = reply(None, "error", "norm() gets no weights (main.py, line 3)", shapes=shapes)

    problem = finding(trial(own, miscalled))

    assert problem.headline == RAISED.text
    assert problem.details[:-1] == ("on line 3, x: (2, 3)", miscalled.text)


@pytest.mark.parametrize("part", ["evidence.observe", "findings._place", "findings._excerpt"])
def test_a_description_that_breaks_is_left_out_and_noted(monkeypatch, part):
    def broken(*_):
        raise ZeroDivisionError

    monkeypatch.setattr(f"tensormark.judging.{part}", broken)
    layer_trial = trial(WRONG, public=True)

    assert finding(layer_trial).headline == "the output is wrong"
    assert layer_trial.troubles[0].startswith("ZeroDivisionError")


SMALL, LARGE = ({"sizes": Sizes(B=number)} for number in (2, 9))
RESIZED = (
    ("output", "values", SMALL),
    ("other sizes", "properties", LARGE),
    ("second call", "properties", SMALL),
    ("large in training", "training", LARGE),
    ("twice in training", "training", {**SMALL, "twice": True}),
)


@pytest.mark.parametrize(
    ("wrong", "lost"),
    [
        ({"other sizes", "large in training"}, {"properties"}),
        ({"large in training"}, {"training"}),
        ({"other sizes", "twice in training"}, {"properties", "training"}),
        ({"second call", "twice in training"}, {"properties"}),
        ({"second call", "large in training"}, {"properties", "training"}),
    ],
)
def test_sizes_and_state_cost_the_properties_whichever_probe_meets_them(wrong, lost):
    probes = [
        replace(VALUES, name=name, part=part, calls=(replace(OWN_CALL, **fields),))
        for name, part, fields in RESIZED
    ]
    replies = [WRONG if name in wrong else CORRECT for name, *_ in RESIZED]

    assert trial(*replies, exercise=make_exercise("layer", *probes)).result().lost == lost


DROPPING = nn.MultiheadAttention(4, 2, dropout=0.5)


@pytest.mark.parametrize(
    ("call", "mistake"),
    [
        (lambda x: functional.scaled_dot_product_attention(x, x, x, None, 0.5), "dropout_in_eval"),
        (lambda x: DROPPING(x, x, x)[0], "dropout_in_eval"),
        (lambda x: nn.Embedding(2, 4)(x.long()), "new_weights_in_call"),
        (lambda x: x.normal_(), None),
    ],
)
def test_random_numbers_in_eval_mode_are_explained_by_what_draws_them(call, mistake):
    def drawing():
        return {"output": call(torch.ones(20, 2, 4))}

    random = repeated(drawing, drawing())
    layer = make_exercise("layer", replace(VALUES, calls=(OWN_CALL,)))

    assert finding(trial(reply(OUTPUT + 1, **random), exercise=layer)).mistake == mistake


# --- which of several mismatches is shown, and what is read from a reply --------------------------

DIFFERS = Mismatch("values", "output", ("some values differ",))
OWN = AnsweredCall(VALUES, OWN_CALL, Recording({}, {}, {}, None), Reply("ok"))
IN_WORDS = "Layer.add_norm() gets a LayerNorm as dropout, not a Dropout"


def raised(text, status="error", **message):
    answered = replace(OWN, reply=Reply(status, text, message))
    return answered, Mismatch("raised", OWN_CALL.target, (text,))


UPSTREAM = ["Attention.attention"]
IN_UPSTREAM = raised("raised TypeError: no", through=UPSTREAM)
OTHER_VALUES = (replace(OWN), replace(DIFFERS, lines=("others differ",)))


@pytest.mark.parametrize(
    ("own", "other", "wrong", "shown"),
    [
        # where references are private, what a submission puts into words is left out of its replies
        ((OWN, DIFFERS), raised("raised TypeError: no (main.py, line 3)"), [], 0),
        ((OWN, DIFFERS), raised("took too long", "lost"), [], 0),
        ((OWN, DIFFERS), raised(IN_WORDS), [], 1),  # how a function is called wrongly
        ((OWN, DIFFERS), OTHER_VALUES, [], 0),
        ((OWN, DIFFERS), OTHER_VALUES, UPSTREAM, 1),
        # an exception in a wrong function upstream is not shown, one of its own is
        (IN_UPSTREAM, raised(IN_WORDS), UPSTREAM, 1),
        (IN_UPSTREAM, raised("raised ValueError: mine (main.py, line 3)"), UPSTREAM, 1),
    ],
)
def test_the_most_telling_of_two_mismatches_is_shown(own, other, wrong, shown):
    judged = [own, other]

    assert most_telling(judged, own[0], wrong)[1] is judged[shown][1]


@pytest.mark.parametrize(
    ("status", "text", "function", "name"),
    [
        ("not written", "layer", "", "layer"),
        ("not written", "", "norm", "scaled"),
        ("not written", "of torch's own", "norm", None),
        ("error", "layer", "", None),
    ],
)
def test_a_hole_has_the_id_of_an_exercise_or_is_a_bare_one_in_its_function(
    status, text, function, name
):
    targets = {"Layer.forward": "layer", "norm": "scaled"}

    assert hole(Reply(status, text, {"function": function}), targets) == name

"""Tests of studies: findings on changed copies are true, and deceptive functions are refused."""

import re
from pathlib import Path

import pytest

from tensormark.viva import copies
from tensormark.viva.copies import UnfitError
from tensormark.viva.draw import generator
from tensormark.viva.family import GENERAL_STATEMENTS, Sample
from tensormark.viva.study import EVERYWHERE, GRADIENTS, NO_GRADIENT, RAISES, SAME, SHAPE
from tensormark.viva.subject import subjects_of

import toy
from graded import edited
from studies import change_of, check_words, shapes_asked, sheet_of, study_of

SUM = 'torch.einsum("bdwk,pdk->bpw", windows, self.weight)'
RETURN = f"return {SUM}{toy.BIAS}"
SHORT = (RETURN, f"sums = {SUM}\n        return sums{toy.BIAS}")  # lines that a question can show
CONV_TABLE = (
    (toy.BIAS, "", {"The bias no longer matters."}),
    (f"sums{toy.BIAS}", "self.bias[:, None] + sums", {GENERAL_STATEMENTS[EVERYWHERE]}),
    ("sums +", "sums -", set()),
    ("shape[-1], 1)", "shape[-1], 2)", {GENERAL_STATEMENTS[SHAPE]}),
    ("unfold(-1", "unfold(-2", {GENERAL_STATEMENTS[RAISES]}),
)
DETECTOR_TABLE = (
    ("self.head(found)", "found", {GENERAL_STATEMENTS[SHAPE]}),
    (
        "torch.relu(self.conv(signals))",
        "self.conv(torch.relu(signals))",
        {
            "A pattern that is nowhere changes the scores.",
            "Without any pattern, scores are not the bias.",
        },
    ),
)


@pytest.mark.parametrize(
    ("exercise", "table"), [("conv", CONV_TABLE), ("detector", DETECTOR_TABLE)]
)
def test_findings_are_what_was_worked_out_by_hand(
    folder: Path, solution_source: str, exercise: str, table: tuple[tuple[str, str, set[str]], ...]
) -> None:
    with study_of(folder, edited(solution_source, SHORT), exercise) as study:
        sample = Sample(study, generator("any"))
        for old, new, expected in table:
            change = change_of(study, old, new)

            names = sample.true_statements(change)

            assert {sample.statements[name] for name in names} == expected, new
            claims = [c for name in names for c in sample.basis(change, name, True)]
            assert all(study.confirms(*claim) for claim in claims)


def test_a_cut_stops_gradients_behind_it_and_nothing_else(
    folder: Path, solution_source: str
) -> None:
    with study_of(folder, edited(solution_source, SHORT)) as study:
        cuts = {"sums +": {"signals", "weights/weight"}, "signals.unfold": {"signals"}}
        for place, behind in cuts.items():
            change = change_of(study, place, re.sub(r"^\w+", r"\g<0>.detach()", place))

            assert study.confirms(change, SAME, True)
            assert study.confirms(change, GRADIENTS, False)
            for name in ("signals", "weights/weight", "weights/bias"):
                assert study.confirms(change, f"{NO_GRADIENT}grad/{name}", name in behind)


def test_a_change_that_leaves_no_numbers_has_no_picture(folder: Path, solution_source: str) -> None:
    whole = (RETURN, f"sums = {SUM}\n        return sums[0:]{toy.BIAS}")
    with study_of(folder, edited(solution_source, whole)) as study:
        sample = Sample(study, generator("any"))

        assert sample.picture(change_of(study, "sums[0:]", "sums[1:]")) is not None
        assert sample.picture(change_of(study, "sums[0:]", "sums[2:]")) is None  # B = 2


LOOPS = """K = self.weight.shape[-1]
        flat = self.weight.flatten(1).T
        signals = signals.unfold(-1, K, 1)
        rows = [signals[:, :, w].flatten(1) for w in range(signals.shape[2])]
        def add(signals): return signals @ flat + self.bias
        out = add(rows[0])[None]
        for row in rows[1:]:
            out = torch.cat([out, add(row)[None]])
        return out.permute(1, 2, 0)"""
SHAPES_OF_LOOPS = {  # B = 2, D = 3, T = 10, P = 4, K = 5, W = 6
    "self.weight.flatten(1)": (4, 15),
    "signals": (2, 3, 10),
    "signals.unfold(-1, K, 1)": (2, 3, 6, 5),
    "add(rows[0])": (2, 4),
    "out": (6, 2, 4),
    "out.permute(1, 2, 0)": (2, 4, 6),
}


def test_shapes_are_asked_for_only_where_there_is_a_shape(
    folder: Path, solution_source: str
) -> None:
    text = edited(
        solution_source, (RETURN, LOOPS), (f"        {toy.WINDOWS}  # (B, D, W, K)\n", "")
    )
    with study_of(folder, text) as study:
        shapes = shapes_asked(study)

    assert len(shapes) >= 3
    assert shapes.items() <= {code: f"`{shape}`" for code, shape in SHAPES_OF_LOOPS.items()}.items()


def test_what_is_stated_about_subjects_can_be_true(folder: Path, solution_source: str) -> None:
    for subject in subjects_of(folder):
        with study_of(folder, solution_source, subject.exercise) as study:
            check_words(study)


COUNTING_BODY = f"CALLS.append(0)\n        return ({SUM}{toy.BIAS}) * (1 + (len(CALLS) > MOST))"
CALL_LIST = ("import torch\n", "import torch\n\nCALLS = []\n")
LINE_NUMBER_BODY = f"""try:
            0 / 0
        except ZeroDivisionError as error:
            line = error.__traceback__.tb_lineno
        return ({SUM}{toy.BIAS}) * (1 + line - HERE)"""
GUARDED_CLASS = """
def guarded(function):
    def right(self, signals):
        try:
            return function(self, signals)
        except RuntimeError:
            return signals
    return right


class Detector("""
WINDOWS = toy.WINDOWS.removeprefix("windows = ")
PATCH = f"Convolution.forward = lambda self, signals: {SUM.replace('windows', WINDOWS)}{toy.BIAS}"
END_OF_DETECTOR = "    ### END SOLUTION detector\n"
DIFFERS_IF_UNGRADED = "it behaves differently in calls that are not graded"
NOT_REPEATABLE = "it does not give the same result twice"
NOT_THE_CODE = "its text is not the code that runs"


@pytest.mark.parametrize(
    ("edits", "why"),
    [
        ([(RETURN, COUNTING_BODY.replace("MOST", "2")), CALL_LIST], NOT_REPEATABLE),
        ([(RETURN, LINE_NUMBER_BODY)], NOT_REPEATABLE),
        ([(RETURN, f"{RETURN} * float('nan')")], NOT_REPEATABLE),
        (
            [(RETURN, f"import random\n        {RETURN} * random.SystemRandom().random()")],
            f"{DIFFERS_IF_UNGRADED}|{NOT_REPEATABLE}",
        ),
        ([(END_OF_DETECTOR, f"{END_OF_DETECTOR}\n\n{PATCH}\n")], NOT_THE_CODE),
        (
            [
                ("class Detector(", GUARDED_CLASS),
                (
                    END_OF_DETECTOR,
                    f"{END_OF_DETECTOR}\n\nConvolution.forward = guarded(Convolution.forward)\n",
                ),
            ],
            NOT_THE_CODE,
        ),
    ],
)
def test_a_function_that_is_not_what_it_seems_is_not_asked_about(
    folder: Path, solution_source: str, edits: list[tuple[str, str]], why: str
) -> None:
    text = edited(solution_source, *edits)
    text = text.replace("HERE", str(1 + text[: text.find("0 / 0")].count("\n")))

    with pytest.raises(UnfitError, match=why), study_of(folder, text):
        pass


def test_a_function_that_counts_its_calls_is_given_up(folder: Path, solution_source: str) -> None:
    later = (RETURN, COUNTING_BODY.replace("MOST", "5"))
    text = edited(solution_source, later, CALL_LIST)
    with study_of(folder, text) as study, pytest.raises(UnfitError, match=NOT_REPEATABLE):
        study.original_replies(0, ["fact 0"])


def test_a_function_that_raises_in_other_sizes_is_given_up(
    folder: Path, solution_source: str
) -> None:
    guard = f"assert signals.shape[0] == 2\n        {SHORT[1]}"
    with study_of(folder, edited(solution_source, (RETURN, guard))) as study:
        change = change_of(study, "sums +", "sums -")

        assert study.finding(change, RAISES, 0) is False
        with pytest.raises(UnfitError, match="it fails on some calls"):
            study.confirms(change, RAISES, False)


def test_copies_that_do_not_end_cost_a_bounded_time(
    folder: Path, solution_source: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    loop = f"n = 1 + 2\n        while n:\n            n -= 1; time.sleep(0.01)\n        {SHORT[1]}"
    text = edited(
        solution_source, (RETURN, loop), ("import torch\n", "import time\n\nimport torch\n")
    )
    with study_of(folder, text) as study:
        monkeypatch.setattr(copies, "SECONDS", 0.5)

        assert study.finding(change_of(study, "1 + 2", "1 - 2"), RAISES) is None
        monkeypatch.setattr(copies, "SECONDS", 60.0)
        assert study.finding(change_of(study, "sums +", "sums -"), RAISES) is False
        monkeypatch.setattr(copies, "SECONDS", 0.5)
        assert study.finding(change_of(study, "1 + 2", "1 + (-2)"), RAISES) is None
        with pytest.raises(UnfitError, match="hang or crash"):
            study.finding(change_of(study, "n = 1 + 2", "n = 1"), RAISES)


@pytest.mark.tier("contained")
def test_the_tier_makes_no_difference(folder: Path, solution_source: str) -> None:
    sheets = [sheet_of(folder, solution_source, number=3, tier=t) for t in ("process", "contained")]

    assert sheets[0].questions
    assert sheets[0] == sheets[1]

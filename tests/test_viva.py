"""Tests of what questions state about minBERT's functions: it is true."""

from collections.abc import Iterator

import pytest

from grader.viva import ATTENTION, SUBJECTS
from grader.viva_facts import APART, PADDED, not_ones
from tensormark.viva.draw import generator
from tensormark.viva.families.equal import differs
from tensormark.viva.families.messages import Messages
from tensormark.viva.families.numbers import Numbers
from tensormark.viva.family import GENERAL_STATEMENTS, ONLY_TRAINING, Sample
from tensormark.viva.study import EVERYWHERE, RAISES, SAME, Study
from tensormark.viva.subject import Subject

from conftest import ROOT
from known import HONEST, VARIANTS
from studies import change_of, check_words, messages_of, shapes_asked, sheet_of, study_of

SOFTMAX = "F.softmax(scores + attention_mask, dim=-1)"
(ONES,) = (fact.gained for fact in ATTENTION.facts if fact.differences is not_ones)
TABLE = (  # a change, what is then true, and the result of the example
    (f"self.dropout({SOFTMAX})", SOFTMAX, {GENERAL_STATEMENTS[ONLY_TRAINING]}, "`[2, 7, 4, 0.5]`"),
    ("scores + attention_mask", "scores", {PADDED}, "`[4, 4, 3, 3]`"),
    (" / math.sqrt(d)", "", set(), "`[2, 7, 4, 0.5]`"),
    ("math.sqrt(d)", "(d ** 0.5)", {GENERAL_STATEMENTS[EVERYWHERE]}, "`[2, 7, 4, 0.5]`"),
    ("dim=-1", "dim=-2", {PADDED, ONES}, "`[4, 4, 3, 3]`"),
    ("probs @ value", "probs", {GENERAL_STATEMENTS[RAISES]}, None),
)
SCORES = "query @ key.transpose(-2, -1)"
SHAPES = {  # B = 2, T = 5, H = 3, d = 4
    **dict.fromkeys(("query", "key", "value", "context", "probs @ value"), (2, 3, 5, 4)),
    **dict.fromkeys((SCORES, f"{SCORES} / math.sqrt(d)", "scores"), (2, 3, 5, 5)),
    **dict.fromkeys(("scores + attention_mask", SOFTMAX), (2, 3, 5, 5)),
    **dict.fromkeys((f"self.dropout({SOFTMAX})", "probs"), (2, 3, 5, 5)),
    "key.transpose(-2, -1)": (2, 3, 4, 5),
    "context.transpose(1, 2)": (2, 5, 3, 4),
    "context.transpose(1, 2).reshape(B, T, H * d)": (2, 5, 12),
    "attention_mask": (2, 1, 1, 5),
}


@pytest.fixture(scope="module")
def study(solution_source: str) -> Iterator[Study]:
    """A study of the attention of the solution."""
    with study_of(ROOT, solution_source, "attention") as attention:
        yield attention


@pytest.mark.parametrize("row", TABLE, ids=lambda row: row[1] or "nothing")
def test_attention_does_what_was_worked_out_by_hand(study: Study, row) -> None:
    old, new, expected, numbers = row
    sample = Sample(study, generator("any"))
    change = change_of(study, old, new)

    true = sample.true_statements(change)

    assert {sample.statements[name] for name in true} == expected
    claims = [claim for name in true for claim in sample.basis(change, name, True)]
    assert all(study.confirms(*claim) for claim in claims)
    assert Numbers().result(sample, study.subject.examples[0], change) == numbers


def test_shapes_are_those_of_the_handout(study: Study) -> None:
    shapes = shapes_asked(study)  # some of SHAPES

    assert len(shapes) >= 5
    assert shapes.items() <= {code: f"`{shape}`" for code, shape in SHAPES.items()}.items()


def test_a_message_is_what_the_grader_says(study: Study) -> None:
    (mistake,) = (variant for variant in VARIANTS if variant.id == "mask_ignored")
    change = change_of(study, "scores + attention_mask", "scores")

    assert Messages().message(Sample(study, generator("any")), change) == mistake.says


def test_a_softmax_that_overflows_is_not_said_to_be_equal(solution_source: str) -> None:
    (honest,) = (candidate for candidate in HONEST if candidate.id == "softmax_by_hand")
    with study_of(ROOT, honest.apply(solution_source), "attention") as by_hand:
        change = change_of(by_hand, "scores - scores.amax", "scores + scores.amax")

        assert by_hand.finding(change, SAME) is True
        assert by_hand.finding(change, EVERYWHERE) is None


def test_a_token_depends_on_others_whose_queries_are_its_values(solution_source: str) -> None:
    (honest,) = (candidate for candidate in HONEST if candidate.id == "bmm")
    with study_of(ROOT, honest.apply(solution_source), "attention") as bmm_study:
        sample = Sample(bmm_study, generator("any"))
        change = change_of(bmm_study, "x.reshape(", "query.reshape(")

        assert APART not in {sample.statements[name] for name in sample.true_statements(change)}


@pytest.mark.nightly
@pytest.mark.parametrize("subject", [subject for subject in SUBJECTS if subject.mistakes])
def test_single_changes_make_the_mistakes_whose_messages_are_options(
    solution_source: str, subject: Subject
) -> None:
    with study_of(ROOT, solution_source, subject.exercise) as study:
        sample, messages = Sample(study, generator("any")), messages_of(study)
        changed = [c for c in study.changes if not c.reveals and differs(sample, c)]
        reported = {Messages().message(sample, change) for change in changed}

    assert {messages[name] for name in subject.mistakes} <= reported


@pytest.mark.parametrize("exercise", [subject.exercise for subject in SUBJECTS])
def test_what_is_stated_about_subjects_can_be_true(solution_source: str, exercise: str) -> None:
    with study_of(ROOT, solution_source, exercise) as study:
        check_words(study)


@pytest.mark.parametrize("seed", ["7", "8"])  # one asks about three functions, the other four
def test_five_questions_on_correct_functions_are_of_five_families(
    solution_source: str, seed: str
) -> None:
    ids = [subject.exercise for subject in SUBJECTS]

    sheet = sheet_of(ROOT, {"bert": solution_source}, seed, right=ids)

    assert len({question.family for question in sheet.questions}) == 5
    assert 2 <= len(sheet.listings) <= 4
    targets = [listing.name for listing in sheet.listings]
    assert targets == [subject.target for subject in SUBJECTS if subject.target in targets]
    assert len({question.code for question in sheet.questions}) == 5

"""What counts as not written yet: the hole, and nothing else that raises NotImplementedError."""

import pytest

from tensormark.authoring.honest import Honest
from tensormark.result import Outcome, Result

from bench import Bench

HOLES = {
    "as given": 'raise NotImplementedError("embed")',
    "bare": "raise NotImplementedError",
    "called": "raise NotImplementedError()",
    "without words": 'raise NotImplementedError("")',
    "below some code": "x = self.word_embedding(input_ids)\nraise NotImplementedError",
    "in a branch": "if input_ids is not None:\n    raise NotImplementedError",
    "from another": "try:\n    1 / 0\nexcept Exception as e:\n    raise NotImplementedError from e",
    "again": "try:\n    raise NotImplementedError\nexcept NotImplementedError:\n    raise",
}
EXCEPTIONS = {
    "with words": ('raise NotImplementedError("TODO")', "NotImplementedError: TODO (bert.py"),
    "a helper": ("return unwritten(input_ids)", "NotImplementedError (bert.py"),
    "a method": ("return self.unwritten(input_ids)", "NotImplementedError (bert.py"),
    "a method of the same name": (
        "return Helper().embed(input_ids)",
        "NotImplementedError (bert.py",
    ),
    "a nested function": (
        "def embed():\n    raise NotImplementedError\nreturn embed()",
        "NotImplementedError (bert.py",
    ),
    "a lambda": ("return (lambda: unwritten(1))()", "NotImplementedError (bert.py"),
    "a comprehension": ("return [unwritten(x) for x in (1, 2)]", "NotImplementedError (bert.py"),
    "a module without forward": ("return nn.Module()(input_ids)", "Module [Module] is missing"),
    "a list of layers": ("return self.bert_layers(input_ids)", "Module [ModuleList] is missing"),
    "a softmax of integers": ("return F.softmax(input_ids, -1)", "not implemented for 'Long'"),
    "an id in a sentence": (
        'raise NotImplementedError("embed is not done")',
        "NotImplementedError: embed is not done (bert.py",
    ),
    "a class of one's own": ("raise Later", "raised Later (bert.py"),
}
HELPERS = """class Later(Exception):
    pass


def unwritten(x):
    raise NotImplementedError


class Helper:
    def embed(self, x):
        raise NotImplementedError


class BertModel("""
EMBED = "    def embed(self, input_ids"
METHOD = f"    def unwritten(self, x):\n        raise NotImplementedError\n\n{EMBED}"


def grade_embed(bench: Bench, body: str) -> Result:
    edits = ((EMBED, METHOD), ("class BertModel(", HELPERS))
    return bench.grade(Honest("", {"embed": body}, edits).apply(bench.source), "embed")["embed"]


@pytest.mark.parametrize("body", HOLES.values(), ids=HOLES)
def test_a_hole_is_not_written_yet(bench: Bench, body: str) -> None:
    assert grade_embed(bench, body).outcome is Outcome.NOT_WRITTEN


@pytest.mark.parametrize(("body", "headline"), EXCEPTIONS.values(), ids=EXCEPTIONS)
def test_any_other_exception_is_shown_with_its_line(bench: Bench, body: str, headline: str) -> None:
    result = grade_embed(bench, body)

    assert result.outcome is Outcome.FAILED
    assert headline in result.findings[0].headline
    assert result.findings[0].details[-1] == "read: handout.md, Problem (embed)"


def test_a_hole_of_a_base_class_is_not_written_yet(bench: Bench) -> None:
    base = "class Base:\n    def embed(self, ids):\n        raise NotImplementedError\n\n\n"
    source = bench.source.replace("    def embed(", "    def unused(")
    source = source.replace("class BertModel(", f"{base}class BertModel(Base, ")

    result = bench.grade(source)["embed"]

    assert result.outcome is Outcome.NOT_WRITTEN


def test_a_decorated_hole_is_not_written_yet(bench: Bench) -> None:
    decorated = "    @torch.no_grad()\n    def embed("
    source = Honest("", {"embed": "raise NotImplementedError"}, (("    def embed(", decorated),))

    assert bench.grade(source.apply(bench.source))["embed"].outcome is Outcome.NOT_WRITTEN


@pytest.mark.parametrize("text", ["", '("attention")'])
def test_a_function_that_needs_a_hole_is_not_blamed_for_it(bench: Bench, text: str) -> None:
    body = f"raise NotImplementedError{text}"
    call = "return self.self_attention.attention(1, 2, 3, attention_mask)"
    source = Honest("", {"attention": body, "layer": call}).apply(bench.source)

    results = bench.grade(source)

    assert results["attention"].outcome is Outcome.NOT_WRITTEN
    assert results["layer"].outcome is Outcome.FAILED
    assert "NotImplementedError" not in str(results["layer"].findings)
    assert results["encode"].outcome is Outcome.PASSED

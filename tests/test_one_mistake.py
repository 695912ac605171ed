"""One mistake costs one exercise, and gets the name that is true of it, or none."""

import pytest

from tensormark.result import Outcome

from bench import Bench, lost, named

NORMED = "return ln_layer(input + dropout(dense_layer(output)))"
LAST, MERGED = "return self.add_norm(x, interm, *modules)", ".reshape(B, T, H * d)"
EMBEDDED = "return self.embed_dropout(self.embed_layer_norm(words + positions + token_types))"
WORDS, STEP = "words = self.word_embedding(input_ids)", "for layer in self.bert_layers:"
SCORES = "scores = query @ key.transpose(-2, -1) / math.sqrt(d)"
FIRST = "x, context = hidden_states, self.self_attention(hidden_states, attention_mask)"
GELU = "self.interm_af(self.interm_dense(x))"
TUPLE = "returns_something_else"
RETURN = "return hidden_states"
Edit = tuple[str, str]

CASES: dict[str, tuple[str, str | None, Edit]] = {
    # a comma at the end of a return
    "comma_attention": ("attention", TUPLE, (MERGED, f"{MERGED},")),
    "comma_add_norm": ("add_norm", TUPLE, (NORMED, f"{NORMED},")),
    "comma_layer": ("layer", TUPLE, (LAST, f"{LAST},")),
    "comma_embed": ("embed", TUPLE, (EMBEDDED, f"{EMBEDDED},")),
    # values that are kept from a first call
    "kept_dense": (
        "add_norm",
        "modules_kept",
        (
            NORMED,
            f"self.d = getattr(self, 'd', dense_layer)\n        {NORMED}".replace(
                "dense_layer(output)", "self.d(output)"
            ),
        ),
    ),
    "kept_context": (
        "layer",
        "context_kept",
        (FIRST, f"{FIRST}\n        self.c = context = getattr(self, 'c', context)"),
    ),
    "kept_positions": (
        "embed",
        "kept_from_a_call",
        (
            "positions = self.pos_embedding(self.position_ids[:, : input_ids.shape[1]])",
            "self.p = getattr(self, 'p', None) or {}\n"
            "        n = input_ids.shape[1]\n"
            "        if 'all' not in self.p:\n"
            "            self.p['all'] = self.pos_embedding(self.position_ids)\n"
            "        positions = self.p['all'][:, :n]",
        ),
    ),
    # code that draws random numbers is called dropout only if it is dropout
    "fresh_linear": (
        "embed",
        "new_weights_in_call",
        (WORDS, f"{WORDS}\n        words = nn.Linear(words.shape[-1], words.shape[-1])(words)"),
    ),
    "noise": ("embed", None, (WORDS, f"{WORDS}\n        words = words + torch.randn_like(words)")),
    "tiny_dropout": ("layer", "dropout_in_eval", (GELU, f"F.dropout({GELU}, 1e-3)")),
    "seed": ("attention", "seeded", (SCORES, f"torch.manual_seed(0)\n        {SCORES}")),
    "mode": ("layer", "mode_changed", (FIRST, f"self.eval()\n        {FIRST}")),
    # mistakes that one answer reveals
    "half": ("embed", "other_type", (EMBEDDED, f"{EMBEDDED}.half()")),
    "squeeze": ("encode", "axis_lost", (RETURN, f"{RETURN}.squeeze()")),
    "hard_coded": ("attention", "some_sizes", ("math.sqrt(d)", "math.sqrt(5)")),
}


@pytest.mark.parametrize("case", CASES)
def test_a_mistake_costs_its_exercise_and_has_its_name(bench: Bench, case: str) -> None:
    exercise, name, (old, new) = CASES[case]
    begin = bench.source.index(f"### BEGIN SOLUTION {exercise}\n")
    assert bench.source.count(old, begin) >= 1
    source = bench.source[:begin] + bench.source[begin:].replace(old, new, 1)

    results = bench.grade(source)

    assert lost(results) == {exercise}
    assert named(results[exercise]) == (name or "").split("|")


def test_a_raise_above_the_code_of_a_function_is_pointed_out(bench: Bench) -> None:
    source = bench.source.replace(
        "### BEGIN SOLUTION encode\n",
        '### BEGIN SOLUTION encode\n        raise NotImplementedError("encode")\n',
    )

    result = bench.grade(source)["encode"]

    assert result.outcome is Outcome.NOT_WRITTEN
    assert "still raises NotImplementedError, above your code" in result.note


def test_the_shapes_on_a_line_that_raises_are_reported(bench: Bench) -> None:
    result = bench.grade(bench.source.replace("key.transpose(-2, -1) /", "key /"))["attention"]

    assert result.findings[0].details[0] == (
        "on that line, query is (B, H, T, d) = (3, 2, 7, 5); key is (B, H, T, d) = (3, 2, 7, 5)"
    )

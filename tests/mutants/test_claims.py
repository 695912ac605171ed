"""What is known of the solution is true: honest code passes, and each mistake is named.

A mistake costs its own exercise only. `make nightly` grades all of this code, `make test` a part.
"""

import pytest

from tensormark.authoring.prove import claims
from testkit.tiers import NIGHTLY
from tests.helpers.known import COURSE, HONEST
from tests.helpers.source_bench import lost

CLAIMS = [claim for claim in claims(COURSE) if not claim.tasks]


@pytest.mark.sampled(5)  # the golden corpus has many of them
@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.name)
def test_honest_code_loses_nothing_and_a_mistake_its_exercise_by_its_name(bench, claim):
    ((module, source),) = claim.sources.items()

    results = bench.grade(source, module=module)

    assert results
    assert claim.fault(results) is None


# --- together -----------------------------------------------------------------------------------

# a wrong function that others call: in the text of the solution, and of many honest ones
UPSTREAM = {
    "attention": ("scores + attention_mask", "scores"),
    "add_norm": ("return ln_layer(", "return 2.0 * ln_layer("),
    "embed": ("return self.embed_dropout(", "return 2.0 * self.embed_dropout("),
}


@pytest.mark.parametrize("wrong", UPSTREAM)
def test_a_mistake_upstream_costs_right_code_nothing(bench, wrong):
    old, new = UPSTREAM[wrong]
    sources = {one.id: one.apply(bench.source) for one in HONEST if one.module == "bert"}
    chosen = {name: text for name, text in sources.items() if text.count(old) == 1}
    assert len(chosen) > 20

    sample = list(chosen.items())[:: 1 if NIGHTLY else 10]
    found = {name: lost(bench.grade(text.replace(old, new))) for name, text in sample}

    assert {name: ids for name, ids in found.items() if ids != {wrong}} == {}

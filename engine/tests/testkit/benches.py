"""What is said of code that is nearly the solution, graded in a worker that is open already."""

from tensormark.authoring.prove import claims
from testkit.graded import edited


def wrong(bench, module, *edits):
    """Return the score and headline of each exercise that fails with edits of the solution."""
    source = edited(bench.sources[module], *edits)
    results = bench.results({module: source}, tasks=False)
    return {r.id: (r.score, r.findings[0].headline) for r in results.values() if r.findings}


def faults(bench, course):
    """Return what is wrong with the claims of a course that are false, by the claim."""
    assert course.honest or course.variants
    found = {
        claim.name: claim.fault(bench.results(claim.sources, claim.tasks))
        for claim in claims(course)
    }
    return {name: fault for name, fault in found.items() if fault is not None}

"""Which rewriting gives the same?"""

from collections.abc import Iterator, Sequence

from tensormark.viva import study as found
from tensormark.viva.family import Draft, Sample, options_of
from tensormark.viva.question import OPTIONS, Question
from tensormark.viva.source import Change


class Equal:
    """Which rewriting gives the same?"""

    name = "equal"
    next = "For which inputs do the other three differ, and by how much?"

    def drafts(self, sample: Sample) -> Iterator[Draft]:
        """Ask which of four versions of a statement gives the same, or which one does not."""
        lines: dict[int, list[Change]] = {}
        for change in sample.study.changes:
            if change.kind != "detach" and change.after and "#" not in change.changed_line:
                lines.setdefault(change.statement, []).append(change)
        for changes in sample.random.sample([*lines.values()], len(lines)):
            drawn = self.looked_at(sample, changes)
            same = [c for c in drawn if sample.finding(c, found.EVERYWHERE) is True]
            other = [c for c in drawn if differs(sample, c)]
            one_differs = sample.random.random() < 0.5 and len(same) >= OPTIONS - 1
            right, wrong = (other, same) if one_differs else (same, other)
            for change in right[:2]:
                by_text = {f"`{each.changed_line}`": each for each in wrong}
                chosen = options_of(sample.random, f"`{change.changed_line}`", by_text)
                if chosen is None:
                    continue
                options, key = chosen
                others = [by_text[each] for each in options if each in by_text]
                names = (found.SAME, found.EVERYWHERE)
                claims = [(change, names[not one_differs], not one_differs)]
                claims += [(each, names[one_differs], one_differs) for each in others]
                yield Draft(
                    self.question(sample, change, options, key, one_differs), change, tuple(claims)
                )

    def looked_at(self, sample: Sample, changes: Sequence[Change]) -> list[Change]:
        """Return some changes of a line, those that are likely to be equal first."""
        likely = [c for c in changes if c.kind in ("order", "form", "nesting", "number")]
        likely = sample.random.sample(likely, len(likely))
        rest = [change for change in changes if change not in likely and change in sample.changes]
        return [*likely[:9], *rest]

    def question(
        self, sample: Sample, change: Change, options: tuple[str, ...], key: int, differs: bool
    ) -> Question:
        """Return the question."""
        asked = "gives another result" if differs else "gives the same result for every input"
        why = (
            "differs in calls of three sizes"
            if differs
            else ("gave the same results and gradients in calls of three sizes, in either mode")
        )
        wrong = "It gives the same." if differs else "It gives other results."
        return Question(
            self.name,
            sample.function,
            change.statement,
            f"Line {change.statement} is rewritten. Which of these versions {asked}?",
            options,
            key,
            f"This version {why}.",
            tuple("" if place == key else wrong for place in range(OPTIONS)),
            self.next,
            sample.picture(change) if differs else None,
        )


def differs(sample: Sample, change: Change) -> bool:
    """Say whether a changed copy runs, and gives other results."""
    raises = sample.finding(change, found.RAISES)
    return raises is False and sample.finding(change, found.SAME) is False

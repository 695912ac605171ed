"""Which change has this effect?"""

from collections.abc import Iterator

from tensormark.viva.family import Draft, Sample, lower, options_of
from tensormark.viva.question import OPTIONS, Question
from tensormark.viva.source import Change
from tensormark.viva.study import RAISES


class Cause:
    """Which change has this effect?"""

    name = "cause"
    next = "What do the other three changes do instead?"

    def drafts(self, sample: Sample) -> Iterator[Draft]:
        """Ask which of four changes makes a statement true."""
        usual = sorted({name for change in sample.changes for name in sample.true_of(change)})
        order = sample.random.sample(usual, len(usual))
        for name in sorted(order, key=lambda name: name == RAISES):  # which tells least
            right = [change for change in sample.changes if name in sample.true_of(change)]
            wrong = self.others(sample, name)
            for change in right[:2]:
                chosen = options_of(sample.random, change.short, wrong)
                if chosen is None:
                    continue
                options, key = chosen
                others = [wrong[option] for option in options if option != change.short]
                claims = [*sample.basis(change, name, True)]
                claims += [c for other in others for c in sample.basis(other, name, False)]
                says = sample.statements[name]
                yield Draft(
                    Question(
                        self.name,
                        sample.function,
                        change.line,
                        f"One of these changes has this effect: {lower(says)}. Which one?",
                        options,
                        key,
                        f"Each changed function was run in calls of three sizes. Only with this "
                        f"change: {lower(says)}.",
                        tuple(
                            "" if place == key else self.instead(sample, wrong[option])
                            for place, option in enumerate(options)
                        ),
                        self.next,
                        sample.picture(change),
                    ),
                    change,
                    tuple(claims),
                )

    def others(self, sample: Sample, name: str) -> dict[str, Change]:
        """Return the changes of which a statement is false, without those that raise if it can."""
        false = [change for change in sample.changes if name in sample.false_of(change)]
        running = [change for change in false if not sample.finding(change, RAISES)]
        return {c.short: c for c in (running if len(running) >= OPTIONS else false)}

    def instead(self, sample: Sample, change: Change) -> str:
        """Say what a change does."""
        true = sample.true_of(change)
        return (
            sample.statements[true[0]] if true else "The results are others, but not in this way."
        )

"""What is no longer trained?"""

import functools
import itertools
from collections.abc import Iterator, Sequence

import numpy as np

from tensormark.viva.family import Claim, Draft, Sample, options_of
from tensormark.viva.question import OPTIONS, Question
from tensormark.viva.sameness import tensors_of
from tensormark.viva.source import Change
from tensormark.viva.study import NO_GRADIENT, RAISES, USUAL

TINY = 1e-6  # below it, a gradient is 0 mathematically, such as that of the keys' biases


class Gradients:
    """What is no longer trained?"""

    name = "gradient"
    next = "What would that do to training, and how would you notice?"

    def drafts(self, sample: Sample) -> Iterator[Draft]:
        """Ask what gets no gradient once it is cut off somewhere."""
        own = sample.study.own(0, [])[USUAL]
        tensors = tensors_of(own, "grad/").items()
        names = [n.removeprefix("grad/") for n, value in tensors if np.abs(value).max() > TINY]
        for change in sample.detached:
            if sample.finding(change, RAISES) is not False:
                continue
            cut = [name for name in names if sample.finding(change, of_gradient(name))]
            draft = self.of_sets(sample, change, names, cut) if len(names) <= OPTIONS else None
            draft = draft or self.of_one(sample, change, names, cut)
            if draft is not None:
                yield draft

    def of_one(
        self, sample: Sample, change: Change, names: list[str], cut: list[str]
    ) -> Draft | None:
        """Ask for the only one of four without a gradient, or with one."""
        others = [name for name in names if name not in cut]
        without = sample.random.random() < 0.5
        right, wrong = (cut, others) if without else (others, cut)
        if not right:
            return None
        right_name = sample.random.choice(right)
        shown_name = functools.partial(shown, sample)
        names_of = {shown_name(name): name for name in (*wrong, right_name)}
        chosen = options_of(sample.random, shown_name(right_name), map(shown_name, wrong))
        if chosen is None:
            return None
        gets = "gets no gradient" if without else "still gets a gradient"
        asked = f"Which of these then {gets}?"
        claims = [
            (change, of_gradient(names_of[option]), names_of[option] in cut) for option in chosen[0]
        ]
        opposite = "It still gets one." if without else "It gets none."
        return self.draft(sample, change, asked, chosen, claims, opposite)

    def of_sets(
        self, sample: Sample, change: Change, names: list[str], cut: list[str]
    ) -> Draft | None:
        """Ask for all that get no gradient, where there are few."""
        subsets = [
            list(each) for n in range(len(names) + 1) for each in itertools.combinations(names, n)
        ]
        shown_name = functools.partial(shown, sample)
        texts = [listed([*map(shown_name, each)]) or "none of them" for each in subsets]
        right = texts[subsets.index(cut)]
        chosen = options_of(sample.random, right, texts)
        if chosen is None:
            return None
        asked = f"Which of {listed([*map(shown_name, names)])} then get no gradient?"
        claims = [(change, of_gradient(name), name in cut) for name in names]
        opposite = "This leaves some out or names too many."
        return self.draft(sample, change, asked, chosen, claims, opposite)

    def draft(
        self,
        sample: Sample,
        change: Change,
        asked: str,
        chosen: tuple[tuple[str, ...], int],
        claims: Sequence[Claim],
        opposite: str,
    ) -> Draft:
        """Return the draft; `asked` is its question, `opposite` explains the other options."""
        options, key = chosen
        cut = [
            shown(sample, name.removeprefix(of_gradient(""))) for _, name, value in claims if value
        ]
        question = Question(
            self.name,
            sample.function,
            change.line,
            f"{change.sentence()} {asked}",
            options,
            key,
            f"After a backward pass, there is no gradient for {listed(cut)}."
            if cut
            else "After a backward pass, each of them has a gradient.",
            tuple("" if place == key else opposite for place in range(OPTIONS)),
            self.next,
            marks=(change.mark,),
        )
        return Draft(question, change, tuple(claims))


def of_gradient(name: str) -> str:
    """Return the name of the finding that an input or a weight has no gradient."""
    return f"{NO_GRADIENT}grad/{name}"


def listed(names: Sequence[str]) -> str:
    """Return names as words in a sentence, such as "a, b and c"."""
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))


def shown(sample: Sample, name: str) -> str:
    """Return an input or a weight as an option, under the function's own name for it."""
    module, dot, rest = name.removeprefix("weights/").partition(".")
    return f"`{sample.study.names.get(module, module)}{dot}{rest}`"

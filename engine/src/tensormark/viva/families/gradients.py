"""Ask what is no longer trained when a gradient is cut off."""

import functools
import itertools
from collections.abc import Iterator, Sequence

import numpy as np

from tensormark.viva.family import Claim, Draft, Family, Sample, Selection, draw_options
from tensormark.viva.question import OPTIONS
from tensormark.viva.sameness import tensors_of
from tensormark.viva.source import Change
from tensormark.viva.study import NO_GRADIENT, RAISES, USUAL

NEGLIGIBLE = 1e-6  # below this, a gradient is only rounding, such as that of the keys' biases


class Gradients(Family):
    """Questions such as "`.detach()` is added. Which of these then gets no gradient?"."""

    name = "gradient"
    follow_up = "What would that do to training, and how would you notice?"

    def drafts(self, sample: Sample) -> Iterator[Draft]:
        """Ask what gets no gradient once it is cut off somewhere."""
        original = sample.study.original_replies(0, [])[USUAL]
        tensors = tensors_of(original, "grad/").items()
        names = [
            n.removeprefix("grad/") for n, value in tensors if np.abs(value).max() > NEGLIGIBLE
        ]
        for change in sample.detached:
            if sample.finding(change, RAISES) is not False:
                continue
            cut_names = [name for name in names if sample.finding(change, no_gradient(name))]
            draft = (
                self.set_choice(sample, change, names, cut_names) if len(names) <= OPTIONS else None
            )
            draft = draft or self.single_choice(sample, change, names, cut_names)
            if draft is not None:
                yield draft

    def single_choice(
        self, sample: Sample, change: Change, names: list[str], cut_names: list[str]
    ) -> Draft | None:
        """Ask which one of four gets no gradient, or is the only one that gets one."""
        other_names = [name for name in names if name not in cut_names]
        without = sample.random.random() < 0.5
        answers, distractors = (cut_names, other_names) if without else (other_names, cut_names)
        if not answers:
            return None
        answer = sample.random.choice(answers)
        label_of = functools.partial(label, sample)
        names_by_label = {label_of(name): name for name in (*distractors, answer)}
        selection = draw_options(sample.random, label_of(answer), map(label_of, distractors))
        if selection is None:
            return None
        effect = "gets no gradient" if without else "still gets a gradient"
        prompt = f"Which of these then {effect}?"
        claims = [
            (change, no_gradient(names_by_label[option]), names_by_label[option] in cut_names)
            for option in selection[0]
        ]
        distractor_text = "It still gets one." if without else "It gets none."
        return self.draft(sample, change, prompt, selection, claims, distractor_text)

    def set_choice(
        self, sample: Sample, change: Change, names: list[str], cut_names: list[str]
    ) -> Draft | None:
        """Ask for the set of all that get no gradient; only for functions with few inputs."""
        subsets = [
            list(each) for n in range(len(names) + 1) for each in itertools.combinations(names, n)
        ]
        label_of = functools.partial(label, sample)
        texts = [joined_with_and([*map(label_of, each)]) or "none of them" for each in subsets]
        answer = texts[subsets.index(cut_names)]
        selection = draw_options(sample.random, answer, texts)
        if selection is None:
            return None
        prompt = f"Which of {joined_with_and([*map(label_of, names)])} then get no gradient?"
        claims = [(change, no_gradient(name), name in cut_names) for name in names]
        distractor_text = "This leaves some out or names too many."
        return self.draft(sample, change, prompt, selection, claims, distractor_text)

    def draft(
        self,
        sample: Sample,
        change: Change,
        prompt: str,
        selection: Selection,
        claims: Sequence[Claim],
        distractor_text: str,
    ) -> Draft:
        """Return the draft.

        Args:
            prompt: the question, without the sentence on the change.
            distractor_text: why the other options are wrong.
        """
        cut_names = [
            label(sample, name.removeprefix(no_gradient(""))) for _, name, value in claims if value
        ]
        question = self.question(
            sample,
            f"{change.sentence()} {prompt}",
            selection,
            f"After a backward pass, there is no gradient for {joined_with_and(cut_names)}."
            if cut_names
            else "After a backward pass, each of them has a gradient.",
            [distractor_text] * OPTIONS,
            [change.mark],
        )
        return Draft(question, change, tuple(claims))


def no_gradient(name: str) -> str:
    """Return the name of the finding that an input or a weight has no gradient."""
    return f"{NO_GRADIENT}grad/{name}"


def joined_with_and(names: Sequence[str]) -> str:
    """Return names as a phrase, such as "a, b and c"."""
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))


def label(sample: Sample, name: str) -> str:
    """Return what an option calls an input or a weight: the function's own name for it."""
    module, dot, rest = name.removeprefix("weights/").partition(".")
    return f"`{sample.study.names.get(module, module)}{dot}{rest}`"

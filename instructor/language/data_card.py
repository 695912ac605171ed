"""The data's card: what it is, how it was made, and what is in it, counted."""

from collections.abc import Sequence

from instructor.language.grammar import Phrase
from instructor.language.lexicon import FILMS, HALF, WHOLE
from instructor.language.reviews import EVERYTHING, SHARES

# Every rule of the grammar that a reader meets, and what it does to the value of a sentence.
PHENOMENA = {
    "plain": "the adjective decides",
    "negation": "not, never, hardly, far from, anything but, fails to be: the opposite",
    "possession": "full of, free of, lacks, does not lack: the noun, or its opposite",
    "pair": "both ... and, neither ... nor: two adjectives of one sign",
    "comparison": "better, worse, more, less, unlike: the film decides, not its rival",
    "attempt": "tries to be ... and succeeds, or fails",
    "attitude": "i do not think that, i do not doubt that: a clause, or its opposite",
    "quotation": "somebody's opinion, and whether the writer shares it",
    "contrast": "but, yet, although, even though, in both orders: the main clause decides",
}
CARD = """# The data: made-up film reviews whose meaning is computed

English sentences about {films} films that do not exist, each with a label: 1 praises the film, 0
does not. A grammar (`instructor/language.py`) builds every sentence and works out its label from
the parts: the sign of an opinion word, turned round by a negation, decided by the main clause of a
contrast, and so on. No template carries a fixed label. Nobody's reviews went into it, so it may be
published, changed and made again: licence MIT, as the rest of the project.

| file | what it holds |
| --- | --- |
| `train.txt` | {train:,} lines `label \\|\\|\\| sentence`, half of each label |
| `dev.txt` | {dev:,} lines, half of each label |
| `test.txt` | {test:,} lines, half of each label |
| `pretraining.txt` | {sentences:,} sentences in {reviews:,} reviews, an empty line between them |

No sentence stands in two splits. The training split uses {half} of the {whole} opinion words; dev
and test use all of them. The other half occurs in `pretraining.txt` only, so a model knows them
from pre-training or not at all. The first {easy} of the reviews in `pretraining.txt` are easier
to read, and pre-training begins with them.

## What decides the label

A sentence counts under every phenomenon that it shows.

{phenomena}

## What can be had without reading

Accuracy of the majority class and of scikit-learn's logistic regression on bags of word n-grams,
fitted on `train.txt`:

<!-- baselines:begin -->
<!-- baselines:end -->

## What broken models reach

<!-- gate:begin -->
<!-- gate:end -->

## Make it again

<!-- seed:begin -->
    python -m instructor.language.write_data --seed {seed}    # these files, to the byte
<!-- seed:end -->

    python -m instructor.language.write_data --check        # compare, write nothing

Another seed gives other sentences of the same language; the checkpoint and the references then have
to be made again as well. Only Python's own `random.Random` decides, in a fixed order.

## Limits

The language is small: {whole} opinion words, a few dozen turns of phrase, one way of reading each.
"Not dull" counts as praise here, which is more than a careful reader of real reviews would grant. A
model fine-tuned on it knows nothing of real reviews.
"""


def phenomena_table(splits: dict[str, list[Phrase]]) -> str:
    """Count the sentences of each split that show a phenomenon, with an example from dev."""
    lines = [
        "| phenomenon | what decides | example | train | dev | test |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for rule, effect in PHENOMENA.items():
        # the shortest dev sentence that has this rule first: easy to see
        shown = [phrase for phrase in splits["dev"] if phrase.rules[0] == rule]
        example = min(shown, key=lambda phrase: (len(phrase.words), phrase.words))
        counts = [
            sum(rule in phrase.rules for phrase in splits[name])
            for name in ("train", "dev", "test")
        ]
        cells = [rule, effect, f"{int(example.value > 0)}: {example.words}", *map(str, counts)]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def data_card(seed: int, splits: dict[str, list[Phrase]], reviews: Sequence[Sequence[str]]) -> str:
    """Write the card; the sections between marks are filled in by who measures them."""
    return CARD.format(
        seed=seed,
        films=len(FILMS),
        reviews=len(reviews),
        easy=f"{1 - SHARES[EVERYTHING]:.0%}",
        sentences=sum(len(review) for review in reviews),
        half=len(HALF.words()),
        whole=len(WHOLE.words()),
        phenomena=phenomena_table(splits),
        **{name: len(phrases) for name, phrases in splits.items()},
    )

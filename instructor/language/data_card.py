"""The data card: what the data are, how they were made, and how many of each phenomenon."""

from collections.abc import Sequence

from instructor.language.grades import GradedWriter
from instructor.language.grammar import Phrase
from instructor.language.lexicon import FILMS, HALF, WHOLE
from instructor.language.reviews import EVERYTHING, SHARES

# Every visible rule of the grammar, and how it determines the value of a sentence.
PHENOMENA = {
    "plain": "the adjective decides",
    "negation": "not, never, hardly, far from, anything but, fails to be: reverses it",
    "possession": "full of, free of, lacks, does not lack: the noun's sign, or its opposite",
    "pair": "both ... and, neither ... nor: two adjectives of one sign",
    "comparison": "better, worse, more, less, unlike: the film decides, not its rival",
    "attempt": "tries to be ... and succeeds, or fails",
    "attitude": "i do not think that, i do not doubt that: the clause, or its opposite",
    "quotation": "somebody's opinion, and whether the writer agrees",
    "contrast": "but, yet, although, even though, in both orders: the main clause decides",
}
CARD = """# The data: synthetic film reviews with computed labels

English sentences about {films} invented films, each with a label: 1 if it praises the film, 0 if
not. A grammar (`instructor/language/grammar.py`) builds every sentence and computes its label
from its parts; no template has a fixed label. No real reviews were used, so the data may be
published, changed and regenerated under the MIT licence.

| file | contents |
| --- | --- |
| `train.txt` | {train:,} lines `label \\|\\|\\| sentence`, half of each label |
| `dev.txt` | {dev:,} lines, half of each label |
| `test.txt` | {test:,} lines, half of each label |
| `pretraining.txt` | {sentences:,} sentences in {reviews:,} reviews, separated by empty lines |

No sentence occurs in two splits. The training split uses {half} of the {whole} opinion words; dev,
test and `pretraining.txt` use all of them. The first {easy} of the reviews in `pretraining.txt`
are simpler, and pre-training starts with them.

## What decides the label

A sentence counts under each phenomenon that it contains.

{phenomena}

## Baselines that do not understand the sentence

Scikit-learn's logistic regression on bags of word n-grams, fitted on `train.txt`:

<!-- baselines:begin -->
<!-- baselines:end -->

## Five grades

`grades/` is harder, with grades from 0, very bad, to 4, very good, for 6,000 training sentences and
1,200 each for dev and test. An opinion word is strong (*superb*) or mild (*clever*). *Very*, *a
bit* and *not* multiply its value; so do *i doubt that*, and replies to the opinions of others.
Of two clauses joined by *but*, the second counts more; joined by *and*, both count. Noise is added
before the sum is rounded, so not even the grammar's best guess is always right. Training uses
{known} of the {every} opinion words. The checkpoint has seen {whole}, without learning how strong
they are; `grades/pretraining.txt` has all of them, in simple sentences that end with a rating.

The numbers are means of five seeds, with the lowest and the highest on dev:

<!-- grades:begin -->
<!-- grades:end -->

## How accurate broken models are

<!-- gate:begin -->
<!-- gate:end -->

## Regenerating the data

<!-- seed:begin -->
    python -m instructor.language.write_data --seed {seed}    # these files, byte for byte
<!-- seed:end -->

    python -m instructor.language.write_data --check        # compare, write nothing

Another seed gives other sentences of the same language. Regenerate the checkpoint and the
references as well.

## Limits

The language is small: {whole} opinion words, a few dozen constructions, each with a single
meaning. "Not dull" counts as praise here, which goes further than real reviews do. A model
fine-tuned on these data knows nothing about real reviews.
"""


def _phenomena_table(splits: dict[str, list[Phrase]]) -> str:
    """Count the sentences of each split that contain each phenomenon; add an example from dev."""
    lines = [
        "| phenomenon | what decides | example | train | dev | test |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for rule, effect in PHENOMENA.items():
        # the shortest dev sentence whose first rule is this one, so that it is easy to see
        shown = [phrase for phrase in splits["dev"] if phrase.rules[0] == rule]
        example = min(shown, key=lambda phrase: (len(phrase.words), phrase.words))
        counts = [sum(rule in phrase.rules for phrase in phrases) for phrases in splits.values()]
        cells = [rule, effect, f"{example.label}: {example.words}", *map(str, counts)]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def data_card(seed: int, splits: dict[str, list[Phrase]], reviews: Sequence[Sequence[str]]) -> str:
    """Write the card; the programs that measure them fill in its marked sections."""
    return CARD.format(
        seed=seed,
        films=len(FILMS),
        reviews=len(reviews),
        easy=f"{1 - SHARES[EVERYTHING]:.0%}",
        sentences=sum(len(review) for review in reviews),
        half=len(HALF.words()),
        known=len(GradedWriter.known.words()),
        every=len(GradedWriter.every.words()),
        whole=len(WHOLE.words()),
        phenomena=_phenomena_table(splits),
        **{name: len(phrases) for name, phrases in splits.items()},
    )

"""What goes wrong in the pairs of sentences."""

from tensormark.authoring.variants import mistakes

VARIANTS = mistakes(
    "make_sentence_pairs",
    """
## The coin

always_next: all pairs are true
    - rng.random() < 0.5
    + rng.random() < 0.0
never_next: no pair is true
    - rng.random() < 0.5
    + rng.random() < 1.0
rarely_next: fewer than half of the pairs are true
    - rng.random() < 0.5
    + rng.random() < 0.75
coin_by_document: the coin is tossed once for a document, not for each pair
    - for first, second in itertools.pairwise(document)
    + coin = rng.random()
    +         for first, second in itertools.pairwise(document)
    - rng.random() < 0.5
    + coin < 0.5
coin_in_turns: true and false pairs alternate; no coin is tossed
    - rng.random() < 0.5
    + len(pairs) % 2
rng_seeded: the rng makes no difference: it is seeded, or another one is used
    - pairs = []
    + pairs = rng.seed(0) or []
rng_ignored: random numbers do not come from the given rng
    - pairs = []
    + pairs, rng = [], random
labels_exchanged: the labels of true and false pairs are swapped
    - label = IS_NEXT
    + label = NOT_NEXT
    - rng.choice(documents[other]), NOT_NEXT
    + rng.choice(documents[other]), IS_NEXT
label_always_next: false pairs are labeled as true ones
    - rng.choice(documents[other]), NOT_NEXT
    + rng.choice(documents[other]), IS_NEXT

## The other document

same_document: second sentences of false pairs come from the same document
    - other = (number + 1 + rng.randrange(len(documents) - 1)) % len(documents)
    + other = number
any_document: second sentences of false pairs may come from the same document
    - other = (number + 1 + rng.randrange(len(documents) - 1)) % len(documents)
    + other = rng.randrange(len(documents))
next_document: all false sentences of a document come from the same other document
    - other = (number + 1 + rng.randrange(len(documents) - 1)) % len(documents)
    + other = (number + 1) % len(documents)
last_never_drawn: the last sentence of a document is never drawn
    - rng.choice(documents[other])
    + rng.choice(documents[other][:-1])
first_never_drawn: the first sentence of a document is never drawn
    - rng.choice(documents[other])
    + rng.choice(documents[other][1:])
first_always_drawn: false sentences are always the first of their document
    - rng.choice(documents[other])
    + documents[other][0]
second_is_first: a sentence is paired with itself
    - in itertools.pairwise(document)
    + in zip(document[:-1], document[:-1])
pairs_apart: every other sentence of the text is skipped as a first sentence
    - itertools.pairwise(document)
    + list(itertools.pairwise(document))[::2]
pairs_backwards: sentences are paired with the one before them
    - for first, second
    + for second, first

## The length

not_truncated: pairs that are too long are not cut
    - len(first) + len(second) + 3 > max_length
    + False
special_not_counted: the special tokens are not counted in the length
    - len(first) + len(second) + 3 > max_length
    + len(first) + len(second) > max_length
one_separator_not_counted: only two special tokens are counted in the length; there are three
    - len(first) + len(second) + 3 > max_length
    + len(first) + len(second) + 2 > max_length
one_cut_too_many: one token too many is cut
    - len(first) + len(second) + 3 > max_length
    + len(first) + len(second) + 3 >= max_length
second_cut: only the second sentence is cut
    - first if len(first) > len(second) else second
    + second or first
first_cut: only the first sentence is cut
    - first if len(first) > len(second) else second
    + first or second
shorter_cut: the shorter sentence is cut, not the longer one
    - first if len(first) > len(second) else second
    + first if 0 < len(first) < len(second) or not second else second
cut_to_halves: both sentences are cut to half of the length, even where one of them is short
    - first, second = list(first), list(second)
    + first, second = (list(some)[: (max_length - 3) // 2] for some in (first, second))
documents_cut: the documents are changed: tokens are cut from their sentences, not from copies
    - first, second = list(first), list(second)
    +
cut_at_the_front: tokens are cut from the beginning, not from the end
    - .pop()
    + .pop(0)
two_fifths_next = rarely_next
    - rng.random() < 0.5
    + rng.random() < 0.6
rng_of_chance = rng_ignored
    - pairs = []
    + pairs, rng = [], random.Random()
coin_in_turns_in_documents = coin_in_turns
    - for first, second in itertools.pairwise(document)
    + for place, (first, second) in enumerate(itertools.pairwise(document))
    - rng.random() < 0.5
    + place % 2
""",
)

"""The word pieces of the checkpoint.

The vocabulary is the alphabet and every word that is frequent enough, so rare and unknown words are
spelled out. WordPiece training on a language of a few hundred words has the same result; the
tokenizers library's trainer is not used because it breaks ties by hash order and returns another
vocabulary on every run.
"""

import collections
import string
from collections.abc import Iterable

from tokenizer import SPECIAL_TOKENS

_LEAST_COUNT = 20  # rarer words are spelled out: their vectors would hardly be trained


def make_vocabulary(sentences: Iterable[str]) -> list[str]:
    """List the pieces in order of their ids.

    Args:
        sentences: lower case, words and punctuation separated by spaces.

    Returns: special tokens, characters, characters that continue a word, words by frequency.
    """
    letters = string.ascii_lowercase + string.digits
    pieces = [*SPECIAL_TOKENS, *string.punctuation, *letters]
    pieces += [f"##{letter}" for letter in letters]
    counts = collections.Counter(" ".join(sentences).split())
    words = sorted(counts, key=lambda word: (-counts[word], word))
    known = set(pieces)
    return pieces + [word for word in words if counts[word] >= _LEAST_COUNT and word not in known]

"""Sentences that people type: bounded, encoded, and shown so that nothing in them acts."""

import sys
from collections.abc import Iterator

from arguments import visible
from sentences import InputError
from tokenizer import BertTokenizer

LONGEST = 2000  # characters of a sentence


def checked(text: str) -> str:
    """Return a typed sentence.

    Raises:
        InputError: it is too long, or its bytes are not text.
    """
    if len(text) > LONGEST:
        raise InputError(f"the sentence has more than {LONGEST} characters; give a shorter one")
    if any("\ud800" <= char <= "\udfff" for char in text):  # what Python makes of other bytes
        raise InputError("the sentence is not UTF-8 text")
    return text


def typed_lines(prompt: str = "") -> Iterator[str]:
    """Read sentences from the terminal or a pipe, one a line, to the end or an empty line.

    Args:
        prompt: shown on a terminal before each line.
    """
    asks = sys.stdin.isatty()
    while True:
        if asks:
            print(prompt, end="", file=sys.stderr, flush=True)
        line = sys.stdin.readline(LONGEST + 2)
        rest = line
        while len(rest) == LONGEST + 2 and not rest.endswith("\n"):  # of a line that is too long
            rest = sys.stdin.readline(LONGEST + 2)
        if not line or (asks and not line.strip()):
            return
        yield line.removesuffix("\n")


def encode(sentence: str, tokenizer: BertTokenizer, positions: int) -> tuple[dict, list[str]]:
    """Encode one sentence: a batch of one, and the names of its tokens.

    Raises:
        InputError: it has no words, only unknown ones, or more tokens than the model has positions.
    """
    batch = tokenizer([checked(sentence)])
    tokens = [tokenizer.tokenizer.id_to_token(i) for i in batch["input_ids"][0].tolist()]
    words = [token for token in tokens if token not in ("[CLS]", "[SEP]", "[PAD]", "[MASK]")]
    if not words and "[MASK]" not in tokens:
        raise InputError("the sentence is empty")
    if words and set(words) == {"[UNK]"}:
        raise InputError("the model knows none of these words: all of them would be read as [UNK]")
    if len(tokens) > positions:
        raise InputError(f"the sentence has {len(tokens)} tokens, the model {positions} positions")
    return batch, tokens


def report_new_words(sentence: str, tokenizer: BertTokenizer) -> None:
    """Say on stderr which words are not in the vocabulary, and how the model reads them."""
    encoded = tokenizer.tokenizer.encode(sentence, add_special_tokens=False)
    read = {}  # a word, as it was written: its tokens
    for word in dict.fromkeys(encoded.word_ids):
        tokens = encoded.tokens[slice(*encoded.word_to_tokens(word))]
        if len(tokens) > 1 or tokens == ["[UNK]"]:
            read[visible(sentence[slice(*encoded.word_to_chars(word))])] = " ".join(tokens)
    if read:
        listed = ", ".join(f"{word} (read as {tokens})" for word, tokens in read.items())
        lower = tokenizer.tokenizer.encode("A").ids == tokenizer.tokenizer.encode("a").ids
        why = "; capitals make no difference" if lower else ""
        print(f"not in the vocabulary: {listed}{why}", file=sys.stderr)

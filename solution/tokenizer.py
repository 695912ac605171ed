"""Sentences in, token ids out: BERT's WordPiece [1], using the `tokenizers` library.

Dimension key: B batch, T tokens.

[1] Devlin et al., "BERT: Pre-training of Deep Bidirectional Transformers", arXiv:1810.04805
"""

import json
from collections.abc import Sequence
from pathlib import Path

import torch
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors
from torch import Tensor

TOKENIZER_NAME = "tokenizer.json"
VOCAB_NAME = "vocab.txt"
OPTIONS_NAME = "tokenizer_config.json"
SPECIAL_TOKENS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")


def wordpiece(
    vocab: dict[str, int],
    do_lower_case: bool = True,
    strip_accents: bool | None = None,
    tokenize_chinese_chars: bool = True,
) -> Tokenizer:
    """Build BERT's tokenizer around a vocabulary.

    Args:
        vocab: the id of every piece; it includes the five special tokens, and pieces that
            continue a word start with "##".
        do_lower_case: for an uncased vocabulary.
        strip_accents: None: if text is lower-cased.
        tokenize_chinese_chars: make each character a word.
    """
    tokenizer = Tokenizer(models.WordPiece(vocab, unk_token="[UNK]", max_input_chars_per_word=100))
    tokenizer.normalizer = normalizers.BertNormalizer(
        clean_text=True,
        handle_chinese_chars=tokenize_chinese_chars,
        strip_accents=strip_accents,
        lowercase=do_lower_case,
    )
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.add_special_tokens(list(SPECIAL_TOKENS))
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[(token, vocab[token]) for token in ("[CLS]", "[SEP]")],
    )
    tokenizer.decoder = decoders.WordPiece(prefix="##")
    return tokenizer


def read_vocab(path: Path) -> dict[str, int]:
    """Read a vocab.txt: one piece per line; its id is the line number, counted from 0."""
    pieces = path.read_text(encoding="utf-8").removesuffix("\n").split("\n")
    vocab = {piece: number for number, piece in enumerate(pieces)}
    if len(vocab) < len(pieces):
        raise ValueError("it has a piece twice")
    missing = [token for token in SPECIAL_TOKENS if token not in vocab]
    if missing:
        raise ValueError(f"it lacks {', '.join(missing)}")
    return vocab


def read_options(path: Path) -> dict[str, bool]:
    """Read which text a vocab.txt is for, from the tokenizer_config.json beside it, if any."""
    values = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    options = ("do_lower_case", "strip_accents", "tokenize_chinese_chars")
    return {name: values[name] for name in options if values.get(name) is not None}


class BertTokenizer:
    """Turns sentences into padded batches of token ids, and ids back into text."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        tokenizer.no_padding()  # a tokenizer.json may set both; here they are arguments
        tokenizer.no_truncation()
        self.tokenizer = tokenizer
        self.vocab_size = tokenizer.get_vocab_size()
        self.pad_token_id = self._special_id("[PAD]")
        self.unk_token_id = self._special_id("[UNK]")
        self.cls_token_id = self._special_id("[CLS]")
        self.sep_token_id = self._special_id("[SEP]")
        self.mask_token_id = self._special_id("[MASK]")
        self.special_ids = [self._special_id(token) for token in SPECIAL_TOKENS]

    def _special_id(self, token: str) -> int:
        number = self.tokenizer.token_to_id(token)
        if number is None:
            raise ValueError(f"it lacks {token}")
        return number

    @classmethod
    def from_pretrained(cls, directory: str | Path) -> "BertTokenizer":
        """Open the tokenizer of a checkpoint directory: its tokenizer.json, else its vocab.txt.

        Raises:
            FileNotFoundError: the directory has neither file.
            ValueError: the file is damaged; the message names it.
        """
        whole = Path(directory) / TOKENIZER_NAME
        vocab = Path(directory) / VOCAB_NAME
        if not whole.is_file() and not vocab.is_file():
            raise FileNotFoundError(f"{directory}: there is no {TOKENIZER_NAME} or {VOCAB_NAME}")
        path = whole if whole.is_file() else vocab
        try:
            if path == whole:
                return cls(Tokenizer.from_str(path.read_text(encoding="utf-8")))
            pieces = read_vocab(path)
            path = path.with_name(OPTIONS_NAME)
            return cls(wordpiece(pieces, **read_options(path)))
        except Exception as error:  # the library raises plain Exception for a file it cannot read
            raise ValueError(f"{path}: not a BERT tokenizer: {error}") from error

    def __call__(
        self,
        sentences: Sequence[str],
        pairs: Sequence[str] | None = None,
        max_length: int | None = None,
    ) -> dict[str, Tensor]:
        """Encode sentences, or pairs of them, padded to the longest.

        Args:
            sentences: B sentences.
            pairs: B second sentences: [CLS] a [SEP] b [SEP]; None: [CLS] a [SEP].
            max_length: tokens per row at most; in a pair, the longer sentence is cut first.

        Returns: (B, T) int64 each: input_ids; token_type_ids, 0 up to the first [SEP] and 1 after
            it; attention_mask, 1 for a token and 0 for padding.

        Raises:
            TypeError: one string was given, not a list; ValueError: max_length is below 3.
        """
        if isinstance(sentences, str) or isinstance(pairs, str):
            raise TypeError("give a list of sentences, not one string")
        if max_length is None:
            self.tokenizer.no_truncation()
        elif (
            max_length < 3
        ):  # the library would ignore a length with no room for the special tokens
            raise ValueError(f"max_length must be at least 3: {max_length}")
        else:
            self.tokenizer.enable_truncation(max_length)  # longest first
        seconds = [None] * len(sentences) if pairs is None else pairs
        # One by one: encode_batch starts threads, and forking a process with threads is unsafe.
        rows = [self.tokenizer.encode(a, b) for a, b in zip(sentences, seconds, strict=True)]
        T = max((len(row.ids) for row in rows), default=0)
        return {
            "input_ids": padded([row.ids for row in rows], T, self.pad_token_id),
            "token_type_ids": padded([row.type_ids for row in rows], T, 0),
            "attention_mask": padded([[1] * len(row.ids) for row in rows], T, 0),
        }

    def decode(self, ids: Sequence[int] | Tensor) -> str:
        """Write the text of one row of token ids, without [CLS], [SEP] and padding."""
        numbers = ids.tolist() if isinstance(ids, Tensor) else list(ids)
        silent = {self.pad_token_id, self.cls_token_id, self.sep_token_id}
        kept = [number for number in numbers if number not in silent]
        return self.tokenizer.decode(kept, skip_special_tokens=False)


def padded(rows: list[list[int]], length: int, value: int) -> Tensor:
    """Write rows of different lengths into one tensor (B, length), padded with `value`."""
    whole = [row + [value] * (length - len(row)) for row in rows]
    return torch.tensor(whole, dtype=torch.int64).view(len(rows), length)

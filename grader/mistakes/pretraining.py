"""What goes wrong in the pairs of sentences, and in their batches."""

from tensormark.authoring.variants import forms, mistakes

OTHER = "other = (number + 1 + rng.randrange(len(documents) - 1)) % len(documents)"
PAIRWISE = "for first, second in itertools.pairwise(document)"
SENTENCE = "rng.choice(documents[other])"
HALVES = "first, second = (list(some)[: (max_length - 3) // 2] for some in (first, second))"
TOO_LONG = "len(first) + len(second) + 3 > max_length"
LONGER = "first if len(first) > len(second) else second"
KINDS = "[0] * (len(first) + 2) + [1] * (len(second) + 1)"
ROW = "[cls, *first, sep, *second, sep]"
MASK_ROWS = "padded([[1] * len(row) for row in rows], T, 0)"

OWN = (
    *mistakes(
        "make_sentence_pairs",
        "The coin",
        {
            "always_next": ("all pairs are true", *("rng.random() < 0.5", "rng.random() < 0.0")),
            "never_next": ("no pair is true", *("rng.random() < 0.5", "rng.random() < 1.0")),
            "rarely_next": (
                "far fewer than half of the pairs are true",
                *("rng.random() < 0.5", "rng.random() < 0.75"),
            ),
            "coin_by_document": (
                "the coin is tossed once for a document, not for each pair",
                *(PAIRWISE, f"coin = rng.random()\n        {PAIRWISE}"),
                *("rng.random() < 0.5", "coin < 0.5"),
            ),
            "coin_in_turns": (
                "true and false pairs take turns; no coin is tossed",
                *("rng.random() < 0.5", "len(pairs) % 2"),
            ),
            "rng_seeded": (
                "the rng makes no difference: it is seeded, or another one is used",
                *("pairs = []", "pairs = rng.seed(0) or []"),
            ),
            "rng_ignored": (
                "random numbers do not come from the given rng",
                *("pairs = []", "pairs, rng = [], random"),
            ),
            "labels_exchanged": (
                "the labels of true and false pairs are exchanged",
                *("label = IS_NEXT", "label = NOT_NEXT"),
                *(
                    "rng.choice(documents[other]), NOT_NEXT",
                    "rng.choice(documents[other]), IS_NEXT",
                ),
            ),
            "label_always_next": (
                "false pairs are labeled as true ones",
                *(
                    "rng.choice(documents[other]), NOT_NEXT",
                    "rng.choice(documents[other]), IS_NEXT",
                ),
            ),
        },
    ),
    *mistakes(
        "make_sentence_pairs",
        "The other document",
        {
            "same_document": (
                "second sentences of false pairs come from the same document",
                *(OTHER, "other = number"),
            ),
            "any_document": (
                "second sentences of false pairs may come from the same document",
                *(OTHER, "other = rng.randrange(len(documents))"),
            ),
            "next_document": (
                "all false sentences of a document come from the same other document",
                *(OTHER, "other = (number + 1) % len(documents)"),
            ),
            "last_never_drawn": (
                "the last sentence of a document is never drawn",
                *(SENTENCE, "rng.choice(documents[other][:-1])"),
            ),
            "first_never_drawn": (
                "the first sentence of a document is never drawn",
                *(SENTENCE, "rng.choice(documents[other][1:])"),
            ),
            "first_always_drawn": (
                "false sentences are always the first of their document",
                *(SENTENCE, "documents[other][0]"),
            ),
            "second_is_first": (
                "a sentence is paired with itself",
                *("in itertools.pairwise(document)", "in zip(document[:-1], document[:-1])"),
            ),
            "pairs_apart": (
                "every other sentence of the text starts no pair",
                *("itertools.pairwise(document)", "list(itertools.pairwise(document))[::2]"),
            ),
            "pairs_backwards": (
                "sentences are paired with the one before them",
                *("for first, second", "for second, first"),
            ),
        },
    ),
    *mistakes(
        "make_sentence_pairs",
        "The length",
        {
            "not_truncated": ("pairs that are too long are not cut", *(TOO_LONG, "False")),
            "special_not_counted": (
                "the special tokens are not counted in the length",
                *(TOO_LONG, TOO_LONG.replace(" + 3", "")),
            ),
            "one_separator_not_counted": (
                "only two special tokens are counted in the length; there are three",
                *(TOO_LONG, TOO_LONG.replace(" + 3", " + 2")),
            ),
            "one_cut_too_many": (
                "one token too many is cut",
                *(TOO_LONG, TOO_LONG.replace(">", ">=")),
            ),
            "second_cut": ("only the second sentence is cut", *(LONGER, "second or first")),
            "first_cut": ("only the first sentence is cut", *(LONGER, "first or second")),
            "shorter_cut": (
                "the shorter sentence is cut, not the longer one",
                *(LONGER, "first if 0 < len(first) < len(second) or not second else second"),
            ),
            "cut_to_halves": (
                "both sentences are cut to half of the length, even where one of them is short",
                *("first, second = list(first), list(second)", HALVES),
            ),
            "documents_cut": (
                "the documents are changed: tokens are cut from their sentences, not from copies",
                *("first, second = list(first), list(second)\n            ", ""),
            ),
            "cut_at_the_front": (
                "tokens are cut from the beginning, not from the end",
                *(".pop()", ".pop(0)"),
            ),
        },
    ),
    *mistakes(
        "pair_batch",
        "The tokens",
        {
            "special_ids_in_code": (
                "the ids of the special tokens are written into the code",
                *(
                    "tokenizer.cls_token_id, tokenizer.sep_token_id, tokenizer.pad_token_id",
                    "2, 3, 0",
                ),
            ),
            "cls_missing": (
                "the classification token at the beginning is missing",
                *(ROW, "[*first, sep, *second, sep]"),
                *(KINDS, "[0] * (len(first) + 1) + [1] * (len(second) + 1)"),
            ),
            "middle_sep_missing": (
                "the separator between the sentences is missing",
                *(ROW, "[cls, *first, *second, sep]"),
                *(KINDS, "[0] * (len(first) + 1) + [1] * (len(second) + 1)"),
            ),
            "last_sep_missing": (
                "the separator at the end is missing",
                *(ROW, "[cls, *first, sep, *second]"),
                *(KINDS, "[0] * (len(first) + 2) + [1] * len(second)"),
            ),
            "second_cls": (
                "the first separator is replaced by a classification token",
                *(ROW, "[cls, *first, cls, *second, sep]"),
            ),
            "sentences_exchanged": (
                "the second sentence comes before the first",
                *(ROW, "[cls, *second, sep, *first, sep]"),
                *(KINDS, "[0] * (len(second) + 2) + [1] * (len(first) + 1)"),
            ),
        },
    ),
    *mistakes(
        "pair_batch",
        "The segments",
        {
            "one_segment": (
                "all tokens are in the first segment",
                *(KINDS, "[0] * (len(first) + len(second) + 3)"),
            ),
            "segments_exchanged": (
                "the two segments are exchanged",
                *(KINDS, "[1] * (len(first) + 2) + [0] * (len(second) + 1)"),
            ),
            "segments_from_one": (
                "the segments are numbered 1 and 2",
                *(KINDS, "[1] * (len(first) + 2) + [2] * (len(second) + 1)"),
            ),
            "sep_in_second_segment": (
                "the separator after the first sentence is in the second segment",
                *(KINDS, "[0] * (len(first) + 1) + [1] * (len(second) + 2)"),
            ),
            "last_sep_in_first_segment": (
                "the last separator is in the first segment",
                *(KINDS, "[0] * (len(first) + 2) + [1] * len(second) + [0]"),
            ),
            "padding_in_second_segment": (
                "padding is in the second segment",
                *("padded(kinds, T, 0)", "padded(kinds, T, 1)"),
            ),
        },
    ),
    *mistakes(
        "pair_batch",
        "The padding",
        {
            "padding_is_sep": (
                "rows are filled up with separators, not with padding tokens",
                *("padded(rows, T, pad)", "padded(rows, T, sep)"),
            ),
            "padding_is_zero": (
                "rows are filled up with 0, which need not be the id of padding",
                *("padded(rows, T, pad)", "padded(rows, T, 0)"),
            ),
            "padding_in_front": (
                "the ids are padded in front of the sentences, not after them",
                *("padded(rows, T, pad)", "padded([r[::-1] for r in rows], T, pad).flip(1)"),
            ),
            "zeros_not_attended": (
                "the attention mask is 0 where the id is 0, which need not be padding",
                *(MASK_ROWS, "(padded(rows, T, pad) != 0).long()"),
            ),
            "longer_than_longest": (
                "the rows are longer than the longest pair",
                *(
                    "max(len(row) for row in rows)",
                    "sum(max(len(pair[n]) for pair in pairs) for n in (0, 1)) + 3",
                ),
            ),
            "padding_attended": (
                "the attention mask is 1 for padding too",
                *(MASK_ROWS, "torch.ones(len(rows), T, dtype=torch.int64)"),
            ),
            "pair_mask_inverted": (
                "the attention mask is 0 for tokens and 1 for padding",
                *(MASK_ROWS, f"1 - {MASK_ROWS}"),
            ),
            "special_not_attended": (
                "the attention mask hides special tokens",
                *("[[1] * len(row) for row in rows]", "[[int(t > sep) for t in r] for r in rows]"),
            ),
            "batch_labels_exchanged": (
                "the labels are exchanged",
                *("[label for _, _, label in pairs]", "[1 - label for _, _, label in pairs]"),
            ),
        },
    ),
)

NAMED = {variant.id: variant for variant in OWN}
VARIANTS = (
    *OWN,
    *forms(
        NAMED["rng_ignored"], {"rng_of_chance": ("pairs = []", "pairs, rng = [], random.Random()")}
    ),
    *forms(
        NAMED["special_not_attended"],
        {
            "cls_and_sep_not_attended": (
                "[[1] * len(row) for row in rows]",
                "[[int(t not in (cls, sep)) for t in r] for r in rows]",
            )
        },
    ),
    *forms(
        NAMED["coin_in_turns"],
        {
            "coin_in_turns_in_documents": (
                *(
                    PAIRWISE,
                    "for place, (first, second) in enumerate(itertools.pairwise(document))",
                ),
                *("rng.random() < 0.5", "place % 2"),
            )
        },
    ),
)

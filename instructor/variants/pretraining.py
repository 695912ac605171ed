"""What goes wrong in the data of the two pre-training tasks."""

from instructor.variants import mistakes

SPECIAL = " & ~special"
MASK = "torch.where(chosen & (fate < 0.8), mask_token_id, input_ids)"
OTHERS = "torch.where(chosen & (fate >= 0.9), others, hidden)"
DRAWN = "torch.randint(vocab_size, input_ids.shape, generator=generator)"
LABELS = "labels = torch.where(chosen, input_ids, IGNORED)"
OTHER = "other = (number + 1 + rng.randrange(len(documents) - 1)) % len(documents)"
PAIRED = "pairs.append((*truncate_pair(first, second, max_length), label))"

VARIANTS = (
    *mistakes(
        "mask_tokens",
        "Choosing",
        {
            "special_chosen": ("special tokens are chosen too", *(SPECIAL, "")),
            "probability_in_code": (
                "the probability is written into the code",
                *("< probability)", "< 0.15)"),
            ),
            "probability_complement": (
                "the tokens that should stay are chosen, and the others not",
                *("< probability)", ">= probability)"),
            ),
            "nothing_chosen": ("no token is ever chosen", *("< probability)", "< 0.0)")),
        },
    ),
    *mistakes(
        "mask_tokens",
        "The labels",
        {
            "all_labelled": (
                "every token has a label, not only the chosen ones",
                *(LABELS, "labels = input_ids.clone()"),
            ),
            "labels_of_hidden": (
                "the labels are taken after hiding, when the truth is gone",
                *(LABELS, "labels = torch.where(chosen, mask_token_id, IGNORED)"),
            ),
            "ignored_as_zero": (
                "tokens without a label have label 0, which is a token",
                *(LABELS, "labels = torch.where(chosen, input_ids, 0)"),
            ),
            "labels_of_others": (
                "the tokens that were not chosen have the labels",
                *(LABELS, "labels = torch.where(chosen, IGNORED, input_ids)"),
            ),
        },
    ),
    *mistakes(
        "mask_tokens",
        "Hiding",
        {
            "always_mask": (
                "all chosen tokens become the mask token",
                *(MASK, "torch.where(chosen, mask_token_id, input_ids)"),
                *(OTHERS, "hidden"),
            ),
            "never_random": ("no chosen token becomes another one", *(OTHERS, "hidden")),
            "never_kept": (
                "no chosen token stays as it is",
                *("fate >= 0.9", "fate >= 0.8"),
            ),
            "fates_exchanged": (
                "most of the chosen tokens become random ones, where they should be masked",
                *("fate < 0.8", "fate < 0.1"),
                *("fate >= 0.9", "fate >= 0.2"),
            ),
            "random_everywhere": (
                "tokens that were not chosen become random ones as well",
                *("(chosen & (fate >= 0.9)", "((fate >= 0.9)"),
            ),
            "random_of_few": (
                "random tokens come from a part of the vocabulary",
                *(DRAWN, DRAWN.replace("vocab_size", "max(2, vocab_size // 4)")),
            ),
            "hidden_in_place": (
                "the ids that were given are changed in place",
                *(OTHERS, f"input_ids.copy_({OTHERS})"),
            ),
        },
    ),
    *mistakes(
        "mask_tokens",
        "Randomness",
        {
            "generator_ignored": (
                "random numbers do not come from the generator that is given",
                *("special = torch.isin", "generator = None\n    special = torch.isin"),
            ),
        },
    ),
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
            "rng_ignored": (
                "random numbers do not come from the rng that is given",
                *("pairs = []", "pairs, rng = [], random"),
            ),
            "labels_exchanged": (
                "the labels of true and of false pairs are exchanged",
                *("following, IS_NEXT", "following, NOT_NEXT"),
                *(
                    "rng.choice(documents[other]), NOT_NEXT",
                    "rng.choice(documents[other]), IS_NEXT",
                ),
            ),
            "label_always_next": (
                "false pairs are labelled as true ones",
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
                "false seconds come from the same document",
                *(OTHER, "other = number"),
            ),
            "any_document": (
                "false seconds may come from the same document",
                *(OTHER, "other = rng.choice([number, number, (number + 1) % len(documents)])"),
            ),
            "second_is_first": (
                "a sentence is paired with itself",
                *("in itertools.pairwise(document)", "in zip(document[:-1], document[:-1])"),
            ),
            "pairs_apart": (
                "every second sentence of the text begins no pair",
                *("itertools.pairwise(document)", "list(itertools.pairwise(document))[::2]"),
            ),
            "pairs_backwards": (
                "sentences are paired with the one before them",
                *("for first, following", "for following, first"),
            ),
        },
    ),
    *mistakes(
        "make_sentence_pairs",
        "The length",
        {
            "not_truncated": (
                "pairs that are too long are not cut",
                *(PAIRED, "pairs.append((first, second, label))"),
            ),
            "special_not_counted": (
                "the special tokens are not counted in the length",
                *("second, max_length)", "second, max_length + 3)"),
            ),
            "second_cut": (
                "only the second sentence is cut",
                *(
                    PAIRED,
                    "pairs.append((first, second[: max(0, max_length - len(first) - 3)], label))",
                ),
            ),
        },
    ),
)

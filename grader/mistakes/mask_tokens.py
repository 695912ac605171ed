"""What goes wrong when tokens are hidden."""

from tensormark.authoring.variants import mistakes

VARIANTS = mistakes(
    "mask_tokens",
    """
## Choosing

special_chosen: special tokens are chosen too
    - & ~special
    +
probability_in_code: the probability is hard-coded
    - < probability)
    + < 0.15)
probability_complement: the tokens that should not be chosen are chosen, and the others are not
    - < probability)
    + >= probability)
nothing_chosen: no token is ever chosen
    - < probability)
    + < 0.0)
chosen_by_column: the same places are chosen in every row
    - torch.rand(input_ids.shape, generator=generator) < probability
    + torch.rand(input_ids.shape[1], generator=generator) < probability

## The labels

all_labelled: every token has a label, not only the chosen ones
    - labels = torch.where(chosen, input_ids, IGNORED)
    + labels = input_ids.clone()
labels_of_hidden: the labels are taken after hiding, when the true ids are gone
    - labels = torch.where(chosen, input_ids, IGNORED)
    + labels = torch.where(chosen, mask_token_id, IGNORED)
ignored_as_minus_one: tokens without a label have label -1, which cross_entropy does not ignore
    - labels = torch.where(chosen, input_ids, IGNORED)
    + labels = torch.where(chosen, input_ids, -1)
ignored_as_zero: tokens without a label have label 0, which is a token id
    - labels = torch.where(chosen, input_ids, IGNORED)
    + labels = torch.where(chosen, input_ids, 0)
labels_of_others: the tokens that were not chosen have the labels
    - labels = torch.where(chosen, input_ids, IGNORED)
    + labels = torch.where(chosen, IGNORED, input_ids)

## Hiding

always_mask: all chosen tokens become [MASK]
    - torch.where(chosen & (fate < 0.8), mask_token_id, input_ids)
    + torch.where(chosen, mask_token_id, input_ids)
    - torch.where(chosen & (fate >= 0.9), others, hidden)
    + hidden
never_random: no chosen token becomes a random one
    - torch.where(chosen & (fate >= 0.9), others, hidden)
    + hidden
never_kept: no chosen token stays as it is
    - fate >= 0.9
    + fate >= 0.8
fates_exchanged: most chosen tokens become random ones, not [MASK]
    - fate < 0.8
    + fate < 0.1
    - fate >= 0.9
    + fate >= 0.2
random_everywhere: tokens that were not chosen become random ones as well
    - (chosen & (fate >= 0.9)
    + ((fate >= 0.9)
random_of_few: random tokens come from a part of the vocabulary
    - torch.randint(vocab_size, input_ids.shape, generator=generator)
    + torch.randint(max(2, vocab_size // 4), input_ids.shape, generator=generator)
random_of_batch: random tokens are other tokens of the batch, not any of the vocabulary
    - torch.randint(vocab_size, input_ids.shape, generator=generator)
    + input_ids[torch.randperm(len(input_ids), generator=generator)]
random_without_one: the first or the last id of the vocabulary is never drawn
    - torch.randint(vocab_size, input_ids.shape, generator=generator)
    + torch.randint(vocab_size - 1, input_ids.shape, generator=generator)
random_not_special: special ids are left out when random tokens are drawn
    - torch.randint(vocab_size, input_ids.shape, generator=generator)
    + torch.tensor([n for n in range(vocab_size) if n not in special_ids])[torch.randint(vocab_size - len(special_ids), input_ids.shape, generator=generator)]
fate_by_choice: the same random number decides whether a token is chosen and what becomes of it
    - torch.rand(input_ids.shape, generator=generator) < probability
    + fate := torch.rand(input_ids.shape, generator=generator)) < probability
    - fate = torch.rand(input_ids.shape, generator=generator)
    +
    - chosen = (fate
    + chosen = ((fate
rest_halved_twice: 10% of the unmasked chosen tokens become random, not half of them
    - fate >= 0.9
    + fate >= 0.98
results_exchanged: the two results are swapped: the labels come first
    - return torch.where(chosen & (fate >= 0.9), others, hidden), labels
    + return labels, torch.where(chosen & (fate >= 0.9), others, hidden)
hidden_in_place: the input ids are changed in place
    - torch.where(chosen & (fate >= 0.9), others, hidden)
    + input_ids.copy_(torch.where(chosen & (fate >= 0.9), others, hidden))

## Randomness

generator_ignored: random numbers do not come from the given generator
    - special = torch.isin
    + generator = None
    +     special = torch.isin
generator_seeded: the generator makes no difference: it is seeded, or another one is used
    - special = torch.isin
    + generator.manual_seed(0)
    +     special = torch.isin
generator_of_chance = generator_ignored
    - special = torch.isin
    + generator = torch.Generator()
    +     generator.seed()
    +     special = torch.isin
""",
)

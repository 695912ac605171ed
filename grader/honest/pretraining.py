"""Pre-training written in other ways: what is drawn, the heads, the loss."""

from tensormark.authoring.variants import bodies

HONEST = (
    *bodies(
        "mask_tokens",
        {
            "a_fixed_number_as_released_with_bert": """
            hidden, labels = input_ids.clone(), torch.full_like(input_ids, IGNORED)
            for b, row in enumerate(input_ids.tolist()):
                places = [t for t, token in enumerate(row) if token not in special_ids]
                order = torch.randperm(len(places), generator=generator).tolist()
                for t in (places[n] for n in order[: round(len(places) * probability)]):
                    labels[b, t] = row[t]
                    if torch.rand((), generator=generator) < 0.8:
                        hidden[b, t] = mask_token_id
                    elif torch.rand((), generator=generator) < 0.5:
                        hidden[b, t] = torch.randint(vocab_size, (), generator=generator)
            return hidden, labels
            """,
            "one_number_for_choice_and_fate": """
            special = torch.isin(input_ids, torch.tensor(special_ids))
            number = torch.rand(input_ids.shape, generator=generator).masked_fill(special, 1.0)
            labels = input_ids.masked_fill(number >= probability, IGNORED)
            hidden = input_ids.masked_fill(number < 0.8 * probability, mask_token_id)
            random_one = (number >= 0.8 * probability) & (number < 0.9 * probability)
            drawn = torch.rand(input_ids.shape, generator=generator, dtype=torch.float64)
            return hidden.where(~random_one, (drawn * vocab_size).long()), labels
            """,
            "fates_in_a_random_order": """
            special = torch.isin(input_ids, torch.tensor(special_ids))
            chances = torch.full(input_ids.shape, probability)
            chosen = torch.bernoulli(chances, generator=generator).bool() & ~special
            places = chosen.flatten().nonzero()[:, 0]
            places = places[torch.randperm(len(places), generator=generator)]
            first, second = round(0.8 * len(places)), round(0.9 * len(places))
            hidden = input_ids.flatten().clone()
            hidden[places[:first]] = mask_token_id
            drawn = torch.randint(vocab_size, (second - first,), generator=generator)
            hidden[places[first:second]] = drawn
            return hidden.view_as(input_ids), input_ids.where(chosen, IGNORED)
            """,
        },
    ),
    *bodies(
        "make_sentence_pairs",
        {
            "half_of_them_true": """
            number = sum(len(document) - 1 for document in documents)
            coins = [IS_NEXT, NOT_NEXT] * (number // 2 + 1)
            rng.shuffle(coins)
            pairs = []
            for document in documents:
                for first, second in zip(document, document[1:]):
                    if coins[-1] == NOT_NEXT:
                        other = rng.choice(documents)
                        while other is document:
                            other = rng.choice(documents)
                        second = other[int(len(other) * rng.random())]
                    both = [first[:], second[:]]
                    while len(both[0]) + len(both[1]) + 3 > max_length:
                        max(both, key=len).pop()
                    pairs.append((*both, coins.pop()))
            return pairs
            """
        },
    ),
    *bodies(
        "mlm_head",
        {
            "head_with_gelu_by_hand": """
            x = self.dense(hidden_states)
            x = x * 0.5 * (1.0 + torch.erf(x / 2 ** 0.5))
            return F.linear(self.layer_norm(x), word_embedding) + self.bias
            """
        },
    ),
    *bodies(
        "pretraining_loss",
        {
            "loss_by_hand": """
            shares = prediction_logits - prediction_logits.logsumexp(-1, keepdim=True)
            counts = labels.ne(IGNORED)
            own = shares.gather(-1, labels.clamp(min=0).unsqueeze(-1)).squeeze(-1)
            following = next_logits.logsumexp(1) - next_logits[range(len(next_labels)), next_labels]
            return following.mean() - own.where(counts, 0.0).sum() / counts.sum()
            """
        },
    ),
)

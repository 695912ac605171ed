"""The extensions written in other ways."""

from tensormark.authoring.variants import Honest, bodies

HONEST = (
    *bodies(
        "adamw",
        {
            "adamw_by_the_book": """
            beta1, beta2 = group["betas"]
            state["step"] = state["step"] + 1
            t = state["step"]
            p.data = p.data - group["lr"] * group["weight_decay"] * p.data
            state["exp_avg"] = beta1 * state["exp_avg"] + (1 - beta1) * grad
            state["exp_avg_sq"] = beta2 * state["exp_avg_sq"] + (1 - beta2) * grad ** 2
            m, v = state["exp_avg"], state["exp_avg_sq"]
            if group["correct_bias"]:
                m, v = m / (1 - beta1 ** t), v / (1 - beta2 ** t)
            p.data = p.data - group["lr"] * m / (v.sqrt() + group["eps"])
            """,
            "adamw_efficient": """
            beta1, beta2 = group["betas"]
            state["step"] += 1
            state["exp_avg"].lerp_(grad, 1 - beta1)
            state["exp_avg_sq"].mul_(beta2).add_((1 - beta2) * grad.square())
            rate = group["lr"]
            if group["correct_bias"]:
                rate *= (1 - beta2 ** state["step"]) ** 0.5 / (1 - beta1 ** state["step"])
            p.sub_(group["lr"] * group["weight_decay"] * p)
            p.sub_(rate * state["exp_avg"] / (state["exp_avg_sq"].sqrt() + group["eps"]))
            """,
            "adamw_decay_in_one": """
            beta1, beta2 = group["betas"]
            state["step"] += 1
            state["exp_avg"] = torch.lerp(grad, state["exp_avg"], beta1)
            state["exp_avg_sq"] = torch.lerp(grad * grad, state["exp_avg_sq"], beta2)
            mean, square = state["exp_avg"].clone(), state["exp_avg_sq"].clone()
            if group["correct_bias"]:
                mean /= 1 - math.pow(beta1, state["step"])
                square /= 1 - math.pow(beta2, state["step"])
            change = mean / (torch.sqrt(square) + group["eps"]) + group["weight_decay"] * p
            p -= group["lr"] * change
            """,
            "adamw_of_copies": """
            (b1, b2), t = group["betas"], state["step"] + 1
            m = torch.lerp(state["exp_avg"], grad, 1 - b1)
            v = torch.lerp(state["exp_avg_sq"], grad.pow(2), 1 - b2)
            state.update(step=t, exp_avg=m, exp_avg_sq=v)
            c1, c2 = (1 - b1 ** t, 1 - b2 ** t) if group["correct_bias"] else (1, 1)
            new = p - group["lr"] * group["weight_decay"] * p
            new -= group["lr"] / c1 * m / (v.sqrt() / math.sqrt(c2) + group["eps"])
            p.copy_(new)
            """,
        },
    ),
    Honest(
        "pretraining_in_loops",
        {
            "mask_tokens": """
            hidden, labels = input_ids.clone(), torch.full_like(input_ids, IGNORED)
            draws = torch.rand(3, *input_ids.shape, generator=generator, dtype=torch.float64)
            for b, row in enumerate(input_ids.tolist()):
                for t, token in enumerate(row):
                    choice, fate, other = draws[:, b, t].tolist()
                    if token in special_ids or choice >= probability:
                        continue
                    labels[b, t] = token
                    if fate >= 0.2:
                        hidden[b, t] = mask_token_id
                    elif fate < 0.1:
                        hidden[b, t] = int(other * vocab_size)
            return hidden, labels
            """,
            "make_sentence_pairs": """
            pairs = []
            for i in range(len(documents)):
                for j in range(len(documents[i]) - 1):
                    if rng.randint(0, 1):
                        pair = documents[i][j + 1], IS_NEXT
                    else:
                        k = rng.choice([n for n in range(len(documents)) if n != i])
                        pair = documents[k][rng.randrange(len(documents[k]))], NOT_NEXT
                    first, second = documents[i][j], pair[0]
                    while len(first) + len(second) > max_length - 3:
                        if len(first) >= len(second):
                            first = first[:-1]
                        else:
                            second = second[:-1]
                    pairs.append((first, second, pair[1]))
            return pairs
            """,
            "mlm_head": """
            x = F.gelu(F.linear(hidden_states, self.dense.weight, self.dense.bias))
            norm = self.layer_norm
            x = F.layer_norm(x, norm.normalized_shape, norm.weight, norm.bias, norm.eps)
            return F.linear(x, word_embedding, self.bias)
            """,
            "nsp_head": """
            layer = self.seq_relationship
            return torch.einsum("bd,cd->bc", pooler_output, layer.weight) + layer.bias
            """,
            "pretraining_loss": """
            keep = labels != IGNORED
            chosen = F.log_softmax(prediction_logits[keep], dim=-1)
            first = -chosen.gather(-1, labels[keep][:, None]).mean()
            second = F.nll_loss(F.log_softmax(next_logits, dim=-1), next_labels)
            return first + second
            """,
        },
    ),
    Honest(
        "pretraining_otherwise",
        {
            "mask_tokens": """
            ordinary = torch.ones_like(input_ids, dtype=torch.bool)
            for special in special_ids:
                ordinary &= input_ids != special
            chances = torch.where(ordinary, probability, 0.0)
            chosen = torch.bernoulli(chances, generator=generator).bool()
            labels = input_ids.masked_fill(~chosen, -100)
            kind = torch.randint(10, (int(chosen.sum()),), generator=generator)
            new = input_ids[chosen]
            new[kind < 8] = mask_token_id
            drawn = torch.randint(0, vocab_size, (int((kind == 8).sum()),), generator=generator)
            new[kind == 8] = drawn
            hidden = input_ids.clone()
            hidden[chosen] = new
            return hidden, labels
            """,
            "make_sentence_pairs": """
            pairs = []
            for document in documents:
                others = [sentence for one in documents if one is not document for sentence in one]
                for number in range(1, len(document)):
                    false = rng.random() >= 0.5
                    second = rng.choice(others) if false else document[number]
                    first, room = document[number - 1], max_length - 3
                    short = min(len(first), len(second), room // 2)
                    if len(first) < len(second):
                        pair = first[: max(short, room - len(second))], second[: room - short]
                    else:
                        pair = first[: room - short], second[: max(short, room - len(first))]
                    pairs.append([*pair, NOT_NEXT if false else IS_NEXT])
            return pairs
            """,
            "pair_batch": """
            cls, sep = tokenizer.cls_token_id, tokenizer.sep_token_id
            T = max(len(first) + len(second) for first, second, _ in pairs) + 3
            ids = torch.full((len(pairs), T), tokenizer.pad_token_id)
            kinds, mask = torch.zeros_like(ids), torch.zeros_like(ids)
            for row, (first, second, _) in enumerate(pairs):
                middle, end = len(first) + 2, len(first) + len(second) + 3
                ids[row, :end] = torch.tensor([cls] + first + [sep] + second + [sep])
                kinds[row, middle:end] = 1
                mask[row, :end] = 1
            return {
                "input_ids": ids,
                "token_type_ids": kinds,
                "attention_mask": mask,
                "next_sentence_label": torch.tensor([pair[2] for pair in pairs]),
            }
            """,
            "mlm_head": """
            activated = F.gelu(self.dense(hidden_states))
            scores = torch.einsum("...d,vd->...v", self.layer_norm(activated), word_embedding)
            return scores + self.bias
            """,
            "nsp_head": """
            layer = self.seq_relationship
            return F.linear(pooler_output, layer.weight, layer.bias)
            """,
            "pretraining_loss": """
            V = prediction_logits.size(-1)
            loss = nn.CrossEntropyLoss()
            first = loss(prediction_logits.reshape(-1, V), labels.reshape(-1))
            return first + loss(next_logits.view(-1, 2), next_labels.view(-1))
            """,
        },
    ),
    *bodies(
        "causal_mask",
        {
            "rows_of_padding_hidden": """
            tokens = attention_mask.bool()
            both = tokens[:, :, None] & tokens[:, None, :]
            seen = torch.tril(both).unsqueeze(1)
            return torch.full(seen.shape, HIDDEN).masked_fill(seen, 0.0)
            """,
            "rows_of_padding_see_everything": """
            B, T = attention_mask.shape
            hidden = torch.zeros(B, 1, T, T)
            for b, row in enumerate(attention_mask.tolist()):
                for t in range(T) if any(row) else ():
                    if row[t]:
                        hidden[b, 0, t] = HIDDEN
                        hidden[b, 0, t, [s for s in range(t + 1) if row[s]]] = 0.0
            return hidden
            """,
        },
    ),
    Honest(
        "transformer_step_by_step",
        {
            "sinusoidal_positions": """
            table = torch.zeros(length, width)
            for position in range(length):
                for i in range(0, width, 2):
                    angle = position / 10000 ** (i / width)
                    table[position, i] = math.sin(angle)
                    table[position, i + 1] = math.cos(angle)
            return table
            """,
            "causal_mask": """
            T = attention_mask.size(-1)
            later = torch.triu(torch.ones(T, T, dtype=torch.bool), diagonal=1)
            forbidden = later | (attention_mask == 0)[:, None, None, :]
            return torch.zeros(forbidden.shape).masked_fill(forbidden, HIDDEN)
            """,
            "decoder_layer": """
            def sublayer(x, norm, f):
                if self.pre_norm:
                    return x + self.dropout(f(norm(x)))
                return norm(x + self.dropout(f(x)))

            x = sublayer(states, self.self_norm, lambda y: self.self_attention(y, y, self_mask))
            x = sublayer(
                x, self.cross_norm, lambda y: self.cross_attention(y, encoded, cross_mask)
            )
            return sublayer(x, self.feed_norm, self.feed_forward)
            """,
        },
    ),
    Honest(
        "transformer_otherwise",
        {
            "sinusoidal_positions": """
            pairs = torch.arange(width // 2, dtype=torch.float64)
            angle = torch.arange(length)[:, None] / 10000.0 ** (2 * pairs / width)
            table = torch.empty(length, width)
            table[:, 0::2], table[:, 1::2] = angle.sin(), angle.cos()
            return table
            """,
            "causal_mask": """
            B, T = attention_mask.shape
            order = torch.arange(T)
            allowed = (order[None, :] <= order[:, None]) & attention_mask.bool()[:, None, None, :]
            return torch.where(allowed, 0.0, HIDDEN)
            """,
            "decoder_layer": """
            x = states
            pre = self.pre_norm
            y = self.self_norm(x) if pre else x
            x = x + self.dropout(self.self_attention(y, y, self_mask))
            x = x if pre else self.self_norm(x)
            y = self.cross_norm(x) if pre else x
            x = x + self.dropout(self.cross_attention(y, encoded, cross_mask))
            x = x if pre else self.cross_norm(x)
            y = self.feed_norm(x) if pre else x
            x = x + F.dropout(self.feed_forward(y), self.dropout.p, self.training)
            return x if pre else self.feed_norm(x)
            """,
        },
    ),
)

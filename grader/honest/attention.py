"""Attention written in other ways."""

from tensormark.authoring.variants import bodies

HONEST = bodies(
    "attention",
    {
        "einsum": """
            scores = torch.einsum("bhqd,bhkd->bhqk", query, key) / self.attention_head_size ** 0.5
            probs = self.dropout(torch.softmax(scores + attention_mask, dim=-1))
            return torch.einsum("bhqk,bhkd->bqhd", probs, value).flatten(2)
            """,
        "bmm": """
            B, H, T, d = query.size()
            q, k, v = (x.reshape(B * H, T, d) for x in (query, key, value))
            scores = torch.bmm(q, k.transpose(1, 2)).view(B, H, T, T) * d ** -0.5
            scores += attention_mask
            probs = self.dropout(nn.Softmax(dim=3)(scores)).view(B * H, T, T)
            context = torch.bmm(probs, v).view(B, H, T, d)
            return context.permute(0, 2, 1, 3).contiguous().view(B, T, -1)
            """,
        "library_function": """
            rate = self.dropout.p if self.training else 0.0
            context = F.scaled_dot_product_attention(
                query, key, value, attn_mask=attention_mask, dropout_p=rate
            )
            return context.transpose(1, 2).flatten(2)
            """,
        "query_scaled_first": """
            d = query.shape[-1]
            scores = torch.matmul(query / math.sqrt(math.sqrt(d)), (key / d ** 0.25).mT)
            attention_probs = self.dropout((scores + attention_mask).softmax(-1))
            context = torch.matmul(attention_probs, value).transpose(1, 2)
            return context.reshape(context.size(0), context.size(1), self.all_head_size)
            """,
        "filled_with_least": """
            scores = query @ key.transpose(2, 3) / math.sqrt(self.attention_head_size)
            least = torch.finfo(scores.dtype).min
            scores = torch.where(attention_mask < 0, torch.full_like(scores, least), scores)
            context = self.dropout(F.softmax(scores, dim=-1)) @ value
            return torch.cat([head for head in context.unbind(dim=1)], dim=-1)
            """,
        "filled_where_it_is_minus_ten_thousand": """
            scores = torch.matmul(query, key.transpose(-1, -2))
            scores = scores.masked_fill(attention_mask == -10000, -1e9)
            weights = self.dropout(F.softmax(scores / math.sqrt(query.size(-1)), dim=-1))
            return torch.matmul(weights, value).transpose(1, 2).contiguous().flatten(2)
            """,
        "mask_before_scale": """
            B, H, T, d = key.shape
            scores = (query @ key.transpose(-2, -1) + attention_mask) / math.sqrt(d)
            probs = self.dropout(F.softmax(scores, dim=-1))
            return (probs @ value).transpose(1, 2).reshape(B, T, H * d)
            """,
        "softmax_in_float32": """
            scores = query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1]) + attention_mask
            probs = F.softmax(scores, dim=-1, dtype=torch.float32).to(query.dtype)
            context = self.dropout(probs) @ value
            return context.transpose(1, 2).flatten(2)
            """,
        "softmax_in_float64": """
            scores = query.double() @ key.double().transpose(-2, -1) / math.sqrt(query.shape[-1])
            probs = F.softmax(scores + attention_mask, dim=-1).type_as(value)
            context = self.dropout(probs) @ value
            return context.transpose(1, 2).flatten(2)
            """,
        "softmax_by_hand": """
            scores = (query[..., :, None, :] * key[..., None, :, :]).sum(-1)
            scores = scores / torch.sqrt(torch.tensor(float(query.shape[-1]))) + attention_mask
            powers = torch.exp(scores - scores.amax(-1, keepdim=True))
            probs = self.dropout(powers / powers.sum(-1, keepdim=True))
            return (probs @ value).transpose(1, 2).flatten(2)
            """,
        "loop_over_heads": """
            heads = []
            for head in range(self.num_attention_heads):
                q, k, v = query[:, head], key[:, head], value[:, head]
                scores = q @ k.transpose(1, 2) / math.sqrt(self.attention_head_size)
                heads.append(self.dropout(F.softmax(scores + attention_mask[:, 0], dim=-1)) @ v)
            return torch.cat(heads, dim=-1)
            """,
        "loop_over_rows": """
            rows = []
            for q, k, v, mask in zip(query, key, value, attention_mask):
                probs = F.softmax(q @ k.mT / math.sqrt(q.size(-1)) + mask, dim=-1)
                rows.append((self.dropout(probs) @ v).transpose(0, 1).flatten(1))
            return torch.stack(rows)
            """,
        "loop_over_tokens": """
            B, H, T, d = query.shape
            looks = []
            for t in range(T):
                scores = (key @ query[:, :, t, :, None]).squeeze(-1) / math.sqrt(d)
                probs = self.dropout(F.softmax(scores + attention_mask[:, :, 0], dim=-1))
                looks.append((probs.unsqueeze(2) @ value).reshape(B, H * d))
            return torch.stack(looks, dim=1)
            """,
        "functional_dropout": """
            scores = query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])
            probs = F.softmax(scores + attention_mask, dim=-1)
            probs = F.dropout(probs, p=self.dropout.p, training=self.training)
            return (probs @ value).transpose(1, 2).flatten(2)
            """,
        "transposed_throughout": """
            # (B, H, d, T): every tensor lies on its side
            q, k, v = query.mT, key.mT, value.mT
            scores = (k.mT @ q) / math.sqrt(q.size(2)) + attention_mask.mT
            probs = self.dropout(torch.softmax(scores, dim=-2))
            return (v @ probs).flatten(1, 2).mT
            """,
        "softmax_in_small_steps": """
            dots = torch.einsum("bhqd,bhkd->bhqk", query, key)
            scaled = dots / math.sqrt(query.shape[-1])
            masked = scaled + attention_mask
            top = masked.max(dim=-1, keepdim=True).values
            moved = masked - top
            powers = moved.exp()
            total = powers.sum(dim=-1, keepdim=True)
            probs = self.dropout(powers / total)
            context = torch.einsum("bhqk,bhkd->bqhd", probs, value)
            return context.reshape(*context.shape[:2], -1)
            """,
        "greatest_score_subtracted_before_the_mask": """
            scores = query @ key.transpose(-2, -1) * query.shape[-1] ** -0.5
            scores = scores - scores.amax(dim=-1, keepdim=True)
            probs = self.dropout(torch.softmax(scores + attention_mask, dim=-1))
            return (probs @ value).transpose(1, 2).flatten(2)
            """,
        "greatest_of_all_scores_subtracted": """
            scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5 + attention_mask
            scores = scores - scores.max()
            probs = self.dropout(torch.softmax(scores, dim=-1))
            return (probs @ value).transpose(1, 2).flatten(2)
            """,
        "baddbmm": """
            B, H, T, d = query.shape
            q, k, v = (x.reshape(B * H, T, d) for x in (query, key, value))
            bias = attention_mask.expand(B, H, T, T).reshape(B * H, T, T)
            scores = torch.baddbmm(bias, q, k.transpose(1, 2), alpha=1 / math.sqrt(d))
            context = torch.bmm(self.dropout(scores.softmax(2)), v)
            return context.view(B, H, T, d).transpose(1, 2).contiguous().view(B, T, H * d)
            """,
        "softmax_by_logsumexp": """
            q, k = query.transpose(1, 2), key.transpose(1, 2)
            scores = (q.unsqueeze(2) * k.unsqueeze(1)).sum(-1) / math.sqrt(q.shape[-1])
            scores = scores.permute(0, 3, 1, 2) + attention_mask
            probs = (scores - scores.logsumexp(dim=-1, keepdim=True)).exp()
            probs = F.dropout(probs, self.dropout.p, self.training)
            return (probs @ value).permute(0, 2, 1, 3).flatten(-2)
            """,
        "library_function_with_bool": """
            seen = attention_mask > -1
            seen = seen | ~seen.any(-1, keepdim=True)
            rate = self.dropout.p if self.dropout.training else 0.0
            context = F.scaled_dot_product_attention(query, key, value, seen, rate)
            return torch.cat(torch.unbind(context, dim=1), dim=-1)
            """,
        "probabilities_kept_to_look_at": """
            B, H, T, d = query.shape
            self.calls = getattr(self, "calls", 0) + 1
            probs = F.softmax(query @ key.mT / math.sqrt(d) + attention_mask, dim=-1)
            self.last_mask, self.last_probs = attention_mask, probs.detach()
            return (self.dropout(probs) @ value).transpose(1, 2).reshape(B, T, H * d)
            """,
    },
)

"""The five functions as people write them who start from the published minBERT scaffold."""

from tensormark.authoring.variants import Honest, bodies

LAYER = "class BertLayer(nn.Module):"
INLINED = """
    attention = self.self_attention
    key_layer = attention.transform(hidden_states, attention.key)
    value_layer = attention.transform(hidden_states, attention.value)
    query_layer = attention.transform(hidden_states, attention.query)
    context = attention.attention(key_layer, query_layer, value_layer, attention_mask)
    output = self.attention_dropout(self.attention_dense(context))
    hidden_states = self.attention_layer_norm(hidden_states + output)
    interm = self.interm_af(self.interm_dense(hidden_states))
    output = self.out_dropout(self.out_dense(interm))
    return self.out_layer_norm(hidden_states + output)
"""
HELPERS = '''class FeedForward:
    """Both dense layers of a layer, with the GELU between them."""

    def __init__(self, layer):
        self.layer = layer

    def inner(self, x):
        return self.layer.interm_af(self.layer.interm_dense(x))


def merge_heads(x):
    return x.permute(0, 2, 1, 3).contiguous().flatten(-2)


'''

HONEST = (
    Honest(
        "scaffold_by_keywords",
        {
            "layer": """
            attended = self.self_attention(
                hidden_states=hidden_states, attention_mask=attention_mask
            )
            attended = self.add_norm(
                input=hidden_states,
                output=attended,
                dense_layer=self.attention_dense,
                dropout=self.attention_dropout,
                ln_layer=self.attention_layer_norm,
            )
            interm = self.interm_af(self.interm_dense(attended))
            return self.add_norm(
                attended, interm, self.out_dense, dropout=self.out_dropout,
                ln_layer=self.out_layer_norm
            )
            """,
            "encode": """
            extended_attention_mask = get_extended_attention_mask(attention_mask, self.dtype)
            for i, layer_module in enumerate(self.bert_layers):
                hidden_states = layer_module(
                    hidden_states=hidden_states, attention_mask=extended_attention_mask
                )
            return hidden_states
            """,
        },
        edits=(
            (
                "return self.attention(key, query, value, attention_mask)",
                "return self.attention(key=key, query=query, value=value, "
                "attention_mask=attention_mask)",
            ),
            (
                "hidden_states = self.encode(hidden_states, attention_mask)",
                "hidden_states = self.encode(hidden_states, attention_mask=attention_mask)",
            ),
        ),
    ),
    Honest("forward_inlined_in_the_layer", {"layer": INLINED}),
    Honest(
        "layers_called_by_forward",
        {
            "encode": """
            mask = get_extended_attention_mask(attention_mask, self.dtype)
            for layer in self.bert_layers:
                hidden_states = layer.forward(hidden_states, mask)
            return hidden_states
            """,
            "layer": """
            context = self.self_attention.forward(hidden_states, attention_mask)
            first = [self.attention_dense, self.attention_dropout, self.attention_layer_norm]
            x = self.add_norm(hidden_states, context, *first)
            second = [self.out_dense, self.out_dropout, self.out_layer_norm]
            return self.add_norm(x, self.interm_af(self.interm_dense(x)), *second)
            """,
        },
    ),
    Honest(
        "helper_classes",
        {
            "attention": """
            scores = torch.matmul(query, key.transpose(-1, -2))
            scores = scores / math.sqrt(self.attention_head_size) + attention_mask
            return merge_heads(self.dropout(scores.softmax(dim=-1)) @ value)
            """,
            "layer": """
            context = self.self_attention(hidden_states, attention_mask)
            first = (self.attention_dense, self.attention_dropout, self.attention_layer_norm)
            x = self.add_norm(hidden_states, context, *first)
            second = (self.out_dense, self.out_dropout, self.out_layer_norm)
            return self.add_norm(x, FeedForward(self).inner(x), *second)
            """,
        },
        edits=((LAYER, HELPERS + LAYER),),
    ),
    Honest(
        "scaffold_comments_followed",
        {
            "attention": """
            # normalize the scores; attention_mask masks out the padding tokens
            S = torch.matmul(query, key.transpose(2, 3))
            S = torch.div(S, math.sqrt(key.size(-1)))
            S = torch.add(S, attention_mask)
            S = nn.Softmax(dim=-1)(S)
            S = self.dropout(S)
            # multiply the attention scores with the value to get back V', then concatenate
            V = torch.matmul(S, value)
            V = V.transpose(1, 2).contiguous()
            new_shape = V.size()[:-2] + (self.all_head_size,)
            return V.view(*new_shape)
            """,
            "add_norm": """
            transformed = dense_layer(output)
            transformed = dropout(transformed)
            added = torch.add(input, transformed)
            return ln_layer(added)
            """,
            "embed": """
            input_shape = input_ids.size()
            seq_length = input_shape[1]
            inputs_embeds = self.word_embedding(input_ids)
            pos_ids = self.position_ids[:, :seq_length]
            pos_embeds = self.pos_embedding(pos_ids)
            tk_type_ids = token_type_ids.to(dtype=torch.long, device=input_ids.device)
            tk_type_embeds = self.tk_type_embedding(tk_type_ids)
            embeds = inputs_embeds + pos_embeds + tk_type_embeds
            embeds = self.embed_layer_norm(embeds)
            embeds = self.embed_dropout(embeds)
            return embeds
            """,
        },
    ),
    *bodies(
        "attention",
        {
            "mask_thresholded": """
            bsz, heads, length, size = key.shape
            att = query @ key.transpose(-2, -1) * (1.0 / math.sqrt(size))
            att = att.masked_fill(attention_mask < -1, -1e9)
            att = self.dropout(F.softmax(att, dim=-1))
            y = att @ value
            return y.transpose(1, 2).contiguous().view(bsz, length, heads * size)
            """,
            "heads_by_list": """
            outputs = []
            for head in range(self.num_attention_heads):
                q, k, v = query[:, head], key[:, head], value[:, head]
                scores = torch.bmm(q, k.permute(0, 2, 1)) / q.size(-1) ** 0.5
                scores = scores + attention_mask.squeeze(1)
                outputs.append(torch.bmm(self.dropout(scores.softmax(-1)), v))
            return torch.cat(outputs, dim=2)
            """,
        },
    ),
    Honest(
        "types_and_shapes_spelled_out",
        {
            "embed": """
            batch_size, seq_len = input_ids.shape
            ids = torch.arange(seq_len, dtype=torch.long, device=input_ids.device)
            ids = ids.unsqueeze(0).expand(batch_size, seq_len)
            total = self.word_embedding(input_ids) + self.pos_embedding(ids)
            total = total + self.tk_type_embedding(token_type_ids)
            return self.embed_dropout(self.embed_layer_norm(total))
            """,
            "encode": """
            mask = get_extended_attention_mask(attention_mask, dtype=hidden_states.dtype)
            x = hidden_states
            for layer in self.bert_layers:
                x = layer(x, attention_mask=mask)
            return x
            """,
        },
    ),
)

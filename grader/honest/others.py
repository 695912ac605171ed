"""add_norm, layer, embed and encode written in other ways."""

from tensormark.authoring.variants import Honest, bodies

HONEST = (
    Honest(
        "norm_by_function",
        {
            "add_norm": """
            shape, eps = ln_layer.normalized_shape, ln_layer.eps
            total = torch.add(dropout(dense_layer(output)), input)
            return F.layer_norm(total, shape, ln_layer.weight, ln_layer.bias, eps)
            """,
            "embed": """
            x = self.word_embedding(input_ids) + self.tk_type_embedding(token_type_ids)
            x += self.pos_embedding(torch.arange(input_ids.size(1), device=input_ids.device))
            norm = self.embed_layer_norm
            x = F.layer_norm(x, (x.size(-1),), norm.weight, norm.bias, norm.eps)
            return F.dropout(x, self.embed_dropout.p, self.training)
            """,
        },
    ),
    *bodies(
        "add_norm",
        {
            "norm_by_hand": """
            x = input + dropout(dense_layer(output))
            mean = x.mean(dim=-1, keepdim=True)
            variance = x.var(dim=-1, keepdim=True, unbiased=False)
            normed = (x - mean) / torch.sqrt(variance + ln_layer.eps)
            return normed * ln_layer.weight + ln_layer.bias
            """,
            "dense_by_function": """
            projected = F.linear(output, dense_layer.weight, dense_layer.bias)
            projected = F.dropout(projected, p=dropout.p, training=self.training)
            return ln_layer(projected + input)
            """,
            "dense_by_product": """
            projected = torch.matmul(output, dense_layer.weight.t()) + dense_layer.bias
            residual = input.clone()
            residual = residual + dropout(projected)
            return ln_layer(residual)
            """,
        },
    ),
    Honest(
        "step_by_step",
        {
            "add_norm": """
            output = dense_layer(output)
            output = dropout(output)
            output = output + input
            output = ln_layer(output)
            return output
            """,
            "layer": """
            attention_output = self.self_attention(hidden_states, attention_mask)
            attention_output = self.add_norm(
                hidden_states,
                attention_output,
                self.attention_dense,
                self.attention_dropout,
                self.attention_layer_norm,
            )
            intermediate_output = self.interm_dense(attention_output)
            intermediate_output = self.interm_af(intermediate_output)
            layer_output = self.add_norm(
                attention_output,
                intermediate_output,
                self.out_dense,
                self.out_dropout,
                self.out_layer_norm,
            )
            return layer_output
            """,
        },
    ),
    *bodies(
        "layer",
        {
            "keyword_arguments": """
            x = self.add_norm(
                input=hidden_states,
                output=self.self_attention(hidden_states, attention_mask=attention_mask),
                dense_layer=self.attention_dense,
                dropout=self.attention_dropout,
                ln_layer=self.attention_layer_norm,
            )
            return self.add_norm(
                input=x,
                output=F.gelu(self.interm_dense(x)),
                dense_layer=self.out_dense,
                dropout=self.out_dropout,
                ln_layer=self.out_layer_norm,
            )
            """,
            "add_norm_inlined": """
            context = self.self_attention(hidden_states, attention_mask)
            dropped = self.attention_dropout(self.attention_dense(context))
            x = self.attention_layer_norm(hidden_states + dropped)
            dropped = self.out_dropout(self.out_dense(self.interm_af(self.interm_dense(x))))
            return self.out_layer_norm(x + dropped)
            """,
            "gelu_by_erf": """
            context = self.self_attention(hidden_states, attention_mask)
            first = (self.attention_dense, self.attention_dropout, self.attention_layer_norm)
            x = self.add_norm(hidden_states, context, *first)
            y = self.interm_dense(x)
            y = y * 0.5 * (1.0 + torch.erf(y / math.sqrt(2.0)))
            return self.add_norm(x, y, self.out_dense, self.out_dropout, self.out_layer_norm)
            """,
            "feed_forward_in_chunks": """
            context = self.self_attention(hidden_states, attention_mask)
            first = (self.attention_dense, self.attention_dropout, self.attention_layer_norm)
            x = self.add_norm(hidden_states, context, *first)
            parts = [self.interm_af(self.interm_dense(part)) for part in x.split(2, dim=1)]
            y = torch.cat(parts, dim=1)
            return self.add_norm(x, y, self.out_dense, self.out_dropout, self.out_layer_norm)
            """,
        },
    ),
    *bodies(
        "embed",
        {
            "embedding_by_function": """
            words = F.embedding(input_ids, self.word_embedding.weight)
            places = torch.arange(input_ids.shape[-1]).expand_as(input_ids)
            places = F.embedding(places, self.pos_embedding.weight)
            kinds = F.embedding(token_type_ids, self.tk_type_embedding.weight)
            x = torch.stack([words, places, kinds]).sum(dim=0)
            return self.embed_dropout(self.embed_layer_norm(x))
            """,
            "embedding_by_rows": """
            seq_length = input_ids.size()[1]
            x = self.word_embedding.weight[input_ids]
            x = x + self.pos_embedding.weight[:seq_length]
            x = x + self.tk_type_embedding(token_type_ids)
            x = self.embed_layer_norm(x)
            x = self.embed_dropout(x)
            return x
            """,
            "embedding_with_norm_by_hand": """
            x = self.word_embedding(input_ids) + self.tk_type_embedding(token_type_ids)
            x = x + self.pos_embedding(self.position_ids[:, :input_ids.size(1)])
            norm = self.embed_layer_norm
            mean = x.mean(dim=-1, keepdim=True)
            centered = x - mean
            squares = centered ** 2
            variance = squares.mean(dim=-1, keepdim=True)
            x = centered / torch.sqrt(variance + norm.eps)
            x = x * norm.weight + norm.bias
            return self.embed_dropout(x)
            """,
            "embedding_by_one_hot": """
            table = self.word_embedding.weight
            words = F.one_hot(input_ids, table.size(0)).to(table.dtype) @ table
            positions = self.pos_embedding(self.position_ids[:, :input_ids.size(1)])
            types = self.tk_type_embedding(token_type_ids)
            return self.embed_dropout(self.embed_layer_norm(types + (positions + words)))
            """,
        },
    ),
    *bodies(
        "encode",
        {
            "layers_by_number": """
            mask = get_extended_attention_mask(attention_mask, self.dtype)
            outputs = [hidden_states]
            for i in range(len(self.bert_layers)):
                outputs.append(self.bert_layers[i](outputs[i], mask))
            return outputs[-1]
            """,
            "mask_by_hand": """
            mask = attention_mask.unsqueeze(1).unsqueeze(2).to(hidden_states.dtype)
            mask = (1.0 - mask) * torch.finfo(mask.dtype).min
            for _, layer_module in enumerate(self.bert_layers):
                hidden_states = layer_module(hidden_states, mask)
            return hidden_states
            """,
        },
    ),
    Honest(
        "positions_and_mask_kept",
        {
            "embed": """
            T = input_ids.size(1)
            if getattr(self, "places", None) is None or self.places.size(1) != T:
                self.places = torch.arange(T, device=input_ids.device)[None]
            x = self.word_embedding(input_ids) + self.pos_embedding(self.places)
            x = x + self.tk_type_embedding(token_type_ids)
            return self.embed_dropout(self.embed_layer_norm(x))
            """,
            "encode": """
            self.extended = get_extended_attention_mask(attention_mask, self.dtype)
            self.outputs = [hidden_states]
            for layer in self.bert_layers:
                self.outputs.append(layer(self.outputs[-1], self.extended))
            return self.outputs[-1]
            """,
        },
    ),
    *bodies(
        "encode",
        {
            "layers_by_reduce": """
            from functools import reduce
            mask = get_extended_attention_mask(attention_mask, next(self.parameters()).dtype)
            return reduce(lambda h, layer: layer(h, mask), self.bert_layers, hidden_states)
            """,
            "mask_of_inf": """
            visible = attention_mask[:, None, None, :] > 0
            mask = torch.where(visible, 0.0, float("-inf")).to(hidden_states.dtype)
            for layer in self.bert_layers:
                hidden_states = layer(hidden_states, mask)
            return hidden_states
            """,
        },
    ),
)

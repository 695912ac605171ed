"""The solution in the style of published minBERT code, which test_real_code.py grades."""

from tensormark.authoring.variants import Honest

MODEL_FORWARD = """hidden_states = self.embed(input_ids, token_type_ids)
        hidden_states = self.encode(hidden_states, attention_mask)"""
CMU_FORWARD = """embedding_output = self.embed(input_ids=input_ids)
        hidden_states = self.encode(embedding_output, attention_mask=attention_mask)"""
SIGNATURE = ("input_ids, attention_mask, token_type_ids=None)", "input_ids, attention_mask)")
SELF_ATTENTION = """
context = self.self_attention(hidden_states=hidden_states, attention_mask=attention_mask)
"""
SUBLAYERS = """
x = self.add_norm(
    input=hidden_states, output=context, dense_layer=self.attention_dense,
    dropout=self.attention_dropout, ln_layer=self.attention_layer_norm,
)
y = self.interm_af(self.interm_dense(x))
return self.add_norm(x, y, self.out_dense, ln_layer=self.out_layer_norm, dropout=self.out_dropout)
"""
BY_KEYWORD = SELF_ATTENTION + SUBLAYERS
INSIDE_OUT = """
part = self.self_attention
key = part.transform(hidden_states, part.key)
value = part.transform(hidden_states, part.value)
query = part.transform(hidden_states, part.query)
context = part.attention(key, query, value, attention_mask)
"""
BY_HAND = """
part = self.self_attention
B, T = hidden_states.shape[:2]
shape = B, T, part.num_attention_heads, part.attention_head_size
parts = part.query, part.key, part.value
q, k, v = [m(hidden_states).view(shape).permute(0, 2, 1, 3) for m in parts]
context = part.attention(query=q, key=k, value=v, attention_mask=attention_mask)
"""
NORMS_BY_HAND = """
dropped = self.attention_dropout(self.attention_dense(context))
x = self.attention_layer_norm(hidden_states + dropped)
dropped = self.out_dropout(self.out_dense(self.interm_af(self.interm_dense(x))))
return self.out_layer_norm(x + dropped)
"""
CHAIN = """
mask = get_extended_attention_mask(attention_mask, self.dtype)
for i, layer_module in enumerate(self.bert_layers):
    hidden_states = CALL
return hidden_states
"""
LAYERS_WRITTEN_OUT = """
mask = get_extended_attention_mask(attention_mask, self.dtype)
x = hidden_states
for layer in self.bert_layers:
    context = layer.self_attention(x, mask)
    x = layer.add_norm(
        x, context, layer.attention_dense, layer.attention_dropout, layer.attention_layer_norm
    )
    y = layer.interm_af(layer.interm_dense(x))
    x = layer.add_norm(x, y, layer.out_dense, layer.out_dropout, layer.out_layer_norm)
return x
"""
ALL_WRITTEN_OUT = """
mask = get_extended_attention_mask(attention_mask, self.dtype)
for m in self.bert_layers:
    attended = m.attention_dense(m.self_attention.forward(hidden_states, mask))
    x = m.attention_layer_norm(hidden_states + m.attention_dropout(attended))
    y = m.out_dense(F.gelu(m.interm_dense(x)))
    hidden_states = m.out_layer_norm(x + m.out_dropout(y))
return hidden_states
"""
FEED_FORWARD = """class FeedForward:
    def __init__(self, owner):
        self.owner = owner

    def __call__(self, x):
        return self.owner.interm_af(self.owner.interm_dense(x))


class BertLayer("""


def chain(call: str) -> dict[str, str]:
    return {"encode": CHAIN.replace("CALL", call)}


SPELLINGS = (
    Honest("published_forward", edits=((MODEL_FORWARD, CMU_FORWARD), SIGNATURE)),
    Honest(
        "forward_by_keyword",
        edits=(
            (
                "self.encode(hidden_states, attention_mask)",
                "self.encode(attention_mask=attention_mask, hidden_states=hidden_states)",
            ),
            ("self.embed(input_ids, token_type_ids)", "self.embed(input_ids)"),
            SIGNATURE,
        ),
    ),
    Honest("layer_by_keyword", {"layer": BY_KEYWORD}),
    Honest(
        "attention_by_its_forward",
        {"layer": BY_KEYWORD.replace("self.self_attention(", "self.self_attention.forward(")},
    ),
    Honest("attention_written_out", {"layer": INSIDE_OUT + SUBLAYERS}),
    Honest("attention_written_out_by_hand", {"layer": BY_HAND + SUBLAYERS}),
    Honest("layer_written_out", {"layer": BY_HAND + NORMS_BY_HAND}),
    Honest("norms_written_out", {"layer": SELF_ATTENTION + NORMS_BY_HAND}),
    Honest(
        "renamed_parameters",
        {
            "add_norm": "return norm(input_ + drop(dense(output_)))",
            "layer": """
            ctx = self.self_attention(x=hidden_states, mask=attention_mask)
            h = self.add_norm(
                input_=hidden_states, output_=ctx, dense=self.attention_dense,
                drop=self.attention_dropout, norm=self.attention_layer_norm,
            )
            y = self.interm_af(self.interm_dense(h))
            return self.add_norm(h, y, self.out_dense, self.out_dropout, norm=self.out_layer_norm)
            """,
        },
        (
            (
                "self, input: Tensor, output: Tensor, dense_layer, dropout, ln_layer)",
                "self, input_, output_, dense, drop, norm)",
            ),
            (
                """def forward(self, hidden_states: Tensor, attention_mask: Tensor) -> Tensor:
        \"\"\"Attend""",
                '''def forward(self, x, mask):
        hidden_states, attention_mask = x, mask
        """Attend''',
            ),
        ),
    ),
    Honest(
        "further_parameters",
        chain("layer_module(hidden_states, mask, number=i)"),
        (
            (
                """def forward(self, hidden_states: Tensor, attention_mask: Tensor) -> Tensor:
        \"\"\"Run one""",
                '''def forward(self, hidden_states, attention_mask, number=0, **more):
        """Run one''',
            ),
        ),
    ),
    Honest("layers_by_position", chain("layer_module(hidden_states, mask)")),
    Honest(
        "layers_by_keyword", chain("layer_module(attention_mask=mask, hidden_states=hidden_states)")
    ),
    Honest("layers_by_number", chain("self.bert_layers[i].forward(hidden_states, mask)")),
    Honest("layers_written_out", {"encode": LAYERS_WRITTEN_OUT}),
    Honest("everything_written_out", {"encode": ALL_WRITTEN_OUT}),
    Honest(
        "helper_class",
        {
            "layer": BY_KEYWORD.replace(
                "self.interm_af(self.interm_dense(x))", "FeedForward(self)(x)"
            )
        },
        (("class BertLayer(", FEED_FORWARD),),
    ),
    Honest(
        "method_of_its_own",
        {"layer": BY_KEYWORD.replace("self.interm_af(self.interm_dense(x))", "self.feed(x)")},
        (
            (
                "    def add_norm(",
                "    def feed(self, x):\n        return F.gelu(self.interm_dense(x))\n\n"
                "    def add_norm(",
            ),
        ),
    ),
    Honest(
        "another_name_for_a_part",
        {"layer": BY_KEYWORD.replace("self.self_attention(", "self.attention_layer(")},
        (
            (
                "self.self_attention = BertSelfAttention(config)",
                "self.self_attention = self.attention_layer = BertSelfAttention(config)",
            ),
        ),
    ),
    Honest(
        "tuples_between_layers",
        chain("layer_module(hidden_states, mask)[0]")
        | {
            "layer": BY_KEYWORD.replace("return self.add_norm(", "y = self.add_norm(")
            + "return y, None\n"
        },
    ),
    Honest(
        "outputs_between_layers",
        chain("layer_module(hidden_states, mask)[0]")
        | {
            "layer": BY_KEYWORD.replace("return self.add_norm(", "y = self.add_norm(")
            + "outputs = (y,)\nreturn outputs\n"
        },
    ),
)

"""Changes of the given code around the holes that do not change its meaning."""

import re

from tensormark.authoring.variants import Honest

SCAFFOLD = """from typing import Dict, List, Optional, Union, Tuple, Callable
import torch
import torch.nn as nn
import torch.nn.functional as F
from base_bert import BertPreTrainedModel
from utils import *
import math
"""
IMPORTS = """import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from base_bert import BertPreTrainedModel
from utils import get_extended_attention_mask
"""
EMBED = "def embed(self, input_ids: Tensor, token_type_ids: Tensor | None = None) -> Tensor:"
NO_TYPES = """        if token_type_ids is None:
            token_type_ids = torch.zeros_like(input_ids)
"""


def two_spaces(text: str) -> str:
    """Halve the indentation of every line."""
    return re.sub(r"^( +)", lambda found: found[1][: len(found[1]) // 2], text, flags=re.MULTILINE)


def without_comments(text: str) -> str:
    """Remove comments, including the markers of regions."""
    return re.sub(r"^ *#.*\n|  #.*$", "", text, flags=re.MULTILINE)


HONEST = (
    Honest("two_spaces", whole=two_spaces),
    Honest("without_comments", whole=without_comments),
    Honest("windows_line_ends", whole=lambda text: text.replace("\n", "\r\n")),
    Honest(
        "comments_in_other_languages",
        {
            "add_norm": """
            # erst die lineare Abbildung, dann Dropout; \u6b8b\u5dee\u8fde\u63a5
            größe = dense_layer(output)
            return ln_layer(input + dropout(größe))
            """
        },
    ),
    Honest(
        "published_scaffold",
        edits=(
            (IMPORTS, SCAFFOLD + "from torch import Tensor\n"),
            (EMBED, "def embed(self, input_ids):"),
            (NO_TYPES, "        token_type_ids = torch.zeros_like(input_ids)\n"),
            ("input_ids, attention_mask, token_type_ids=None)", "input_ids, attention_mask)"),
            ("self.embed(input_ids, token_type_ids)", "self.embed(input_ids=input_ids)"),
        ),
    ),
    Honest(
        "renamed_parameters",
        {"add_norm": "return ln_layer(input_ + dropout(dense(output_)))"},
        edits=(
            (
                "def add_norm(self, input: Tensor, output: Tensor, dense_layer, dropout, ln_layer)",
                "def add_norm(self, input_, output_, dense, dropout, ln_layer)",
            ),
        ),
    ),
    Honest(
        "more_parameters",
        edits=(
            (
                "value: Tensor, attention_mask) -> Tensor:",
                "value: Tensor, attention_mask, head_mask=None, *, debug=False) -> Tensor:",
            ),
            ("dropout, ln_layer) -> Tensor:", "dropout, ln_layer, scale=1.0, **unused) -> Tensor:"),
            (EMBED, EMBED.replace(") ->", ", past_length: int = 0) ->")),
        ),
    ),
    Honest(
        "helper_methods",
        {
            "attention": "return merge_heads(self._gather(query, key, value, attention_mask))",
            "embed": """
            total = self._sum(input_ids, token_type_ids)
            return self.embed_dropout(self.embed_layer_norm(total))
            """,
        },
        edits=(
            (
                "    def transform(",
                "    def _gather(self, q, k, v, mask):\n"
                "        scores = q @ k.mT / math.sqrt(self.attention_head_size) + mask\n"
                "        return self.dropout(scores.softmax(dim=-1)) @ v\n\n"
                "    def transform(",
            ),
            (
                "class BertSelfAttention(",
                "def merge_heads(x):\n    return x.transpose(1, 2).flatten(2)\n\n\n"
                "class BertSelfAttention(",
            ),
            (
                "    def embed(",
                "    def _sum(self, ids, kinds):\n"
                "        places = self.position_ids[:, : ids.shape[1]]\n"
                "        types = self.tk_type_embedding.weight[kinds]\n"
                "        return self.word_embedding(ids) + self.pos_embedding(places) + types\n\n"
                "    def embed(",
            ),
        ),
    ),
    Honest(
        "more_classes",
        {
            "layer": """
            x = self.add_norm(
                hidden_states,
                self.self_attention(hidden_states, attention_mask),
                self.attention_dense,
                self.attention_dropout,
                self.attention_layer_norm,
            )
            y = Activation()(self.interm_dense(x))
            return self.add_norm(x, y, self.out_dense, self.out_dropout, self.out_layer_norm)
            """
        },
        edits=(
            (
                "class BertLayer(",
                "class Activation(nn.Module):\n    def forward(self, x):\n"
                "        return nn.GELU()(x)\n\n\nclass BertLayer(",
            ),
            (
                "        self.pooler_dense =",
                "        self.unused = nn.Linear(D, 3)\n        self.pooler_dense =",
            ),
        ),
    ),
    Honest(
        "layers_return_tuples",
        {
            "layer": """
            context = self.self_attention(hidden_states, attention_mask)
            modules = self.attention_dense, self.attention_dropout, self.attention_layer_norm
            x = self.add_norm(hidden_states, context, *modules)
            interm = self.interm_af(self.interm_dense(x))
            modules = self.out_dense, self.out_dropout, self.out_layer_norm
            return self.add_norm(x, interm, *modules), context
            """,
            "encode": """
            mask = get_extended_attention_mask(attention_mask, self.dtype)
            for layer in self.bert_layers:
                hidden_states, _ = layer(hidden_states, mask)
            return hidden_states
            """,
        },
    ),
    Honest(
        "more_keys",
        edits=(
            (
                '"pooler_output": pooled}',
                '"pooler_output": pooled, "attention_mask": attention_mask, "notes": None}',
            ),
        ),
    ),
    Honest(
        "prints",
        {
            "encode": """
            mask = get_extended_attention_mask(attention_mask, self.dtype)
            print("mask", mask.shape)
            for number, layer in enumerate(self.bert_layers):
                hidden_states = layer(hidden_states, mask)
                print(f"after layer {number}:", hidden_states.mean().item())
            return hidden_states
            """
        },
    ),
    Honest(
        "type_hints_and_assertions",
        {
            "attention": """
            assert key.shape == query.shape == value.shape, "shapes differ"
            scale: float = self.attention_head_size ** -0.5
            scores: torch.Tensor = torch.matmul(query, key.transpose(-1, -2)) * scale
            probs: torch.Tensor = self.dropout(F.softmax(scores + attention_mask, dim=-1))
            context: torch.Tensor = torch.matmul(probs, value).permute(0, 2, 1, 3).contiguous()
            return context.view(*context.shape[:2], self.all_head_size)
            """
        },
    ),
)

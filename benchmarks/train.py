"""Fine-tune once, and print the processor seconds: `python benchmarks/train.py ours` or `bare`.

`ours` is classifier.py's loop on bert.py; `bare` is the shortest loop that does the same with the
same batches, around a model of torch's own layers of the same sizes. Runs in the folder of a
checkout, with its solution/ on PYTHONPATH.

Dimension key: B batch, T tokens, D model width, C classes.
"""

import importlib
import sys
import time
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn


class BareClassifier(nn.Module):
    """BERT of torch's own layers, with a classifier."""

    def __init__(self, config: Any) -> None:
        super().__init__()
        D, p = config.hidden_size, config.hidden_dropout_prob
        self.words = nn.Embedding(config.vocab_size, D)
        self.positions = nn.Embedding(config.max_position_embeddings, D)
        self.norm, self.dropout = nn.LayerNorm(D), nn.Dropout(p)
        layer = nn.TransformerEncoderLayer(
            D, config.num_attention_heads, config.intermediate_size, p, "gelu", batch_first=True
        )
        self.layers = nn.TransformerEncoder(layer, config.num_hidden_layers)
        self.pooler, self.head = nn.Linear(D, D), nn.Linear(D, 2)

    def forward(self, ids: Tensor, mask: Tensor) -> Tensor:
        """Score the classes for each sentence: (B, T) ids and mask to (B, C) logits."""
        embedded = self.words(ids) + self.positions(torch.arange(ids.shape[1]))  # (B, T, D)
        hidden = self.layers(self.dropout(self.norm(embedded)), src_key_padding_mask=mask == 0)
        pooled = torch.tanh(self.pooler(hidden[:, 0]))  # (B, D)
        logits: Tensor = self.head(self.dropout(pooled))  # (B, C)
        return logits


def bare_loop(model: BareClassifier, split: Any, recipe: Any, sentences: Any) -> None:
    """Train for an epoch."""
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, fused=True)
    shuffle = torch.Generator().manual_seed(recipe.seed)
    for rows in sentences.by_length(split.attention_mask, recipe.batch_size, shuffle):
        batch = sentences.take(split.input_ids, split.attention_mask, rows, "cpu")
        loss: Any = F.cross_entropy(model(*batch), split.labels[rows])
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), recipe.clip)
        optimizer.step()


def main() -> None:
    """Train and print."""
    names = ("bert", "classifier", "sentences", "tokenizer")
    bert, classifier, sentences, tokenizer = map(importlib.import_module, names)
    torch.set_num_threads(1)
    model = bert.BertModel.from_pretrained(Path("checkpoint"))
    tokenizer_of_checkpoint = tokenizer.BertTokenizer.from_pretrained(Path("checkpoint"))
    max_length = model.config.max_position_embeddings
    split = sentences.Split(Path("data/train.txt"), tokenizer_of_checkpoint, max_length)
    recipe = classifier.Recipe(epochs=1)
    bare, ours = BareClassifier(model.config), classifier.BertSentimentClassifier(model, 2)
    torch.optim.AdamW(bare.parameters())  # the first one imports many modules
    started = time.process_time()
    if sys.argv[1] == "ours":
        tensors = split.input_ids, split.attention_mask, split.labels
        classifier.fine_tune(ours, *tensors, recipe)
    else:
        bare_loop(bare, split, recipe, sentences)
    print(time.process_time() - started)


if __name__ == "__main__":
    main()

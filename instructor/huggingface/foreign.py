"""Read a BERT saved by Hugging Face transformers, or by an older program.

Nothing in the folder is trusted: a .bin is opened for plain tensors only, and anything minBERT
cannot reproduce exactly is rejected with one line that names the file and the fix.
"""

import importlib
import json
from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer, models, normalizers
from torch import Tensor

SIZES = (
    "vocab_size",
    "hidden_size",
    "num_hidden_layers",
    "num_attention_heads",
    "intermediate_size",
)
# What minBERT computes; these are also the defaults if config.json has no such key.
ONLY = {
    "model_type": ("bert",),
    "hidden_act": ("gelu",),
    "position_embedding_type": ("absolute",),
    "is_decoder": (False,),
    "add_cross_attention": (False,),
}
SAFE, BIN, IN_PARTS = "model.safetensors", "pytorch_model.bin", "model.safetensors.index.json"
TOKENIZER, VOCAB, SETTINGS = "tokenizer.json", "vocab.txt", "tokenizer_config.json"
DECODER, WORDS = "cls.predictions.decoder.weight", "word_embedding.weight"

Tensors = dict[str, Tensor]


class ForeignError(ValueError):
    """A folder that cannot be used; the message is one line and names the file and the fix."""


def _one_line(error: BaseException) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0][:200]


def _read_json(path: Path) -> dict[str, Any]:
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise ForeignError(f"{path}: there is no such file; name the folder that has it") from error
    except ValueError as error:
        raise ForeignError(f"{path}: not JSON ({_one_line(error)}); download it again") from error
    if not isinstance(values, dict):
        raise ForeignError(f"{path}: not a JSON object; download it again")
    return values


def read_config(folder: Path) -> Any:
    """Read config.json as a BertConfig.

    Raises:
        ForeignError: it is missing, damaged, or not of a BERT that minBERT can compute.
    """
    path = folder / "config.json"
    values = _read_json(path)
    for name, known in ONLY.items():
        if (value := values.get(name, known[0])) not in known:
            fix = f"minBERT supports only {name} {known[0]!r}; choose another model"
            raise ForeignError(f"{path}: {name} is {value!r}; {fix}")
    if missing := [name for name in SIZES if name not in values]:
        names = ", ".join(missing)
        raise ForeignError(f"{path}: it lacks {names}; use the config.json of the same model")
    try:
        return importlib.import_module("config").BertConfig.from_json(path)
    except ValueError as error:
        raise ForeignError(f"{_one_line(error)}; use the config.json of the same model") from error


def _read_bin(path: Path) -> Tensors:
    """Read a .bin, which is a pickle, for plain tensors only."""
    try:
        tensors = torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:  # torch raises many kinds for a damaged file
        fix = "download it again, or use a model.safetensors"
        what = f"damaged, or more than plain tensors ({type(error).__name__}), so it was not opened"
        raise ForeignError(f"{path}: {what}; {fix}") from error
    if not isinstance(tensors, dict) or not all(isinstance(t, Tensor) for t in tensors.values()):
        raise ForeignError(f"{path}: not a dict of tensors by name; save a state_dict() in it")
    return tensors


def read_tensors(folder: Path) -> tuple[Tensors, Path]:
    """Read the weights under their own names, and say which file they come from.

    Raises:
        ForeignError: there are none, or the file is damaged.
    """
    path = folder / SAFE
    if path.is_file():
        try:
            return importlib.import_module("safetensors.torch").load_file(path), path
        except Exception as error:  # SafetensorError, and OSError for an empty file
            what = f"damaged, or not a safetensors file ({_one_line(error)})"
            raise ForeignError(f"{path}: {what}; download it again") from error
    if (folder / BIN).is_file():
        return _read_bin(folder / BIN), folder / BIN
    if (folder / IN_PARTS).is_file():
        raise ForeignError(f"{folder / IN_PARTS}: the weights are split; save them as one file")
    raise ForeignError(f"{folder}: there is no {SAFE} or {BIN} in it; name the folder that has one")


def rename_tensors(tensors: Tensors, path: Path) -> tuple[Tensors, list[str]]:
    """Return tensors under minBERT's names, the encoder's without prefix, and names left out.

    Raises:
        ForeignError: two tensors have the same name, or values are not finite.
    """
    base: Any = importlib.import_module("base_bert")
    encoder = {name.split(".")[0] for name in base.HUGGING_FACE_NAMES.values()}
    known = encoder | {"embeddings", "encoder", "pooler"}  # an unknown name in these is not BERT's
    weights: Tensors = {}
    left_out = []
    tensors = {base.WRAPPED.sub("", name): tensor for name, tensor in tensors.items()}
    for theirs, tensor in tensors.items():
        name = base.minbert_name(theirs)
        if base.PASSED_OVER.search(theirs) or name.split(".")[0] not in known:
            left_out.append(theirs)
            continue
        if name in weights:
            raise ForeignError(f"{path}: two tensors are named {name}; keep one of them")
        if not torch.isfinite(tensor).all():
            raise ForeignError(f"{path}: {theirs} has NaN or infinity; download it again")
        weights[name] = tensor.float()
    decoder = tensors.get(DECODER)
    words = weights.get(WORDS)
    if decoder is not None and words is not None and not torch.equal(decoder.float(), words):
        _drop_heads(weights, left_out)  # a separate table, which minBERT's head does not have
    return weights, [n for n in left_out if not n.endswith("position_ids") and "decoder" not in n]


def _drop_heads(weights: Tensors, left_out: list[str]) -> None:
    heads = importlib.import_module("base_bert").PRETRAINING_HEADS
    for name in [name for name in weights if heads.search(name)]:
        del weights[name]
        left_out.append(name)


def check_fit(weights: Tensors, left_out: list[str], config: Any, path: Path) -> None:
    """Check that the tensors are those of this BERT; leave out incomplete heads.

    Raises:
        ForeignError: a tensor is missing, unexpected or of the wrong shape.
    """
    base: Any = importlib.import_module("base_bert")
    with torch.device("meta"):  # shapes without numbers
        whole = importlib.import_module("pretraining").BertForPreTraining(config)
    shapes = {name: p.shape for name, p in whole.named_parameters() if not name.startswith("bert.")}
    if shapes != {n: t.shape for n, t in weights.items() if base.PRETRAINING_HEADS.search(n)}:
        _drop_heads(weights, left_out)
    if not any(name.startswith("pooler_dense.") for name in weights):
        fix = "a BertForMaskedLM has none; use a BertModel or a BertForPreTraining"
        raise ForeignError(f"{path}: it has no pooler; {fix}")
    encoder = {n: t for n, t in weights.items() if not base.PRETRAINING_HEADS.search(n)}
    try:
        whole.bert.load_named_weights(encoder, path)
    except base.CheckpointError as error:
        raise ForeignError(f"{error}; use config.json and weights of the same model") from error


def _vocabulary(path: Path) -> dict[str, int]:
    try:
        pieces: dict[str, int] = importlib.import_module("tokenizer").read_vocab(path)
    except ValueError as error:
        raise ForeignError(f"{path}: {_one_line(error)}; download it again") from error
    return pieces


def _from_vocab(folder: Path) -> Tokenizer:
    """Build the tokenizer of a vocab.txt, with the case and accents of tokenizer_config.json."""
    tokenizer: Tokenizer = importlib.import_module("tokenizer").wordpiece(
        _vocabulary(folder / VOCAB)
    )
    settings = _read_json(folder / SETTINGS) if (folder / SETTINGS).is_file() else {}
    lower = settings.get("do_lower_case", True)
    accents = settings.get("strip_accents")
    tokenizer.normalizer = normalizers.BertNormalizer(
        clean_text=True,
        handle_chinese_chars=bool(settings.get("tokenize_chinese_chars", True)),
        strip_accents=bool(lower if accents is None else accents),
        lowercase=bool(lower),
    )
    return tokenizer


def _from_json(folder: Path) -> Tokenizer:
    """Open a tokenizer.json, and check that it is BERT's and matches the vocab.txt next to it."""
    path = folder / TOKENIZER
    try:
        tokenizer = Tokenizer.from_str(path.read_text(encoding="utf-8"))
    except Exception as error:  # the library raises plain Exception
        what = f"not a tokenizer ({_one_line(error)})"
        raise ForeignError(f"{path}: {what}; download it again") from error
    if not isinstance(tokenizer.model, models.WordPiece):
        kind = type(tokenizer.model).__name__
        raise ForeignError(f"{path}: its model is {kind}, not WordPiece; choose another model")
    if not isinstance(tokenizer.normalizer, normalizers.BertNormalizer):
        fix = f"remove it and keep {VOCAB}"
        raise ForeignError(f"{path}: it does not normalize text as BERT does; {fix}")
    if (folder / VOCAB).is_file():
        vocab = _vocabulary(folder / VOCAB)
        count = sum(tokenizer.token_to_id(piece) != number for piece, number in vocab.items())
        if count:
            what = f"{count} pieces of {VOCAB} have different ids in it"
            raise ForeignError(f"{path}: {what}; remove the one that does not belong to the model")
    return tokenizer


def read_tokenizer(folder: Path, words: int) -> Any:
    """Read a tokenizer.json, else a vocab.txt, as a BertTokenizer for a model with this many words.

    Raises:
        ForeignError: there is neither, or it is damaged or not BERT's.
    """
    name = TOKENIZER if (folder / TOKENIZER).is_file() else VOCAB
    path = folder / name
    if not path.is_file():
        what = f"there is no {TOKENIZER} or {VOCAB} in it; copy those of the model"
        raise ForeignError(f"{folder}: {what}")
    opened = _from_json(folder) if name == TOKENIZER else _from_vocab(folder)
    try:
        tokenizer = importlib.import_module("tokenizer").BertTokenizer(opened)
    except ValueError as error:
        raise ForeignError(f"{path}: {error}; use the file of an uncased or cased BERT") from error
    if tokenizer.vocab_size > words:
        pieces = f"{tokenizer.vocab_size} pieces, but the model has {words}"
        raise ForeignError(f"{path}: {pieces}; use the tokenizer of the same model")
    if set(opened.get_vocab().values()) != set(range(tokenizer.vocab_size)):
        raise ForeignError(f"{path}: the ids of its pieces have gaps; choose another model")
    marks = [tokenizer.cls_token_id, tokenizer.sep_token_id]
    pair = tokenizer([""], [""])
    if pair["input_ids"].tolist() != [[*marks, marks[1]]] or pair["token_type_ids"][0, -1] != 1:
        what = "it does not encode pairs as [CLS] a [SEP] b [SEP]"
        raise ForeignError(f"{path}: {what}; remove it and keep {VOCAB}")
    return tokenizer

"""What the handout forbids, found in the syntax tree: the parts of libraries that are the exercise.

Covered: the usual ways of writing such a call or import. Not covered: code that hides what it does
(getattr with a computed name, exec). A person reads for that; tensors cannot show it.
"""

import ast
import dataclasses
from collections.abc import Iterator

# torch.nn.functional is allowed, scaled_dot_product_attention included: the handout says so.
FORBIDDEN_NAMES = {
    "MultiheadAttention",
    "multi_head_attention_forward",
    "Transformer",
    "TransformerEncoder",
    "TransformerEncoderLayer",
    "TransformerDecoder",
    "TransformerDecoderLayer",
}
FORBIDDEN_MODULES = {"transformers", "sentence_transformers", "fairseq", "x_transformers", "timm"}


@dataclasses.dataclass(frozen=True)
class Offence:
    """A forbidden name and where it stands."""

    name: str
    line: int

    def __str__(self) -> str:
        return f"{self.name} (line {self.line})"


def offences(text: str) -> list[Offence]:
    """List what the handout forbids in a source, in the order of its lines."""
    found = {offence for node in ast.walk(ast.parse(text)) for offence in in_node(node)}
    return sorted(found, key=lambda offence: (offence.line, offence.name))


def in_node(node: ast.AST) -> Iterator[Offence]:
    """Yield the offences of one node of the tree."""
    if isinstance(node, ast.Attribute) and node.attr in FORBIDDEN_NAMES:
        yield Offence(f"nn.{node.attr}", node.lineno)
    elif isinstance(node, ast.Import):
        for alias in node.names:
            if alias.name.split(".")[0] in FORBIDDEN_MODULES:
                yield Offence(alias.name, node.lineno)
    elif isinstance(node, ast.ImportFrom):
        module = node.module or ""
        if module.split(".")[0] in FORBIDDEN_MODULES:
            yield Offence(module, node.lineno)
        elif module.split(".")[0] == "torch":
            yield from (
                Offence(f"nn.{alias.name}", node.lineno)
                for alias in node.names
                if alias.name in FORBIDDEN_NAMES
            )

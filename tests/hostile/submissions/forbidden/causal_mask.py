# tries: let torch make the causal mask
# file: transformer.py
# loses: causal_mask
# control: leaks
WAYS = """
nn.Transformer.generate_square_subsequent_mask(3)
nn.modules.transformer._generate_square_subsequent_mask(3)
"""


def causal_mask(*_):
    tried(WAYS)

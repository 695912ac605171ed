"""The sizes of small models and of their inputs.

B batch, T tokens, H heads, d head width, D model width, F feed-forward width, V vocabulary; lengths
are the tokens of each row that are not padding. All are distinct, to expose confused axes.
"""

from tensormark.toolkit import Sizes

MAIN = Sizes(
    B=3, T=7, H=2, d=5, D=10, F=17, V=29, layers=3, positions=11, lengths=(4, 1, 7), dropout=0.1
)
# after a roll by one, the first and the last column are padding in every row
AROUND = MAIN | {"lengths": (4, 1, 5)}
OTHER = Sizes(B=1, T=4, H=3, d=2, D=6, F=11, V=13, layers=2, positions=5, lengths=(3,), dropout=0.1)
# exposes code that works in pieces, or cuts its input off
LONG = OTHER | {"T": 70, "V": 83, "positions": 72, "lengths": (68,)}
# the heads and the loss of pre-training, which do not depend on the layers
HEADS = Sizes(B=3, T=7, D=10, V=29)
OTHER_HEADS = Sizes(B=1, T=4, D=6, V=13)

"""The sizes of the small calls that are compared, and the names of axes for messages.

B signals, D channels, T steps, P patterns, K steps of a pattern, W windows, C classes.
"""

from tensormark.toolkit import Sizes

# the sizes in a line differ, so that no axis can be mistaken for another
MAIN = Sizes(B=4, D=2, T=9, P=5, K=3, W=7, C=6)
OTHER = Sizes(B=1, D=3, T=8, P=4, K=2, W=7, C=5)

AXES = {2: ("signal", "class"), 3: ("signal", "pattern", "window")}

"""Mistakes in the groups; see nearest.py."""

from tensormark.authoring.variants import mistakes

VARIANTS = mistakes(
    "grouped",
    """
## The order

sorted: each group is sorted
    - return groups
    + return {letter: sorted(words) for letter, words in groups.items()}

## Empty words

skipped: empty words are left out
    - raise ValueError("an empty word")
    + continue
""",
)

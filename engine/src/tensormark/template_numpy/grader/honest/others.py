"""Other ways to write it, which must lose no points."""

from tensormark.authoring.variants import Honest

HONEST = (
    Honest(
        "one_point_at_a_time",
        bodies={
            "nearest": """
            own = [[float(((p - c) ** 2).sum()) for c in centers] for p in points]
            return np.array([row.index(min(row)) for row in own])
            """,
            "grouped": """
            if "" in words:
                raise ValueError
            letters = {word[0] for word in words}
            return {letter: [w for w in words if w[0] == letter] for letter in letters}
            """,
        },
    ),
)

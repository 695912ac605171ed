"""Baselines that do not understand the sentences: majority class and bags of n-grams."""

import statistics
from collections.abc import Mapping, Sequence

Example = tuple[int, str]  # label and sentence


def parse(text: str) -> list[Example]:
    """Read `label ||| sentence` lines."""
    pairs = (line.split(" ||| ", 1) for line in text.splitlines())
    return [(int(label), sentence) for label, sentence in pairs]


def n_gram_accuracy(
    longest: int, train: Sequence[Example], others: Sequence[Sequence[Example]]
) -> list[float]:
    """Fit a logistic regression on word 1- to `longest`-grams; return an accuracy per split."""
    # only here: importing them takes as long as importing torch, and `--check` needs none of them
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    model = make_pipeline(
        CountVectorizer(ngram_range=(1, longest), token_pattern=r"\S+"),
        LogisticRegression(max_iter=1000),
    )
    labels, sentences = zip(*train, strict=True)
    model.fit(sentences, labels)
    scores = []
    for split in others:
        labels, sentences = zip(*split, strict=True)
        scores.append(float(model.score(sentences, labels)))
    return scores


def baseline_table(texts: Mapping[str, str]) -> str:
    """Measure every baseline and write the rows of a Markdown table.

    Args:
        texts: the text of train.txt, dev.txt and test.txt, by these names.
    """
    train, *others = (parse(texts[f"{name}.txt"]) for name in ("train", "dev", "test"))
    majority = statistics.mode(label for label, _ in train)
    shares = [sum(label == majority for label, _ in split) / len(split) for split in others]
    rows = [("majority class", shares)]
    for longest, name in ((1, "1-grams"), (2, "1-2-grams"), (3, "1-3-grams")):
        rows.append((f"logistic regression, {name}", n_gram_accuracy(longest, train, others)))
    lines = ["| baseline | dev | test |", "| --- | --- | --- |"]
    lines += [f"| {name} | {dev:.3f} | {test:.3f} |" for name, (dev, test) in rows]
    return "\n".join(lines)

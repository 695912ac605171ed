"""The review language and the data generated with it."""

import os
import random
import sys
from pathlib import Path
from unittest.mock import Mock

import pytest

from graded import ran
from instructor.language.baselines import n_gram_accuracy, parse
from instructor.language.grammar import Phrase, Writer
from instructor.language.lexicon import FILMS, HALF, VERDICTS, WHOLE
from instructor.language.reviews import film_of, read_reviews, write_reviews
from instructor.language.write_data import DATA, SIZES, main
from tensormark.files import write_whole

FILM = FILMS[0]


@pytest.fixture(scope="module")
def splits() -> dict[str, list[tuple[int, str]]]:
    return {name: parse((DATA / f"{name}.txt").read_text(encoding="utf-8")) for name in SIZES}


def sentences(seed: int, count: int = 300) -> list[Phrase]:
    writer = Writer(random.Random(seed), WHOLE)
    return [writer.sentence(writer.rng.choice(FILMS)) for _ in range(count)]


def phrases(rule: str, count: int = 300) -> list[Phrase]:
    writer = Writer(random.Random(1), WHOLE)
    return [getattr(writer, rule)(FILM.title) for _ in range(count)]


def test_seed_decides_every_sentence() -> None:
    assert sentences(1) == sentences(1)
    assert sentences(1) != sentences(2)


def test_seed_gives_the_same_text_whatever_the_hash_seed() -> None:
    program = (
        "import random, instructor.language.reviews as r; "
        "print(r.write_reviews(random.Random(1), 50))"
    )

    outputs = [
        ran(sys.executable, "-c", program, env={"PYTHONHASHSEED": seed}, cwd=DATA.parent).stdout
        for seed in ("1", "2")
    ]

    assert outputs[0] == outputs[1] != ""


def test_committed_data_are_the_grammars_output(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--check"]) == 0, capsys.readouterr().out


def test_check_names_the_file_that_changed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for path in DATA.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    with (tmp_path / "dev.txt").open("a", encoding="utf-8") as file:
        file.write("1 ||| my own .\n")

    status = main(["--check", "--data", str(tmp_path)])

    assert status == 1
    assert capsys.readouterr().out == f"{tmp_path}/dev.txt: differs from the grammar's output\n"


def test_no_sentence_is_in_two_splits(splits: dict[str, list[tuple[int, str]]]) -> None:
    everything = [sentence for split in splits.values() for _, sentence in split]

    assert len(set(everything)) == len(everything)


def test_labels_are_balanced_in_every_split(splits: dict[str, list[tuple[int, str]]]) -> None:
    for name, split in splits.items():
        assert len(split) == SIZES[name]
        assert 2 * sum(label for label, _ in split) == len(split)


def test_training_split_uses_its_half_of_the_opinion_words(
    splits: dict[str, list[tuple[int, str]]],
) -> None:
    opinion_words = {
        name: {word for _, sentence in split for word in sentence.split()} & WHOLE.words()
        for name, split in splits.items()
    }

    assert opinion_words == {"train": HALF.words(), "dev": WHOLE.words(), "test": WHOLE.words()}


def test_no_word_has_both_signs() -> None:
    words = [
        word
        for group in (WHOLE.adjectives, WHOLE.nouns)
        for sign in group.values()
        for word in sign
    ]

    assert len(words) == len(set(words))
    assert not WHOLE.words() & set(" ".join(map(str, VERDICTS.values())).split())


def test_bags_of_n_grams_stay_near_chance(splits: dict[str, list[tuple[int, str]]]) -> None:
    (accuracy,) = n_gram_accuracy(3, splits["train"], [splits["dev"]])

    assert accuracy < 0.68


def test_negation_reverses_the_adjective() -> None:
    for phrase in phrases("description"):
        sign = 1 if phrase.words.split()[-1] in WHOLE.adjectives[1] else -1
        negated = any(
            word in phrase.words for word in (" not at", "is not ", "never dull", "fails")
        )
        assert phrase.value == (-sign if phrase.rules == ("negation",) else sign)
        assert not (negated and phrase.rules == ("plain",) and "never fails" not in phrase.words)


def test_main_clause_decides_a_contrast() -> None:
    writer = Writer(random.Random(3), WHOLE)
    for phrase in (writer.contrast(FILM.title) for _ in range(300)):
        words = phrase.words
        if " , but " in words or " , yet " in words:
            main_clause = words.split(" , ")[1].split(" ", 1)[1]
        elif words.startswith(("although", "even though")):
            main_clause = words.split(" , ")[1]
        else:
            main_clause = words.split(" , ")[0]
        assert read_clause(main_clause) == phrase.value


def read_clause(words: str) -> int:
    """Compute a clause's value by hand: its last word's sign, reversed by these phrases."""
    turns = ("is not", "never", "hardly", "far from", "anything but", "be less", "fails to be")
    turns = (*turns, "is free of", " lacks", "has no", "is without")
    last = words.split()[-1]
    sign = 1 if last in (*WHOLE.adjectives[1], *WHOLE.nouns[1]) else -1
    keeps_sign = any(turn in words for turn in ("never fails", "never runs", "nothing but"))
    return -sign if not keeps_sign and any(turn in words for turn in turns) else sign


def test_every_sentence_of_a_review_names_its_film() -> None:
    for review in write_reviews(random.Random(1), 300):
        films = [
            {film for film in FILMS if film.title in words or film.lead in words}
            for words in (sentence.split() for sentence in review)
        ]
        assert {film.title for film in set.union(*films)} == {film_of(review)}
        assert all(films)


def test_reviews_survive_being_written_and_read() -> None:
    text = (DATA / "pretraining.txt").read_text(encoding="utf-8")

    reviews = read_reviews(text)

    assert all(len(review) >= 2 for review in reviews)
    assert "\n\n".join("\n".join(review) for review in reviews) + "\n" == text


def test_failed_write_leaves_the_old_file_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "file.txt"
    write_whole(path, "old")
    monkeypatch.setattr(os, "replace", Mock(side_effect=OSError("the disk is full")))

    with pytest.raises(OSError, match="full"):
        write_whole(path, "new")

    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]

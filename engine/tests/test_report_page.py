"""The page that `make report` writes."""

import json
import re
import sys
from pathlib import Path

from tensormark.reports import html

import sample
from graded import ran


def test_the_page_asks_for_nothing_and_runs_nothing() -> None:
    page = html.page(sample.model())

    assert "default-src 'none'" in page
    assert not re.search(r"<(script|img|link|iframe|object|form)\b", page)
    assert not re.search(r"\b(src|on\w+|style)=", page)
    assert "http://" not in page
    assert "https://" not in page


def test_the_largest_page_is_under_one_and_a_half_megabytes() -> None:
    assert len(html.page(sample.largest()).encode()) < 1_500_000


def test_the_page_shows_everything_in_the_result() -> None:
    page = html.page(sample.model(), html.Handout("../", (".html",)))

    for text in (
        "computed without the mask",
        'href="../handout.html#the-mask"',
        "“pad” marks padding.",
        "needed: 0.84",
        "read as good",
        "Since 2026-11-21 09:00",
        "Your code printed",
        "tier process",
    ):
        assert text in page
    assert "mask_ignored" not in page  # the id, which only the books of staff use


def test_the_page_of_a_private_result_has_no_figure() -> None:
    model = sample.model()
    for exercise in model["exercises"]:
        exercise["measured"] = None
        for finding in exercise["findings"]:
            finding["excerpt"] = None

    assert "<svg" not in html.page(model)


def test_the_code_that_draws_reports_imports_no_package(tmp_path: Path) -> None:
    (tmp_path / "r.json").write_text(json.dumps(sample.model()), encoding="utf-8")
    command = [sys.executable, *"-S -m tensormark convert html".split(), tmp_path / "r.json"]
    source = Path(html.__file__).parents[2]  # where tensormark is; -S leaves all packages out

    completed = ran(*command, cwd=source)

    assert completed.returncode == 0, completed.stderr

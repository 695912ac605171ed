"""Text of a submission, in every place of every report, takes effect in none of them."""

import io
import json
import re
from pathlib import Path
from typing import Any

import pytest

from tensormark.reports import github, html, platforms
from tensormark.reports.terminal import Report
from tensormark.reports.text import visible
from tensormark.result import Finding, Grade, Outcome, Result

import formats
import sample
import toy
from graded import edited
from resident import called

PAYLOADS = [
    # HTML
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    '"><svg onload=alert(1)>',
    "'><iframe src=javascript:alert(1)>",
    "</pre></main><h1>100 / 100</h1>",
    "</style><style>*{display:none}</style>",
    "<!-- ",
    "]]><x/>",
    "&lt;script&gt;alert(1)&#60;/script&#62;",
    '<a href="javascript:alert(1)">handout.md</a>',
    '<meta http-equiv="refresh" content="0;url=http://x.example">',
    "<base href=//x.example>",
    '" autofocus onfocus="alert(1)',
    # terminals
    "\x1b[2J\x1b[H100 / 100",
    "\x1b]0;title\x07",
    "\x1b]8;;http://x.example\x1b\\click\x1b]8;;\x1b\\",
    "\x9b31mred",
    "\rpassed          attention   25/25",
    "\x08" * 40 + "passed",
    "\x1b]52;c;cm0gLXJmIC8=\x07",
    "\x1bP+q544e\x1b\\",
    # spreadsheets
    '=HYPERLINK("http://x.example","100")',
    "+1+cmd|' /C calc'!A0",
    "-2+3+cmd|' /C calc'!A0",
    "@SUM(1+1)*cmd|' /C calc'!A0",
    "\t=1+1",
    " \n=1+1",
    "\uff1d1+1",
    'a","100","100\n"b',
    # GitHub
    "::error file=x,line=1::injected",
    "\n::set-output name=score::100",
    "\r\n::add-mask::a",
    "%0A::warning::injected%0D",
    "##[command]echo 1",
    "| 25/25 | passed |\n| --- |",
    "[handout](http://x.example) ![x](http://x.example/x.png) https://x.example",
    "```\n# 100 / 100\n```",
    "@instructor #1 $x$ <details open>",
    # directions and invisible letters
    "\u202e001/001 dessap\u202c",
    "\u2066\u2067abc\u2069",
    "pass\u200bed\u200d\ufeff\u00ad",
    "\u061c\u200f\u200e",
    "a\u3164b\ufe0fc\u2800d\u115f\u1160\u034f\uffa0\u180b\U000e0100",
    "a" + "\u0301\u0489" * 300,
    # names of files and broken text
    "../../etc/passwd\x00.py",
    "x\u2028y\u2029z\x85\x0b\x0c",
    "\ud800\udfff lone",
    "a" * 100_000,
    "nul\x00 del\x7f",
]
COLOURS = re.compile(r"\x1b\[(?:1;)?\d{1,2}m|\r?\x1b\[K")


def harmless(payload: str) -> str:
    """Return a text of the same length and lines."""
    return re.sub(r"[^\n]", "x", payload)


def is_clean(text: str) -> bool:
    """Return whether a text has only printable characters, tabs and line ends."""
    return all(
        (char.isprintable() and char not in "\u3164\ufe0f\u2800") or char in "\n\t" for char in text
    )


@pytest.fixture(scope="module", params=PAYLOADS, ids=range(len(PAYLOADS)))
def models(request: pytest.FixtureRequest) -> list[dict[str, Any]]:
    """A model with a payload before every text, and one with as many harmless lines instead."""
    prefixes = request.param, harmless(request.param)
    return [sample.with_text(sample.model(), prefix.__add__) for prefix in prefixes]


def test_no_payload_changes_the_page(models) -> None:
    hostile, plain = (formats.Tags(html.page(model)) for model in models)

    assert hostile.tags == plain.tags
    assert all(re.match(r"#|handout\.(html|md)#", link) for link in hostile.links)
    assert is_clean("".join(hostile.text))


def test_no_payload_changes_gradescopes_results(models) -> None:
    hostile, plain = (formats.check_gradescope(platforms.gradescope(model)) for model in models)

    assert hostile.keys() == plain.keys()
    assert [t.get("score") for t in hostile["tests"]] == [t.get("score") for t in plain["tests"]]
    assert {hostile[n] for n in hostile if n.endswith("_format")} == {"text"}
    texts = [hostile["output"], *(t[n] for t in hostile["tests"] for n in ("name", "output"))]
    assert is_clean("".join(texts))


def test_no_payload_is_interpreted_as_markdown(models) -> None:
    hostile, plain = (github.summary(model) for model in models)

    assert formats.skeleton(hostile) == formats.skeleton(plain)
    assert is_clean(hostile)


def test_no_payload_is_a_workflow_command(models) -> None:
    hostile, plain = (formats.check_annotations(github.annotations(model)) for model in models)

    places = [[line.split("title=")[0] for line in lines] for lines in (hostile, plain)]
    assert places[0] == places[1]
    assert is_clean("".join(hostile))


@pytest.mark.parametrize("stream", [io.StringIO, formats.Terminal])
@pytest.mark.parametrize("payload", PAYLOADS, ids=range(len(PAYLOADS)))
def test_no_payload_reaches_a_terminal(payload: str, stream, monkeypatch) -> None:
    out = stream()
    monkeypatch.setattr("sys.stdout", out)
    monkeypatch.setattr("sys.stderr", out)
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    finding = Finding(payload, (payload, "and"), "x")
    results = [
        Result("layer", Outcome.FAILED, 0.0, 10, (finding, finding)),
        Result("embed", Outcome.BLOCKED, 0.0, 10, note=payload),
    ]
    report = Report()

    report.begin("Example", "mine", "process", ["layer", "embed"])
    report.progress(payload, 1, 2)
    for result in results:
        report.result(result)
    report.end(Grade(payload, "process", results, [payload]), payload)

    text = COLOURS.sub("", out.getvalue())
    assert is_clean(text)
    assert text.count("\n") < 40


@pytest.mark.parametrize("payload", PAYLOADS, ids=range(len(PAYLOADS)))
def test_visible_text_is_bounded_and_printable(payload: str) -> None:
    text = visible(payload, 200)

    assert text.isprintable()
    assert len(text) <= 200 * 10 + 4


def test_payloads_in_real_output_change_no_format(
    folder: Path, tmp_path: Path, solution_source: str
) -> None:
    lines = [f"print({text!r})" for text in PAYLOADS]
    lines.append(f"raise ValueError({''.join(PAYLOADS[:12])!r})")
    source = edited(solution_source, (toy.WINDOWS, "\n        ".join([*lines, toy.WINDOWS])))
    path, page, answer = (
        tmp_path / name
        for name in ("=<script>\u202e,%0A::error::.py", "report.html", "result.json")
    )
    path.write_text(source, encoding="utf-8")
    options = ["--only", "conv,detector", "--out", str(page), "--json", str(answer)]

    completed = called(folder, "report", str(path), *options)

    assert completed.returncode == 0, completed.stderr
    formats.check_all(json.loads(answer.read_text("utf-8")))
    text = page.read_text("utf-8")
    assert not re.search(r"<(script|img|iframe|a href=\"javascript)", text)
    assert is_clean(text)
    assert is_clean(completed.stdout)

"""A payload, in every place of a report, acts in no output."""

import io
import re

import pytest

from tensormark.reports import html, platforms
from tensormark.reports.terminal import Report
from tensormark.result import Finding, Grade, Outcome, Result
from testkit import formats, sample
from testkit.payloads import PAYLOADS

COLOURS = re.compile(r"\x1b\[(?:1;)?\d{1,2}m|\r?\x1b\[K")
every_payload = pytest.mark.parametrize("payload", PAYLOADS, ids=range(len(PAYLOADS)))


def is_clean(text):
    """Return whether a text has only printable characters, tabs and line ends."""
    return all(
        (char.isprintable() and char not in "\u3164\ufe0f\u2800") or char in "\n\t" for char in text
    )


# forms: each returns what no text may change, and the text


def page(model):
    parsed = formats.Tags(html.page(model))
    assert all(re.match(r"#|handout\.(html|md)#", link) for link in parsed.values("href", "src"))
    return parsed.tags, "".join(parsed.text)


def gradescope(model):
    results = formats.check_gradescope(platforms.gradescope(model))
    tests = results.pop("tests")
    texts = [results.pop("output")]
    for test in tests:
        texts += [test.pop("name"), test.pop("output")]
    del results["extra_data"]
    return (results, [test.get("score") for test in tests]), "".join(texts)


def summary(model):
    text = platforms.summary(model)
    return formats.skeleton(text), text


def comments(model):
    text = platforms.comments(model)
    return [line[:1] for line in text.split("\n")], text


@pytest.mark.parametrize("form", [page, gradescope, summary, comments])
@every_payload
def test_a_payload_before_every_text_acts_in_no_form(payload, form):
    harmless = re.sub(r"[^\n]", "x", payload)

    structure, text = form(sample.with_text(sample.model(), payload.__add__))

    assert structure == form(sample.with_text(sample.model(), harmless.__add__))[0]
    assert is_clean(text)


@every_payload
def test_a_payload_is_no_formula(payload):
    text = platforms.csv_text([[payload, 1.5]])

    assert is_clean(text)
    assert re.fullmatch(r'"(?!\s*[=+\-@\uff1d])(?:[^"]|"")*",1.5\n', text)


@pytest.mark.parametrize("stream", [io.StringIO, formats.Terminal])
@every_payload
def test_no_payload_reaches_a_terminal(payload, stream, monkeypatch):
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

    report.begin("Example", payload, "process", ["layer", "embed"])
    report.progress(payload, 1, 2)
    for result in results:
        report.result(result)
    report.end(Grade(payload, "process", results, [payload], printed=payload))

    text = COLOURS.sub("", out.getvalue())
    assert is_clean(text)
    assert text.count("\n") < 40

"""Validators for the formats of other tools, by their specifications; and the score in each."""

import io
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import jsonschema

from tensormark.reports import github, html, platforms

Model = dict[str, Any]
SCHEMA = json.loads(Path(html.__file__).with_name("result.schema.json").read_bytes())
VISIBILITY = {"hidden", "after_due_date", "after_published", "visible"}
TEXT_FORMATS = {"text", "html", "simple_format", "md", "ansi"}
VOID = set("meta link br img hr input wbr".split())
ANNOTATION = re.compile(
    r"::(?:error|warning|notice) file=[^:,\r\n]+(?:,line=[1-9]\d*)?,title=[^:,\r\n]*::[^\r\n]*"
)


def check_model(model: Model) -> None:
    """Check a result model by its schema, as the JSON that it becomes."""
    jsonschema.Draft202012Validator(SCHEMA).validate(json.loads(json.dumps(model, allow_nan=False)))


def is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def check_gradescope(text: str) -> Model:
    result = json.loads(text)
    known = {"score", "execution_time", "output", "output_format", "test_output_format"}
    known |= {"test_name_format", "visibility", "stdout_visibility", "extra_data", "tests"}
    assert set(result) <= known | {"leaderboard"}
    assert "score" in result or result["tests"]
    assert is_number(result["score"])
    assert is_number(result["execution_time"])
    assert result["visibility"] in VISIBILITY
    assert result["stdout_visibility"] in VISIBILITY
    for name in ("output_format", "test_output_format", "test_name_format"):
        assert result[name] in TEXT_FORMATS
    for test in result["tests"]:
        keys = {"score", "max_score", "status", "name", "name_format", "number", "output"}
        assert set(test) <= keys | {"output_format", "tags", "visibility", "extra_data"}
        assert all(is_number(test[name]) for name in ("score", "max_score") if name in test)
        assert test.get("status", "passed") in ("passed", "failed")
        assert all(isinstance(test[name], str) for name in ("name", "number", "output"))
        assert isinstance(test["extra_data"], dict)
        assert isinstance(test.get("tags", []), list)
        assert {test.get(n, "text") for n in ("name_format", "output_format")} <= TEXT_FORMATS
        assert test.get("visibility", "visible") in VISIBILITY
    return result


def check_annotations(text: str) -> list[str]:
    """Check workflow commands: one per line, and nothing else."""
    lines = text.split("\n")
    assert lines.pop() == ""
    assert all(ANNOTATION.fullmatch(line) for line in lines), lines
    assert not re.search(r"%(?!25|0A|0D|3A|2C)", text)
    return lines


def skeleton(summary: str) -> str:
    """Return the characters of a summary that may be Markdown or HTML syntax."""
    return re.sub(r"(?:&#\d+;|[^\W_]|[ ,()])+", "", summary)


class Terminal(io.StringIO):
    """A stream that claims to be a terminal."""

    encoding = "utf-8"

    def isatty(self) -> bool:
        return True


class Tags(HTMLParser):
    """Collects the tags of a page with their attributes' names, and its text."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, ...]] = []
        self.open: list[str] = []
        self.text: list[str] = []
        self.links: list[str] = []
        self.attributes: list[dict[str, str | None]] = []
        self.feed(page)
        self.close()
        assert self.open == []

    @property
    def elements(self) -> list[tuple[str, dict[str, str | None]]]:
        return [(tag, found) for (tag, *_), found in zip(self.tags, self.attributes, strict=True)]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, *(name for name, _ in attrs)))
        self.attributes.append(dict(attrs))
        self.links += [value or "" for name, value in attrs if name in ("href", "src")]
        self.text += [value or "" for name, value in attrs]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert tag in VOID or self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text.append(data)

    def handle_comment(self, data: str) -> None:
        raise AssertionError(f"a comment: {data}")


def check_all(model: Model) -> None:
    check_gradescope(platforms.gradescope(model))
    check_annotations(github.annotations(model))
    assert github.summary(model).startswith("## ")
    Tags(html.page(model))


def scores(model: Model) -> dict[str, float]:
    """Return the score in each format."""
    lost = 0.0
    for line in github.annotations(model).splitlines():  # these show lost points
        got, most = re.findall(r"([\d.]+) / ([\d.]+)::", line)[0]
        lost += float(most) - float(got)
    page = re.search(r'class="score"><b>([\d.]+)</b>', html.page(model))
    summary = re.match(r"## Example&#58; ([\d.]+|\d+&#46;\d+) &#47;", github.summary(model))
    assert page
    assert summary
    return {
        "html": float(page[1]),
        "gradescope": check_gradescope(platforms.gradescope(model))["score"],
        "summary": float(summary[1].replace("&#46;", ".")),
        "annotations": model["max_score"] - lost,
    }

"""Validators for the formats of other tools, by their specifications."""

import io
import json
import re
from html.parser import HTMLParser
from pathlib import Path

import jsonschema

from tensormark.reports import html, platforms

SCHEMA = json.loads(Path(html.__file__).with_name("result.schema.json").read_bytes())
VOID = set("meta link br img hr input wbr".split())

# https://gradescope-autograders.readthedocs.io/en/latest/specs/#output-format
GRADESCOPE = json.loads(Path(__file__).with_name("gradescope.schema.json").read_bytes())


def check_model(model):
    """Check a result model by its schema, as the JSON that it becomes."""
    jsonschema.Draft202012Validator(SCHEMA).validate(json.loads(json.dumps(model, allow_nan=False)))


def check_gradescope(text):
    result = json.loads(text)
    jsonschema.Draft202012Validator(GRADESCOPE).validate(result)
    return result


def check_all(model):
    """Write a model in every form, and check each."""
    check_gradescope(platforms.gradescope(model))
    assert platforms.summary(model).startswith("## ")
    Tags(html.page(model))


def skeleton(summary):
    """Return the characters of a summary that may be Markdown or HTML syntax."""
    return re.sub(r"(?:&#\d+;|[^\W_]|[ ,()])+", "", summary)


class Terminal(io.StringIO):
    """A stream that claims to be a terminal."""

    encoding = "utf-8"

    def isatty(self):
        return True


class Tags(HTMLParser):
    """Collects the elements of a page with their attributes, and its text."""

    def __init__(self, page):
        super().__init__(convert_charrefs=True)
        self.elements = []
        self.open = []
        self.text = []
        self.feed(page)
        self.close()
        assert self.open == []

    @property
    def tags(self):
        """The elements with their attributes' names."""
        return [(tag, *attributes) for tag, attributes in self.elements]

    def values(self, *names):
        """Return the values of attributes."""
        values = []
        for _, attributes in self.elements:
            values += [attributes[name] or "" for name in names if name in attributes]
        return values

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        self.text += [value or "" for _, value in attrs]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert tag in VOID or self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)

    def handle_comment(self, data):
        raise AssertionError(f"a comment: {data}")

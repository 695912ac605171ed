"""What people read about a submission of the golden corpus, as text that a diff shows well."""

import contextlib
import io
import itertools
import zipfile
from pathlib import Path

import product
from page_text import Lines

LONGEST = 300  # characters of a line


def line_of(text):
    """Return a text on one line, with everything visible; of a very long one, the beginning."""
    visible = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text[:LONGEST])
    return visible if len(text) <= LONGEST else f"{visible} ... {len(text)} characters"


def points(entry, score="score", whole="max_score"):
    return f"{'none' if entry[score] is None else format(entry[score], 'g')}/{entry[whole]:g}"


def said(exercise):
    """Return what is said about an exercise: the outcome, the mistake's id, the whole message."""
    mistake = f" ({exercise['mistake']})" if exercise["mistake"] else ""
    lines = [f"    {line_of(line)}" for line in exercise["message"].splitlines()]
    lines += [f"    flag: {line_of(flag)}" for flag in exercise["flags"]]
    return [f"{exercise['outcome']}{mistake}", *lines]


def is_listed(exercise):
    return not exercise["bonus"] or exercise["outcome"] != "not written yet" or exercise["message"]


def outcomes(model):
    """Return the points and outcomes of exercises that somebody wrote."""
    listed = [exercise for exercise in model["exercises"] if is_listed(exercise)]
    return "\n".join(f"{e['id']} {points(e)}: {e['outcome']}" for e in listed)


def verdict(model):
    """Return what a result model says about a submission, except extensions not written yet."""
    lines = [f"score {points(model)}, bonus {points(model, 'bonus', 'bonus_max_score')}"]
    listed = [exercise for exercise in model["exercises"] if is_listed(exercise)]
    for (outcome, *message), exercises in itertools.groupby(listed, said):
        names = ", ".join(f"{exercise['id']} {points(exercise)}" for exercise in exercises)
        lines += [f"{names}: {outcome}", *message]
    for kind in ("notes", "flags"):
        lines += [f"{kind}: {line_of(text)}" for text in model[kind]]
    lines += [f"printed: {line_of(line)}" for line in model["printed"].splitlines()]
    return "\n".join(lines)


def pages(model, terminal):
    """Return what a student, Gradescope and GitHub show of a result."""
    parts = {"terminal": terminal, **product.written(model)}
    parts["html"] = "\n".join(Lines(parts["html"]).lines)
    return "\n".join(f"--- {name}\n{text}" for name, text in parts.items())


def a_class(options):
    """Grade a class; return what is printed, and all files except those of single students."""
    parts = ["--- printed", product.graded_class(options)]
    for path in sorted(Path("out").rglob("*")):
        if path.is_dir() or path.name.startswith((".", "results.sqlite")):
            continue
        parts.append(f"--- {path.as_posix()}")
        if path.parent.name == "out" and path.suffix != ".zip":
            text = path.read_text("utf-8")
            parts += Lines(text).lines if path.suffix == ".html" else text.splitlines()
        elif path.suffix == ".zip":
            parts += sorted(zipfile.ZipFile(path).namelist())
    return "\n".join(parts)


def shown(row, folder):
    """Grade a submission that lies in a folder; return what is shown of it."""
    terminal = io.StringIO()
    unread = io.StringIO()
    with (
        contextlib.chdir(folder),
        contextlib.redirect_stdout(terminal),
        contextlib.redirect_stderr(unread),
    ):
        if "class" in row:
            return a_class(row["class"])
        if "model" in row:
            return pages(row["model"], "")
        try:
            model = product.graded(row.get("path", "work"), **row.get("options", {}))
        except product.UserError as error:
            return f"refused: {line_of(str(error))}"
    if "points" in row:
        return outcomes(model)
    return pages(model, terminal.getvalue()) if "pages" in row else verdict(model)

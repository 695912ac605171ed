"""Writes a walk through your model as a page: one file that needs no network.

Every number has its colour on the scale of colours.py. Hovering or focusing a token shows where it
looks; printed, the page has the tables of all heads.
"""

import html
import itertools
from collections.abc import Sequence

from torch import Tensor

from arguments import visible
from colours import ABOVE, BELOW, LEVELS, ZERO, level
from walk import BY_PAIR, SHARES, Step, Walk

UNITS = 8  # of a tensor that are shown
HUGE = 1000.0  # the mask is; beside it, all other numbers would have the colour of 0
DARK = 4  # the level from which text is white
CUT = (
    "The tokenizer cuts the sentence into pieces that it has numbers for. Padding is added, as in "
    "a batch with a longer sentence, so that there is something to mask."
)

STYLE = """
:root { color-scheme: light; }
* { box-sizing: border-box; }
body { margin: 0; background: #fff; color: #1b1f24; font: 16px/1.5 system-ui, sans-serif; }
main { max-width: 66rem; margin: 0 auto; padding: 1rem; }
h1, p { overflow-wrap: anywhere; }
h1 { font-size: 1.5rem; line-height: 1.25; }
h2 { margin: 2rem 0 .5rem; border-top: 1px solid #d0d7de; padding-top: 1rem; }
h3 { margin: 1rem 0 0; font-size: 1rem; }
p { margin: .2rem 0 .4rem; }
nav, .steps { display: flex; flex-wrap: wrap; gap: 0 2rem; }
.step { max-width: 100%; width: 31rem; }
.step.all { width: 100%; }
.about, caption { color: #57606a; font-size: .875rem; text-align: left; }
.stop { border-left: .3rem solid #c2410c; background: #fff3ea; padding: .25rem .75rem; }
.wide { overflow-x: auto; }
.wide:focus-visible, button:focus-visible { outline: 3px solid #0550ae; outline-offset: 1px; }
table { border-collapse: collapse; margin-bottom: .75rem; font: .8rem/1.4 monospace; }
th { font-weight: 400; text-align: right; padding: .1rem .5rem .1rem 0; color: #424a53; }
td { text-align: right; padding: .15rem .4rem; border: 1px solid #fff; white-space: nowrap; }
tr.on { outline: 2px solid #0550ae; outline-offset: -1px; }
.look { display: flex; flex-wrap: wrap; gap: .25rem; margin: .25rem 0; }
button { font: .95rem/1.3 system-ui, sans-serif; color: inherit; border: 1px solid #8c959f;
  border-radius: .3rem; padding: .3rem .5rem; min-height: 2.75rem; }
button::after { content: attr(data-share); display: block; font: .7rem monospace; }
button[aria-pressed=true] { box-shadow: 0 0 0 2px #0550ae; }
select { font: inherit; min-height: 2.25rem; }
@media print {
  label, nav, .look, .said, .hint { display: none; }
  main { max-width: none; }
  table[hidden] { display: table; }
  .wide { overflow: visible; }
  table, tr { break-inside: avoid; }
  * { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
}
"""
SCRIPT = """
document.querySelectorAll(".look").forEach(look => {
  const section = look.closest("section"), buttons = [...look.children];
  const head = section.querySelector("select"), said = section.querySelector(".said");
  let at = 0;
  const show = () => {
    const of = name => [...section.querySelectorAll(name)];
    of("[data-head]").forEach(one => { one.hidden = one.dataset.head !== head.value; });
    const rows = [...of("table.shares").find(one => !one.hidden).tBodies[0].rows];
    const cells = [...rows[at].cells].slice(1), words = cells.map(cell => cell.textContent);
    rows.forEach((row, i) => row.classList.toggle("on", i === at));
    buttons.forEach((button, i) => {
      button.className = cells[i].className;
      button.dataset.share = words[i];
      button.setAttribute("aria-pressed", i === at);
    });
    const order = buttons.map((_, i) => i).sort((a, b) => words[b] - words[a]).slice(0, 3);
    const most = order.map(i => `${buttons[i].textContent} ${words[i]}`);
    said.textContent = `${buttons[at].textContent} looks at ${most.join(", ")}`;
  };
  buttons.forEach((button, i) => ["pointerenter", "focus", "click"].forEach(
    event => button.addEventListener(event, () => { at = i; show(); })));
  head.addEventListener("change", show);
  show();
});
"""


def scale() -> str:
    """Return the colours of all levels as a style."""
    rules = [f".z {{ background: {ZERO}; }}"]
    for number in range(1, LEVELS + 1):
        ink = " color: #fff;" if number >= DARK else ""
        rules.append(f".p{number} {{ background: {ABOVE[number - 1]};{ink} }}")
        rules.append(f".n{number} {{ background: {BELOW[-number]};{ink} }}")
    return "\n".join(rules)


def text(words: str) -> str:
    """Return words that mean nothing in HTML, nor to a terminal."""
    return html.escape(visible(words))


def cell(value: float, largest: float) -> str:
    """Return a number with its colour."""
    steps = level(value, largest)
    name = f"{'p' if steps > 0 else 'n'}{abs(steps)}" if steps else "z"
    return f'<td class="{name}">{value:z.{0 if abs(value) >= HUGE else 2}f}'


def table(values: Tensor, rows: Sequence[str], columns: Sequence[str], head: int, kind: str) -> str:
    """Return a matrix as a table in colours; `head` is 0 if it has none."""
    numbers = values.tolist()
    largest = max((abs(v) for row in numbers for v in row if abs(v) < HUGE), default=0.0) or 1.0
    names = "".join(f'<th scope="col">{text(name)}' for name in columns)
    lines = (
        f'<tr><th scope="row">{text(name)}{"".join(cell(value, largest) for value in row)}'
        for name, row in zip(rows, numbers, strict=False)
    )
    of = f' data-head="{head}"' if head else ""
    caption = f"<caption>head {head}</caption>" if head else ""
    start = f'<table class="{kind}"{of}>{caption}<thead><tr><td>{names}'
    return f"{start}<tbody>{''.join(lines)}</table>"


def tables(step: Step, tokens: Sequence[str]) -> str:
    """Return what is shown of a step's tensor: of the first sentence, a table for each head."""
    tensor = step.tensor
    assert tensor is not None
    size = tensor.shape[-2:] if tensor.ndim > 1 else (1, tensor.numel())
    matrices = tensor.float().reshape(-1, *size)  # (H or 1, T, units or T)
    pairs = step.axes == BY_PAIR
    columns = tokens if pairs else [str(unit) for unit in range(UNITS)]
    rows = tokens if matrices.shape[1] == len(tokens) else ["all" if pairs else "sentence"]
    kind = "shares" if step.title == SHARES else ""
    heads = range(1, len(matrices) + 1) if len(matrices) > 1 or kind else [0]
    return "".join(
        table(matrix[:, : len(columns)], rows, columns[: matrix.shape[1]], head, kind)
        for head, matrix in zip(heads, matrices, strict=True)
    )


def in_words(step: Step) -> str:
    """Return the shape of a step's tensor in words, such as 1 sentence, 7 tokens, 64 units."""
    assert step.tensor is not None
    shape = step.tensor.shape
    axes = step.axes[-len(shape) :]
    if not shape or len(axes) < len(shape):
        return f"shape {tuple(shape)}"
    cut = f"; the first {UNITS} are shown" if step.axes != BY_PAIR and shape[-1] > UNITS else ""
    sizes = (
        f"one for all {name}" if size == 1 and name != "sentence" else f"{size} {name}"
        for size, name in zip(shape, axes, strict=True)
    )
    return ", ".join(sizes) + cut


def looking(step: Step, tokens: Sequence[str]) -> str:
    """Return the buttons that show where a token looks."""
    buttons = "".join(f'<button type="button">{text(token)}</button>' for token in tokens)
    hint = "Point at a token, or reach it with the Tab key: the numbers are the shares it takes."
    said = '<p class="said about" aria-live="polite"></p>'
    return f'<p class="about hint">{hint}</p><div class="look">{buttons}</div>{said}'


def described(step: Step, tokens: Sequence[str]) -> str:
    """Return one step."""
    start = f"<h3>{text(step.title)}</h3><p>{text(step.says)}</p>"
    if step.tensor is None:
        return f'<div class="step all stop">{start}</div>'
    look = looking(step, tokens) if step.title == SHARES else ""
    name = text(f"{step.part}: {step.title}")
    return (
        f'<div class="step{" all" * (step.axes == BY_PAIR)}">{start}{look}'
        f'<p class="about">{in_words(step)}</p>'
        f'<div class="wide" tabindex="0" role="group" aria-label="{name}">'
        f"{tables(step, tokens)}</div></div>"
    )


def section(part: str, body: str, heads: int = 0) -> str:
    """Return a part of the page; with heads, one of them can be chosen."""
    options = "".join(f"<option>{number}" for number in range(1, heads + 1))
    choice = f"<label>Show head <select>{options}</select></label>" if heads else ""
    anchor = part.replace(" ", "-")
    return (
        f'<section id="{anchor}"><h2>{part}</h2>{choice}<div class="steps">{body}</div></section>'
    )


def parts_of(walk: Walk) -> dict[str, str]:
    """Return the parts of the page by their names."""
    ids = "".join(f"<th scope=col>{text(token)}" for token in walk.tokens)
    numbers = "".join(f'<td class="z">{number}' for number in walk.ids)
    parts = {
        "tokens": section(
            "tokens",
            f"<p>{CUT}</p><div class='wide' tabindex='0' role='group' aria-label='tokens'>"
            f"<table><thead><tr><td>{ids}<tbody><tr><th scope='row'>id{numbers}</table></div>",
        )
    }
    for part, group in itertools.groupby(walk.steps, key=lambda step: step.part):
        steps = list(group)
        shares = [step.tensor for step in steps if step.title == SHARES]
        heads = shares[0].shape[1] if shares and shares[0] is not None else 0
        parts[part] = section(part, "".join(described(s, walk.tokens) for s in steps), heads)
    return parts


def page(walk: Walk, sentence: str, source: str) -> str:
    """Return a walk as a page.

    Args:
        source: where the weights come from.
    """
    parts = parts_of(walk)
    links = "".join(f'<a href="#{name.replace(" ", "-")}">{name}</a>' for name in parts)
    policy = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'"
    about = f"With the weights of {text(source)}. Orange is above zero, blue below; dark is far."
    return (
        '<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>One sentence through your model</title>\n<style>{STYLE}{scale()}</style>\n"
        f'<main><h1>“{text(sentence)}” through your model</h1><p class="about">{about}</p>'
        f"<nav>{links}</nav>{''.join(parts.values())}</main>\n<script>{SCRIPT}</script>\n"
    )

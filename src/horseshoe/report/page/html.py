"""A report as one HTML file: nothing is loaded, and what comes from users is text.

The policy in the head of the file lets a browser run the one script that is written there, by its digest, use
the styles and pictures in the file, and load nothing else.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterable
from importlib.resources import files
from typing import Any

from horseshoe.report.markup import Html, element, escape_html, join_html, replace_unfit
from horseshoe.report.page.content import Fact, Page, Picture, Row, Table

# Rows that are shown at first; the others wait as data: ten thousand in the document would be slow.
STEP = 200
NOTHING = Html("")


def render(page: Page) -> str:
    """Return the report as the text of an HTML file.

    Examples
    --------
    >>> text = render(Page(title="<b>", answer=("No column can be told from chance.",)))
    >>> "<title>&lt;b&gt;</title>" in text, "http" in text.replace("http-equiv", "")
    (True, False)
    """
    style, script = (
        (files("horseshoe.report.page") / name).read_text("utf-8") for name in ("page.css", "table.js")
    )
    figures = join_html(map(_figure, page.pictures), "\n")
    parts = (
        _section("answer", "The answer", _paragraphs(page.answer), "answer"),
        _section("warnings", "Please note", _bullets(page.warnings), "warnings"),
        _facts_of(page),
        _section(
            "coefficients", "Every column", NOTHING if page.table is None else _coefficients(page.table)
        ),
        _section("pictures", "Pictures", _block("pictures", figures)),
        _section("sure", "How sure is this?", _paragraphs(page.how_sure)),
        _convergence(page),
        _methods(page),
        _section("command", "To do this again", _paste(page.command, "pre")),
    )
    body = join_html((part for part in parts if part), "\n")
    title, version = escape_html(page.title), escape_html(page.version)
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy(style, script)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>{title}</title>
<link rel="icon" href="data:,">
<style>{style}</style>
</head>
<body>
<header>
<p class="kind">Report of a sparse regression</p>
<h1><bdi>{title}</bdi></h1>
{element("p", page.subtitle, class_="subtitle") if page.subtitle else ""}
</header>
<main>
{body}
</main>
<footer>Written by horseshoe {version}. This file needs no network and loads nothing.</footer>
<script>{script}</script>
</body>
</html>
"""


def data_block(value: Any) -> Html:
    r"""Return plain data as JSON that no parser of HTML can take for the end of a script.

    Examples
    --------
    >>> data_block(["</script>", 1.5, None])
    '["\\u003c/script\\u003e",1.5,null]'
    """
    plain = json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    for character in "<>&":
        plain = plain.replace(character, f"\\u{ord(character):04x}")
    return Html(plain)


def policy(style: str, script: str) -> str:
    """Return the policy that allows this style and this script and nothing else.

    Examples
    --------
    >>> policy("p {}", "1")[:44]
    "default-src 'none'; img-src data:; style-src"
    """
    return (
        f"default-src 'none'; img-src data:; style-src {_digest(style)}; script-src {_digest(script)}; "
        "base-uri 'none'; form-action 'none'"
    )


def _digest(source: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(source.encode()).digest()).decode()}'"


def _section(name: str, heading: str, content: Html, kind: str | None = None) -> Html:
    if not content:
        return NOTHING
    title = element("h2", heading, id=f"{name}-h")
    lines = ("\n", title, "\n", content, "\n")
    return element("section", *lines, id=name, class_=kind, aria_labelledby=f"{name}-h")


def _block(kind: str, content: Html, name: str | None = None) -> Html:
    """Return a division with its content on lines of its own; nothing around nothing."""
    return element("div", "\n", content, "\n", class_=kind, id=name) if content.strip() else NOTHING


def _paste(text: str, tag: str) -> Html:
    return element(tag, text, class_="paste") if text else NOTHING


def _paragraphs(sentences: Iterable[str]) -> Html:
    whole = (
        Html(escape_html(one).replace(" %", "&nbsp;%")) for one in sentences
    )  # a sign stays with its number
    return join_html((element("p", one) for one in whole), "\n")


def _bullets(items: Iterable[str], kind: str | None = None) -> Html:
    found = [element("li", item) for item in items]
    return element("ul", *found, class_=kind) if found else NOTHING


def _facts(facts: Iterable[Fact]) -> Html:
    lines = [
        join_html([element("dt", fact.label), element("dd", element("bdi", fact.text))]) for fact in facts
    ]
    return element("dl", *lines, class_="facts") if lines else NOTHING


def _facts_of(page: Page) -> Html:
    treated = [
        element("div", element("h3", heading), _bullets(map(_treated, reasons)), class_="treated")
        for heading, reasons in (
            ("Left out", page.dropped),
            ("Encoded", page.encoded),
            ("Missing values filled in", page.imputed),
            ("Rows dropped for missing values", page.gaps),
        )
        if reasons
    ]
    if page.notes:
        treated.append(element("div", _bullets(page.notes), class_="treated"))
    asked = _section("asked", "What was asked", _facts(page.asked))
    data = _section("data", "The data", join_html([_facts(page.data), *treated]))
    return _block("pair", join_html((asked, data), "\n"), "facts")


def _treated(reason: Fact) -> Html:
    return join_html([element("bdi", reason.label), ": ", reason.text])


def _coefficients(table: Table) -> Html:
    rows, headings = table.rows, (*table.names, *table.numbers)
    hidden = len(rows) - STEP
    rest = f"{STEP:,} of {len(rows):,} rows are shown." if hidden > 0 else ""
    note = element("p", table.note, class_="note") if table.note else ""
    legend = [
        element("div", element("dt", f"{one.name}:"), " ", element("dd", one.help))
        for one in headings
        if one.help
    ]
    head = [element("th", one.name, scope="col") for one in table.names]
    head += [element("th", one.name, scope="col", class_="number") for one in table.numbers]
    return Html(f"""<div class="controls" hidden>
<label class="filter">Filter <input type="search" autocomplete="off" spellcheck="false"></label>
<label><input type="checkbox"> Selected only</label>
<output aria-live="polite">{rest}</output>
</div>
<div class="box" role="region" aria-labelledby="coefficients-h" tabindex="0">
<table>
<thead>{element("tr", *head)}</thead>
<tbody>
{join_html(map(_line, rows[:STEP]), chr(10))}
</tbody>
</table>
</div>
<p class="more" hidden><button type="button">Show more rows</button></p>
{note}
{element("dl", *legend, class_="legend")}
{element("script", data_block(_plain(table)), type="application/json", id="rows")}""")


def _line(row: Row) -> Html:
    """Return a row as the script makes it too."""
    name = element("bdi", row.names[0])
    head = [name]
    if row.selected:
        mark = element("span", "\N{BLACK CIRCLE}", class_="mark", aria_hidden="true")
        head = [mark, name, element("span", " (selected)", class_="hidden")]
    cells = [element("th", *head, scope="row")]
    cells += [element("td", element("bdi", other), class_="text") for other in row.names[1:]]
    cells += [element("td", number.text, class_="number") for number in row.numbers]
    return element("tr", *cells, class_="selected" if row.selected else "unselected")


def _plain(table: Table) -> dict[str, Any]:
    """Return the rows as the script reads them."""
    rows = [
        [
            int(row.selected),
            [replace_unfit(name) for name in row.names],
            [number.value for number in row.numbers],
            [replace_unfit(number.text) for number in row.numbers],
        ]
        for row in table.rows
    ]
    return {"step": STEP, "rows": rows}


def _figure(picture: Picture) -> Html:
    source = f"data:{picture.kind};base64,{base64.b64encode(picture.content).decode()}"
    return element(
        "figure",
        element("h3", picture.heading),
        element("img", src=source, alt=picture.alt),
        element("figcaption", picture.caption),
        class_="wide" if picture.wide else None,
    )


def _convergence(page: Page) -> Html:
    figures = join_html(map(_figure, page.ending), "\n")
    beside = _block("pair", join_html([_facts(page.components), figures], "\n"))
    return _section("convergence", "How the fit ended", join_html([_paragraphs(page.convergence), beside]))


def _methods(page: Page) -> Html:
    if not page.methods:
        return NOTHING
    parts = [_paste(page.methods, "p"), _bullets(page.citations, "citations")]
    return _section("methods", "Methods, to paste into a paper", join_html(parts, "\n"))

"""A report as one HTML file: nothing is loaded, and what comes from users is text.

The policy in the head of the file lets a browser run the one script that is written there, by its digest, use
the styles and pictures in the file, and load nothing else.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
from collections.abc import Iterable
from importlib.resources import files
from typing import Any

from horseshoe.report.page.content import Fact, Heading, Page, Picture, Reason, Row, Table

STEP = 200
"""Rows that are shown at first; the others wait as data: ten thousand in the document would be slow."""
UNFIT = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066\u2067\ud800-\udfff]")
"""What HTML cannot hold: control characters, and halves of characters, which no file can hold either; and
overrides of direction, which turn the letters after them about."""


def render(page: Page) -> str:
    """Return the report as the text of an HTML file.

    Examples
    --------
    >>> text = render(Page(title="<b>", answer=("No column can be told from chance.",)))
    >>> "<title>&lt;b&gt;</title>" in text, "http" in text.replace("http-equiv", "")
    (True, False)
    """
    style, script = _asset("page.css"), _asset("table.js")
    parts = (
        _section("answer", "The answer", _paragraphs(page.answer), "answer"),
        _section("warnings", "Please note", _bullets(page.warnings), "warnings"),
        _facts_of(page),
        _coefficients(page.table),
        _pictures(page.pictures),
        _section("sure", "How sure is this?", _paragraphs(page.how_sure)),
        _convergence(page),
        _methods(page),
        _section("command", "To do this again", _paste(page.command, "pre")),
    )
    body = "\n".join(part for part in parts if part)
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy(style, script)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>{text(page.title)}</title>
<link rel="icon" href="data:,">
<style>{style}</style>
</head>
<body>
<header>
<p class="kind">Report of a sparse regression</p>
<h1><bdi>{text(page.title)}</bdi></h1>
{f'<p class="subtitle">{text(page.subtitle)}</p>' if page.subtitle else ""}
</header>
<main>
{body}
</main>
<footer>Written by horseshoe {text(page.version)}. This file needs no network and loads nothing.</footer>
<script>{script}</script>
</body>
</html>
"""


def text(value: object) -> str:
    r"""Return anything as text in HTML, also within quotes.

    Examples
    --------
    >>> text('<script>alert("1")</script> &')
    '&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt; &amp;'
    """
    return html.escape(_fit(str(value)), quote=True)


def _fit(plain: str) -> str:
    return UNFIT.sub("\N{REPLACEMENT CHARACTER}", plain)


def data_block(value: Any) -> str:
    r"""Return plain data as JSON that no parser of HTML can take for the end of a script.

    Examples
    --------
    >>> data_block(["</script>", 1.5, None])
    '["\\u003c/script\\u003e",1.5,null]'
    """
    plain = json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    for character in "<>&":
        plain = plain.replace(character, f"\\u{ord(character):04x}")
    return plain


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


def _asset(name: str) -> str:
    return (files("horseshoe.report.page") / name).read_text("utf-8")


def _section(name: str, heading: str, content: str, kind: str = "") -> str:
    if not content:
        return ""
    shape = f' class="{kind}"' if kind else ""
    return (
        f'<section id="{name}"{shape} aria-labelledby="{name}-h">\n'
        f'<h2 id="{name}-h">{heading}</h2>\n{content}\n</section>'
    )


def _paste(plain: str, tag: str) -> str:
    return f'<{tag} class="paste">{text(plain)}</{tag}>' if plain else ""


def _paragraphs(sentences: Iterable[str]) -> str:
    return "\n".join(f"<p>{_sentence(sentence)}</p>" for sentence in sentences)


def _sentence(plain: str) -> str:
    return text(plain).replace(" %", "&nbsp;%")  # the sign stays with its number


def _bullets(sentences: Iterable[str]) -> str:
    items = "".join(f"<li>{text(sentence)}</li>" for sentence in sentences)
    return f"<ul>{items}</ul>" if items else ""


def _facts(facts: Iterable[Fact]) -> str:
    lines = "".join(f"<dt>{text(fact.label)}</dt><dd><bdi>{text(fact.value)}</bdi></dd>" for fact in facts)
    return f'<dl class="facts">{lines}</dl>' if lines else ""


def _facts_of(page: Page) -> str:
    treated = "".join(
        _treated(heading, reasons)
        for heading, reasons in (
            ("Left out", page.dropped),
            ("Encoded", page.encoded),
            ("Missing values filled in", page.imputed),
            ("Rows dropped for missing values", page.gaps),
        )
    )
    notes = f'<div class="treated">{_bullets(page.notes)}</div>' if page.notes else ""
    asked = _section("asked", "What was asked", _facts(page.asked))
    data = _section("data", "The data", _facts(page.data) + treated + notes)
    return f'<div class="pair" id="facts">\n{asked}\n{data}\n</div>' if asked or data else ""


def _treated(heading: str, reasons: tuple[Reason, ...]) -> str:
    items = "".join(f"<li><bdi>{text(one.column)}</bdi>: {text(one.reason)}</li>" for one in reasons)
    return f'<div class="treated"><h3>{heading}</h3><ul>{items}</ul></div>' if items else ""


def _coefficients(table: Table | None) -> str:
    if table is None:
        return ""
    lines = "\n".join(_line(row) for row in table.rows[:STEP])
    hidden = len(table.rows) - STEP
    rest = f"{STEP:,} of {len(table.rows):,} rows are shown." if hidden > 0 else ""
    content = f"""<div class="controls" hidden>
<label class="filter">Filter <input type="search" autocomplete="off" spellcheck="false"></label>
<label><input type="checkbox"> Selected only</label>
<output aria-live="polite">{rest}</output>
</div>
<div class="box" role="region" aria-labelledby="coefficients-h" tabindex="0">
<table>
<thead><tr>{_headings(table)}</tr></thead>
<tbody>
{lines}
</tbody>
</table>
</div>
<p class="more" hidden><button type="button">Show more rows</button></p>
{f'<p class="note">{text(table.note)}</p>' if table.note else ""}
<dl class="legend">{_legend(table)}</dl>
<script type="application/json" id="rows">{data_block(_plain(table))}</script>"""
    return _section("coefficients", "Every column", content)


def _headings(table: Table) -> str:
    words = (f'<th scope="col">{text(one.name)}</th>' for one in table.names)
    numbers = (f'<th scope="col" class="number">{text(one.name)}</th>' for one in table.numbers)
    return "".join((*words, *numbers))


def _legend(table: Table) -> str:
    known: tuple[Heading, ...] = tuple(one for one in (*table.names, *table.numbers) if one.help)
    return "".join(f"<div><dt>{text(one.name)}:</dt> <dd>{text(one.help)}</dd></div>" for one in known)


def _line(row: Row) -> str:
    """Return a row as the script makes it too."""
    mark = '<span class="mark" aria-hidden="true">\N{BLACK CIRCLE}</span>' if row.selected else ""
    said = '<span class="hidden"> (selected)</span>' if row.selected else ""
    name, *others = row.names
    texts = "".join(f'<td class="text"><bdi>{text(other)}</bdi></td>' for other in others)
    numbers = "".join(f'<td class="number">{text(number.text)}</td>' for number in row.numbers)
    kind = "selected" if row.selected else "unselected"
    head = f'<th scope="row">{mark}<bdi>{text(name)}</bdi>{said}</th>'
    return f'<tr class="{kind}">{head}{texts}{numbers}</tr>'


def _plain(table: Table) -> dict[str, Any]:
    return {
        "step": STEP,
        "rows": [
            [
                int(row.selected),
                [_fit(name) for name in row.names],
                [number.value for number in row.numbers],
                [_fit(number.text) for number in row.numbers],
            ]
            for row in table.rows
        ],
    }


def _pictures(pictures: tuple[Picture, ...]) -> str:
    drawn = "\n".join(map(_figure, pictures))
    return _section("pictures", "Pictures", f'<div class="pictures">\n{drawn}\n</div>' if drawn else "")


def _figure(picture: Picture) -> str:
    kind = ' class="wide"' if picture.wide else ""
    source = f"data:{picture.kind};base64,{base64.b64encode(picture.content).decode()}"
    return (
        f"<figure{kind}><h3>{text(picture.heading)}</h3>"
        f'<img src="{source}" alt="{text(picture.alt)}">'
        f"<figcaption>{text(picture.caption)}</figcaption></figure>"
    )


def _convergence(page: Page) -> str:
    drawn = "\n".join(map(_figure, page.ending))
    beside = (
        f'<div class="pair">\n{_facts(page.components)}\n{drawn}\n</div>' if page.components or drawn else ""
    )
    return _section("convergence", "How the fit ended", _paragraphs(page.convergence) + beside)


def _methods(page: Page) -> str:
    if not page.methods:
        return ""
    cited = "".join(f"<li>{text(citation)}</li>" for citation in page.citations)
    content = f'{_paste(page.methods, "p")}\n<ul class="citations">{cited}</ul>'
    return _section("methods", "Methods, to paste into a paper", content)

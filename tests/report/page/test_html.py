"""The page as text: what is loaded, what is escaped, and how large it is."""

import base64
import hashlib
import json
import re
from html.parser import HTMLParser

import pytest

from horseshoe.report.markup import escape_html
from horseshoe.report.page.content import Fact, Heading, Number, Page, Picture, Row, Table
from horseshoe.report.page.html import STEP, data_block, render

NAMES = (
    "<script>alert(1)</script>",
    "</script>",
    "\"q\" 'q'",
    "&amp;",
    "]]>",
    "<!--",
    "\x00\x1b\x9b",
    "\u202e",
    "\ud800",
)


class Reader(HTMLParser):
    """Collects the tags and what is written outside scripts and styles."""

    def __init__(self, page):
        super().__init__(convert_charrefs=True)
        self.tags, self.words, self.scripts, self._inside = [], [], [], None
        self.feed(page)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self._inside = tag

    def handle_endtag(self, tag):
        self._inside = None

    def handle_data(self, data):
        if self._inside == "script":
            self.scripts.append(data)
        elif self._inside != "style":
            self.words.append(data)

    def of(self, tag):
        return [attrs for name, attrs in self.tags if name == tag]


def table(name="a", rows=1):
    number = Number(1.5, name)
    return Table(
        (Heading(name, name),),
        (Heading(name, name),),
        tuple(Row((name,), True, (number,)) for _ in range(rows)),
        name,
    )


def page(name="a", rows=1):
    fact, reason = (Fact(name, name),), (Fact(name, name),)
    return Page(
        name, name, (name,), (name,), fact, fact, reason, reason, reason, (name,), table(name, rows),
        (Picture(name, name, b"\x89PNG", name),), (name,), (name,), fact, (), name, (name,), name, name,
    )  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_names_are_words_and_never_tags(name):
    plain, nasty = Reader(render(page())), Reader(render(page(name)))
    assert [tag for tag, _ in nasty.tags] == [tag for tag, _ in plain.tags]
    assert [sorted(attrs) for _, attrs in nasty.tags] == [sorted(attrs) for _, attrs in plain.tags]
    shown = re.sub("[\x00-\x1f\x9b\u202e\ud800]", "\N{REPLACEMENT CHARACTER}", name)
    assert "".join(nasty.words).count(shown) >= 25
    assert render(page(name)).encode()  # a lone surrogate could not be written


def test_the_policy_has_the_digests_of_what_is_in_the_page():
    written = render(page())
    policy = Reader(written).of("meta")[1]["content"]
    for tag in ("style", "script"):
        source = re.search(f"<{tag}>(.*?)</{tag}>", written, re.DOTALL).group(1)
        digest = base64.b64encode(hashlib.sha256(source.encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in policy
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy


def test_nothing_is_linked_and_no_attribute_runs():
    found = Reader(render(page()))
    addresses = [value for _, attrs in found.tags for name, value in attrs.items() if name in ("src", "href")]
    assert addresses
    assert all(address.startswith("data:") for address in addresses)
    assert not [name for _, attrs in found.tags for name in attrs if name.startswith("on") or name == "style"]
    assert "://" not in render(page())


def test_the_rows_are_data_that_can_be_read_back():
    found = Reader(render(page("</script>", rows=STEP + 5)))
    rows = json.loads(found.scripts[0])["rows"]
    assert len(rows) == STEP + 5
    assert rows[0] == [1, ["</script>"], [1.5], ["</script>"]]
    assert len(found.of("tr")) == STEP + 1


def test_what_is_not_there_has_no_heading():
    found = Reader(render(Page("title", answer=("Nothing.",))))
    assert [attrs["id"] for attrs in found.of("h2")] == ["answer-h"]


def test_numbers_that_json_does_not_know_are_refused():
    with pytest.raises(ValueError, match="not JSON compliant"):
        data_block([float("nan")])


def test_text_within_quotes_stays_there():
    assert escape_html('" onload="x') == "&quot; onload=&quot;x"

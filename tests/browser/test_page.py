"""The report in a browser: it sorts, filters, shows names as text, asks for nothing, and fits its window."""

import base64

import numpy as np
import pandas as pd
import pytest

from horseshoe import AdaptiveRegressor
from horseshoe.report.page.build import ReportInput, build_page
from horseshoe.report.page.content import Fact, Heading, Number, Page, Picture, Row, Table
from horseshoe.report.page.html import STEP, render

NASTY = (
    "<script>alert(1)</script>",
    "</script><img src=x onerror=alert(2)>",
    "\"quoted\" & 'single' &amp; &lt;",
    "$x^2$ \\frac{1}{2} {{braces}} ${template}",
    "<!-- <script> -->]]>",
    "W" * 300,
    "עברית\N{RIGHT-TO-LEFT OVERRIDE}abc",
    "a\u2028b\u2029c",
    "名前 🐴",
)
PAPER = 690
"""Pixels across a sheet of A4 within its margins."""
PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


def without_overrides(name):
    """Return a name as a page shows it: nothing in it turns the letters after it about."""
    return name.replace("\u202e", "\ufffd")


def row(name, value, text=None, selected=False, belongs="x"):
    return Row((name, belongs), selected, (Number(value, str(value) if text is None else text),))


def page(rows, **more):
    heads = (Heading("Column", ""), Heading("Belongs to", "the user's column"))
    return Page("A report", table=Table(heads, (Heading("Effect", "of one unit"),), tuple(rows)), **more)


def everywhere(name):
    """Return a page with a name in every place that a name can reach."""
    return page(
        [row(name, 1.0, name, True, name), row("b", 2.0)],
        subtitle=name,
        answer=(f"{name} matters.",),
        warnings=(name,),
        asked=(Fact(name, name),),
        data=(Fact(name, name),),
        dropped=(Fact(name, name),),
        encoded=(Fact(name, name),),
        imputed=(Fact(name, name),),
        notes=(name,),
        pictures=(Picture(name, name, PIXEL, name),),
        how_sure=(name,),
        convergence=(name,),
        components=(Fact(name, name),),
        methods=name,
        citations=(name,),
        command=name,
        version=name,
    )


SOME = [
    row("b10", 9.0, selected=True),
    row("b9", 10.0, selected=True, belongs="factor"),
    row("Alpha", -100.0),
    row("tied", 9.0, belongs="factor"),
    row("Émpty", None, ""),
]


@pytest.fixture
def shown(browser):
    browser.open(render(page(SOME)))
    return browser


def test_numbers_are_sorted_as_numbers_both_ways_and_back(shown):
    shown.head(2).click()
    assert shown.column(2) == ["10.0", "9.0", "9.0", "-100.0", ""]
    assert shown.names() == ["b9", "b10", "tied", "Alpha", "Émpty"]  # ties keep their order
    shown.head(2).click()
    assert shown.column(2) == ["-100.0", "9.0", "9.0", "10.0", ""]
    assert shown.names() == ["Alpha", "b10", "tied", "b9", "Émpty"]
    shown.head(2).click()
    assert shown.names() == ["b10", "b9", "Alpha", "tied", "Émpty"]


def test_names_are_sorted_as_people_sort_them_and_the_order_is_announced(shown):
    ways = "return [...document.querySelectorAll('thead th')].map((head) => head.getAttribute('aria-sort'))"
    assert shown.script(ways) == ["none"] * 3
    shown.head(0).click()
    assert shown.names() == ["Alpha", "b9", "b10", "Émpty", "tied"]
    assert shown.script(ways) == ["ascending", "none", "none"]
    shown.head(0).click()
    assert shown.script(ways)[0] == "descending"


def test_a_key_sorts_too(shown):
    from selenium.webdriver.common.keys import Keys

    shown.head(2).send_keys(Keys.ENTER)
    assert shown.column(2)[0] == "10.0"
    shown.head(2).send_keys(Keys.SPACE)
    assert shown.column(2)[0] == "-100.0"
    focused = shown.script("return document.activeElement.tagName")
    assert focused == "BUTTON"


def test_rows_are_found_by_name_and_by_the_column_they_belong_to(shown):
    find = shown.driver.find_element("css selector", "input[type=search]")
    find.send_keys("ALPH")
    assert (shown.column(2), shown.count()) == (["-100.0"], "1 of 5 rows")
    find.clear()
    find.send_keys("factor")
    assert shown.column(2) == ["10.0", "9.0"]
    find.send_keys(" and nothing")
    assert shown.count() == "0 of 5 rows"
    assert "No row" in shown.script("return document.querySelector('tbody').innerText")


def test_a_switch_shows_the_selected_alone_and_keeps_to_the_order(shown):
    shown.head(2).click()
    switch = shown.driver.find_element("css selector", "input[type=checkbox]")
    switch.click()
    assert (shown.column(2), shown.count()) == (["10.0", "9.0"], "2 of 5 rows")
    switch.click()
    assert shown.count() == "5 of 5 rows"


def test_the_console_is_silent_and_nothing_is_asked_for(browser):
    address = browser.open(render(everywhere("plain")))
    browser.head(2).click()
    assert browser.errors() == []
    assert [url for url in browser.requests() if not url.startswith("data:")] == [address]
    loaded = "return [...document.images].map((image) => image.naturalWidth)"
    assert browser.script(loaded) == [1]


@pytest.mark.parametrize("name", NASTY)
def test_names_are_text_wherever_they_stand(browser, name):
    browser.open(render(everywhere(name)))
    name = without_overrides(name)
    browser.head(2).click()  # the rows are now those that the script made
    assert browser.names() == ["b", name]
    places = "return [...document.querySelectorAll('td.text bdi, td.number')].map((one) => one.textContent)"
    assert browser.script(places).count(name) == 2
    assert browser.script("return document.querySelector('pre').textContent") == name
    assert browser.script("return document.images[0].alt") == name
    assert browser.script("return document.querySelector('.answer p').textContent") == f"{name} matters."
    assert browser.script("return [document.scripts.length, document.images.length]") == [2, 1]
    assert browser.errors() == []


@pytest.mark.parametrize("width", [360, 390, 800])
def test_nothing_is_wider_than_the_window(browser, width):
    for name in ("plain", "W" * 300, "a word " * 60):
        browser.open(render(everywhere(name)), width=width)
        assert browser.script("return document.documentElement.scrollWidth") <= width
        assert browser.script("return document.body.scrollWidth") <= width


def test_a_wide_table_is_moved_within_its_own_box(browser):
    heads = tuple(Heading(f"Number {k}", "") for k in range(8))
    rows = (Row(("a name of some length",), True, (Number(1.0, "1,234.567"),) * 8),)
    browser.open(render(Page("wide", table=Table((Heading("Column", ""),), heads, rows))), width=360)
    box = "const box = document.querySelector('.box'); return [box.scrollWidth > box.clientWidth]"
    assert browser.script(box) == [True]
    assert browser.script("return document.documentElement.scrollWidth") == 360
    sticky = "return getComputedStyle(document.querySelector('tbody th')).position"
    assert browser.script(sticky) == "sticky"


def test_ten_thousand_rows_are_small_and_quick_to_sort(browser):
    values = np.random.default_rng(0).standard_normal((10_000, 6))
    heads = tuple(Heading(f"Number {k}", "") for k in range(6))
    rows = tuple(
        Row((f"gene_{j:05d}",), j < 20, tuple(Number(round(float(v), 6), f"{v:.3f}") for v in values[j]))
        for j in range(10_000)
    )
    text = render(Page("wide", table=Table((Heading("Column", ""),), heads, rows)))
    assert len(text.encode()) < 3_000_000
    browser.open(text)
    timed = (
        "const from = performance.now(); arguments[0].click(); document.body.offsetHeight; "
        "return performance.now() - from;"
    )
    times = {k: [browser.script(timed, browser.head(k)) for _ in range(8)] for k in (1, 0, 3)}
    for clicks in times.values():  # down, up, back, and so on to up; other processes may take a turn in some
        assert min(clicks[0::3]) < 300.0, times
        assert min(clicks[1::3]) < 300.0, times
    assert browser.count() == f"{STEP:,} of 10,000 rows shown"
    shown = [float(value) for value in browser.column(3)]
    assert shown == sorted(float(f"{v:.3f}") for v in values[:, 2])[:STEP]
    browser.driver.find_element("css selector", ".more button").click()
    assert len(browser.names()) == 6 * STEP
    find = browser.driver.find_element("css selector", "input[type=search]")
    find.send_keys("gene_09999")
    assert browser.names() == ["gene_09999"]


def test_on_paper_there_are_no_controls_and_nothing_is_cut(browser):
    heads = tuple(
        Heading(name, "") for name in ("Odds ratio", "From", "To", "Per SD", "Inclusion", "Short model")
    )
    rows = [
        Row((name, "of the first class", "x" * 40), True, (Number(1.0, "1,234.567"),) * 6) for name in NASTY
    ]
    names = (Heading("Column", ""), Heading("Class", ""), Heading("Belongs to", ""))
    paper = {"width": PAPER, "height": 1000, "deviceScaleFactor": 1, "mobile": False}
    browser.open(render(Page("on paper", table=Table(names, heads, tuple(rows)))))
    browser.do("Emulation.setEmulatedMedia", media="print")
    browser.do("Emulation.setDeviceMetricsOverride", **paper)
    try:
        assert not browser.driver.find_element("css selector", ".controls").is_displayed()
        assert browser.script("return document.documentElement.scrollWidth") <= PAPER
        assert (
            browser.script("return getComputedStyle(document.querySelector('.box')).overflowX") == "visible"
        )
        printed = base64.b64decode(browser.do("Page.printToPDF")["data"])
        assert printed.startswith(b"%PDF")
    finally:
        browser.do("Emulation.setEmulatedMedia", media="")


def test_without_scripts_the_page_can_be_read(browser):
    browser.do("Emulation.setScriptExecutionDisabled", value=True)
    try:
        address = browser.open(render(page(SOME)))
        body = browser.driver.find_element("css selector", "tbody")
        assert "Alpha" in body.text
        assert not browser.driver.find_element("css selector", ".controls").is_displayed()
        assert address in browser.requests()
    finally:
        browser.do("Emulation.setScriptExecutionDisabled", value=False)


def test_the_policy_stops_what_is_not_ours(browser):
    text = render(page(SOME)).replace(
        "</main>",
        "</main><script>window.hit = 1</script><img src='https://example.invalid/a.png' onload='hit = 2'>",
    )
    browser.open(text)
    assert browser.script("return window.hit === undefined")
    assert any("Content Security Policy" in message for message in browser.errors())
    assert not [url for url in browser.requests() if url.startswith("https://example")]


def test_the_report_of_a_fit_is_whole(browser):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.standard_normal((60, len(NASTY))), columns=list(NASTY))
    y = X.to_numpy() @ np.arange(len(NASTY)) + rng.standard_normal(60)
    page = build_page(AdaptiveRegressor(cv=3).fit(X, y), ReportInput(X, y, target=NASTY[0], command=NASTY[1]))
    address = browser.open(render(page), width=390)
    assert sorted(browser.names()) == sorted(map(without_overrides, NASTY))
    assert browser.script("return [...document.images].every((image) => image.naturalWidth > 500)")
    assert browser.script("return document.images.length") == len(page.pictures) + len(page.ending) == 4
    assert browser.script("return document.documentElement.scrollWidth") <= 390
    assert browser.errors() == []
    assert [url for url in browser.requests() if not url.startswith("data:")] == [address]

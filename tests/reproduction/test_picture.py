"""The pictures of the tables can be read: no text lies on another, no axis goes where no number can be."""

from itertools import combinations

import matplotlib as mpl
import pytest

from horseshoe_reproduction import TABLES, load
from horseshoe_reproduction.cells import Cell
from horseshoe_reproduction.methods import METHODS
from horseshoe_reproduction.picture import draw
from horseshoe_reproduction.printed import printed

CASES = [
    *((name, load(name).methods) for name in TABLES),
    # a few methods: their panels are low, and span other ranges
    ("table2", ("hs-em", "posterior-mean")),
    ("table3", ("hs-em",)),
    ("table3", ("hs-em", "hs-like", "mcp")),
    ("table4", ("hs-em",)),
    ("table5", ("posterior-mean",)),
    ("table6", ("hs-em",)),
]


def cells_of(name, methods, spread):
    """Return cells near the printed ones, with errors of ``spread`` of the numbers."""
    theirs = printed(name)
    found = []
    for setting in load(name).settings:
        for metric in load(name).metrics:
            for k, method in enumerate(methods):
                number = theirs.get((setting, metric, METHODS[method].printed))
                mean = 0.37 * k if number is None else number.mean * (1.0 + 0.03 * k)
                if metric == "Time":
                    mean = 10.0 ** (k % 5 - 4)
                error = spread * abs(mean) + (0.4 * spread if metric != "Time" else 0.0)
                found.append(Cell(setting, metric, method, mean, error, mean, 3, number))
    return found


@pytest.fixture
def figure_of(monkeypatch):
    """Return a function that draws a table, and returns the figure instead of a file."""
    figures = []
    monkeypatch.setattr(
        "horseshoe_reproduction.picture.write_picture", lambda path, figure: figures.append(figure)
    )

    def make(name, methods, spread):
        draw(load(name), methods, cells_of(name, methods, spread), None)
        figure = figures.pop()
        figure.draw_without_rendering()
        return figure

    return make


def texts(figure):
    """Return all texts that are seen, with their boxes."""
    hidden = {
        label
        for axes in figure.axes
        for axis in (axes.xaxis, axes.yaxis)
        for tick in (*axis.get_major_ticks(), *axis.get_minor_ticks())
        for label in (tick.label1, tick.label2)
        if not within(axis, tick.get_loc()) or not axes.axison
    }
    found = [t for t in figure.findobj(mpl.text.Text) if t.get_visible() and t.get_text() and t not in hidden]
    return [(text.get_text(), text.get_window_extent()) for text in found]


def within(axis, place):
    low, high = sorted(axis.get_view_interval())
    return low <= place <= high


@pytest.mark.parametrize("spread", [pytest.param(0.0, marks=pytest.mark.slow), 0.8])
@pytest.mark.parametrize(("name", "methods"), CASES)
def test_a_picture_can_be_read(name, methods, spread, figure_of):
    figure = figure_of(name, methods, spread)
    assert_no_text_lies_on_another(figure)
    panels = [axes for axes in figure.axes if axes.axison]
    assert len(panels) == len(load(name).settings) * len(load(name).metrics)
    for axes in panels:
        low, high = axes.get_xlim()
        assert sum(low <= tick <= high for tick in axes.get_xticks()) >= 2
        drawn = [line.get_xdata() for line in axes.get_lines()]
        drawn += [ends[:, 0] for bars in axes.collections for ends in bars.get_segments()]
        assert drawn
        for x in drawn:
            assert ((x >= low - 1e-9 * abs(low)) & (x <= high)).all()
        assert name == "table4" or low >= 0.0


def assert_no_text_lies_on_another(figure):
    seen, page = texts(figure), figure.bbox
    assert len(seen) > 2 * len(figure.axes)
    for (one, box), (other, beside) in combinations(seen, 2):
        assert not box.overlaps(beside), (one, other)
    for text, box in seen:
        assert page.x0 <= box.x0 <= box.x1 <= page.x1, text
        assert page.y0 <= box.y0 <= box.y1 <= page.y1, text


def test_coefficients_may_be_negative(figure_of):
    figure = figure_of("table4", ("hs-em",), 0.8)
    assert min(axes.get_xlim()[0] for axes in figure.axes) < -10.0

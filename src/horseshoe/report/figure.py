"""What all pictures share: sizes, colours, axes, captions, legends, ticks and labels."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from horseshoe._checks import check_number
from horseshoe._extras import require
from horseshoe._types import Mask, Vector
from horseshoe._visible import visible
from horseshoe.families import Family, Ordered

# One for each colour of ``CHAINS``.
SELECTED, ZERO, MODE = "#1b4965", "#b0b0b0", "#c8553d"
CHAINS = (SELECTED, MODE, "#5fa8a0", "#e0a030", "#7a5c99", "#6b8e23")
LINE_STYLES = (
    "-",
    (0, (5, 1.5)),
    (0, (1, 1)),
    (0, (6, 1.5, 1, 1.5)),
    (0, (10, 2)),
    (0, (4, 1, 1, 1, 1, 1)),
)
# Inches that a character of a label takes, about, and an entry of a legend.
CHARACTER, ENTRY = 0.08, 1.75
# Inches that axes leave to the names at their left before they become narrower.
MARGIN = 0.6
# Where the axes of coefficients begin; the first is at 0, the next at 1.
BOTTOM = -0.8
# Between these, numbers at ticks are as Matplotlib writes them.
LITTLE, LARGE = 1e-3, 1e6
# Bars of counts at most; the last has the counts beyond this quantile of those observed.
MOST_BARS, SHARE = 40, 0.99
# Characters of a name; of a longer one the beginning and the end are shown.
LONGEST = 30


def axes_of(ax: Any, width: float, height: float) -> Any:
    """Return the axes to draw in: those given, those of a new picture, or new ones in a figure that is given.

    A figure that is given keeps its width and takes the height that the picture needs.

    Examples
    --------
    >>> ax = axes_of(None, 4.0, 3.0)
    >>> axes_of(ax, 9.0, 9.0) is ax
    True
    """
    if ax is None:
        pyplot = require("matplotlib.pyplot", extra="plot")
        return pyplot.subplots(figsize=(width, height), layout="constrained")[1]
    if not hasattr(ax, "add_subplot"):
        return ax
    ax.set_size_inches(ax.get_figwidth(), height)
    return ax.add_subplot()


def coefficient_axes(
    ax: Any, names: Sequence[Any], places: Any, unit: str, share: float = 1.0
) -> tuple[Any, NDArray[np.intp]]:
    """Return axes with a line for each coefficient, the names of the columns at the left, and their heights.

    ``places`` are those of the columns to draw, from the bottom; ``share`` is what the axes have of their
    width when something stands beside them.

    Examples
    --------
    >>> ax, heights = coefficient_axes(None, ["age", "bmi"], [1, 0], "log odds")
    >>> [text.get_text() for text in ax.get_yticklabels()], heights
    (['bmi', 'age'], array([0, 1]))
    """
    labels = unique_labels([names[j] for j in places], places)
    ax = axes_of(ax, 7.0, 1.9 + 0.3 * len(labels))
    ends, heights = (BOTTOM, len(labels) - 0.4), np.arange(len(labels))  # not into the legend, which is above
    ax.plot((0.0, 0.0), ends, color=ZERO, linewidth=1.0, zorder=0)
    ax.set_yticks(heights, labels)
    widths = [text.get_window_extent().width / ax.figure.dpi for text in ax.get_yticklabels()]
    room = max(0.0, max(widths, default=0.0) - MARGIN)
    ax.set_xlabel(fold_label(unit, share * (size_in_inches(ax)[0] - room)))
    return ax, heights


def finish_coefficients(ax: Any, n_lines: int, *title: str) -> Any:
    """Put title and legend to the axes of coefficients, the legend above the uppermost coefficient."""
    return finish(ax, *title, legend=(BOTTOM, n_lines - 0.4))


def finish(
    ax: Any,
    *title: str,
    legend: tuple[float, float] | None = None,
    entry: float = ENTRY,
    hide: Sequence[str] = ("top", "right"),
) -> Any:
    """Put the caption, the legend and readable ticks to a picture, and leave out lines around it.

    ``title`` are the lines of the caption, empty ones are left out. ``legend`` are the heights between which
    the picture is drawn; the legend has a strip of its own above, its entries ``entry`` inches wide. The
    strip is there without a legend too, so that pictures side by side are alike.
    """
    ax.spines[list(hide)].set_visible(False)
    ax.set_title("\n".join(line for line in title if line), fontsize="medium")
    if legend is not None:
        _put_legend(ax, *legend, entry)
    plain_ticks(*(axis for axis in (ax.xaxis, ax.yaxis) if axis.get_scale() == "linear"))
    return ax


def _put_legend(ax: Any, low: float, high: float, entry: float) -> None:
    """Make room for the legend above ``high``, on an axis that may be logarithmic."""
    entries = len(ax.get_legend_handles_labels()[0])
    width, height = size_in_inches(ax)
    across = max(1, min(entries, int(width / entry)))
    strip = min(0.5, (0.15 + 0.2 * -(-entries // across)) / height)
    if ax.get_yscale() == "log":
        ax.set_ylim(low, low * (high / low) ** (1.0 / (1.0 - strip)))
    else:
        ax.set_ylim(low, low + (high - low) / (1.0 - strip))
    if entries:
        ax.legend(frameon=False, loc="upper left", ncols=across, fontsize="small", borderaxespad=0.2)


def draw_marks(
    ax: Any, x: Vector, y: Any, filled: Mask, labels: Sequence[str], marker: str = "o", **style: Any
) -> None:
    """Draw marks, hollow and grey where they are not ``filled``; the two kinds have the two ``labels``.

    Examples
    --------
    >>> ax = axes_of(None, 4.0, 3.0)
    >>> draw_marks(ax, np.arange(2.0), np.arange(2.0), np.array([True, False]), ("selected", "zero"))
    >>> [line.get_fillstyle() for line in ax.lines]
    ['full', 'none']
    """
    looks: tuple[dict[str, Any], ...] = (
        {"color": SELECTED} | style,
        style | {"color": ZERO, "fillstyle": "none"},
    )
    for which, label, look in zip((filled, ~filled), labels, looks, strict=True):
        if which.any():
            ax.plot(x[which], y[which], marker, label=label, **look)


def strongest(values: Vector, most: int) -> NDArray[np.intp]:
    """Return the places of the largest values, whatever their sign, the largest last: at the top.

    Examples
    --------
    >>> strongest(np.array([1.0, -3.0, 2.0]), most=2)
    array([2, 1])
    """
    return np.argsort(-np.abs(values), kind="stable")[:most][::-1]


def unit_of(family: Family, classes: Any = None, per: str = "one standard deviation") -> str:
    """Say what a coefficient changes, and for what: the unit of its axis.

    Examples
    --------
    >>> from horseshoe.families import Binomial, Gaussian, Poisson
    >>> unit_of(Gaussian())
    'change of y for one standard deviation'
    >>> unit_of(Binomial(), ["no", "yes"]), unit_of(Poisson(), per="one unit")
    ('log odds of yes for one standard deviation', 'log of the mean of y for one unit')
    """
    if family.is_location:
        what = "change of y"
    elif family.is_binary:
        what = "log odds" if classes is None or len(classes) != 2 else f"log odds of {plot_label(classes[1])}"
    elif family.ratio == "hazard_ratio":
        what = "log of the hazard"
    elif isinstance(family, Ordered):
        what = "log odds of a higher level"
    else:
        what = "log of the mean of y" if family.log_link else "linear predictor"
    return f"{what} for {per}"


def scaled_unit(standardized: bool, scale: Vector, family: Family, classes: Any) -> tuple[Vector, str]:
    """Return what coefficients are multiplied by in a picture, and the label of their axis.

    Examples
    --------
    >>> from horseshoe.families import Gaussian
    >>> scaled_unit(False, np.array([2.0]), Gaussian(), None)
    (array([1.]), 'change of y for one unit of the column')
    """
    if standardized:
        return scale, unit_of(family, classes)
    return np.ones_like(scale), unit_of(family, classes, "one unit of the column")


def subset_note(drawn: int, of: int, which: str = "strongest") -> str:
    """Say that some columns are left out; nothing if none is.

    Examples
    --------
    >>> subset_note(30, 5000), subset_note(5, 5)
    ('the 30 strongest of 5,000 columns', '')
    """
    return "" if drawn == of else f"the {drawn:,} {which} of {of:,} columns"


def unique_labels(names: Sequence[Any], columns: Any) -> list[str]:
    """Return the names as they are written, with the number of the column where two would look the same.

    Examples
    --------
    >>> unique_labels(["age", "the height of the left front wheel"], [0, 7])
    ['age', 'the height of the...ront wheel']
    >>> unique_labels(["height of the left rear wheel, 2 cm", "height of the left front wheel, 2 cm"], [0, 7])
    ['height of the lef...heel, 2 cm (0)', 'height of the lef...heel, 2 cm (7)']
    """
    short = [plot_label(name) for name in names]
    count = Counter(short)
    return [
        text if count[text] == 1 else f"{text} ({column})"
        for text, column in zip(short, columns, strict=True)
    ]


def plot_label(name: Any) -> str:
    r"""Return a name as it is written: not too long, and no dollar sign that would start mathematics.

    Examples
    --------
    >>> print(plot_label("price in $"), plot_label("the temperature of the water in the bay"))
    price in \$ the temperature o...in the bay
    """
    text = visible(str(name))
    if len(text) > LONGEST:
        text = f"{text[: LONGEST - 13]}...{text[-10:]}"
    return text.replace("$", r"\$")


def size_in_inches(ax: Any) -> tuple[float, float]:
    """Return the size of axes, about: the layout may change it a little."""
    dpi = float(ax.figure.dpi)
    return float(ax.bbox.width) / dpi, float(ax.bbox.height) / dpi


def fold_label(text: str, width: float) -> str:
    """Return a label on two lines, or more, if it would be longer than its axis."""
    if len(text) * CHARACTER <= width:
        return text
    return "\n".join(wrap_label(line, width) for line in text.replace(" for one", "\nfor one").split("\n"))


def wrap_label(text: str, width: float) -> str:
    r"""Return a label on as many lines as it takes not to be longer than its axis, in inches.

    Examples
    --------
    >>> wrap_label("share of those who came back", 1.5)
    'share of those who\ncame back'
    """
    return "\n".join(textwrap.wrap(text, max(12, int(width / CHARACTER)), break_long_words=False))


def log_ticks(axis: Any, values: Any) -> None:
    """Put few and plain numbers at a logarithmic axis; Matplotlib's own run into each other."""
    ticker = require("matplotlib.ticker", extra="plot")
    decades = float(np.log10(values.max() / values.min()))
    few = (
        ticker.MaxNLocator(4)
        if decades < 1.0
        else ticker.LogLocator(subs=(1, 2, 5)[: 3 if decades < 2.0 else 1])
    )
    axis.set_major_locator(few)
    axis.set_major_formatter(ticker.StrMethodFormatter("{x:g}"))
    axis.set_minor_formatter(ticker.NullFormatter())


def plain_ticks(*axes: Any) -> None:
    """Write numbers that are very large or small whole at each tick, without a factor in a corner.

    Examples
    --------
    >>> ax = axes_of(None, 4.0, 3.0)
    >>> ax.set_xlim(0.0, 4e11)
    (0.0, 400000000000.0)
    >>> plain_ticks(ax.xaxis)
    >>> [ax.xaxis.get_major_formatter()(x) for x in (0.0, 1e11, 2.5e11)]
    ['0', '1e11', '2.5e11']
    """
    ticker = require("matplotlib.ticker", extra="plot")
    for axis in axes:
        low, high = sorted(axis.get_view_interval())
        largest = max(abs(low), abs(high))
        if LITTLE <= largest < LARGE and (high - low) > LITTLE * largest:
            continue
        digits = 3 + int(np.log10(max(largest / max(high - low, 1e-300), 1.0)))
        axis.set_major_formatter(ticker.FuncFormatter(lambda x, _, digits=digits: _plain_number(x, digits)))
        axis.set_major_locator(ticker.MaxNLocator(5))


def _plain_number(value: float, digits: int) -> str:
    mantissa, _, exponent = f"{value:.{min(digits, 15)}g}".partition("e")
    return f"{mantissa}e{int(exponent)}" if exponent else mantissa


def break_at_jumps(x: Vector, y: Vector) -> tuple[Vector, Vector]:
    """Return the points of a curve with a gap wherever it jumps between zero and not zero.

    Examples
    --------
    >>> break_at_jumps(np.array([1.0, 2.0]), np.array([0.0, 1.5]))
    (array([ 1., nan,  2.]), array([0. , nan, 1.5]))
    """
    jumps = np.flatnonzero(((y[1:] == 0.0) != (y[:-1] == 0.0)) & (np.abs(np.diff(y)) > 0.2)) + 1
    return np.insert(x, jumps, np.nan), np.insert(y, jumps, np.nan)


def count_edges(*samples: Vector, low: float = 0.0) -> Vector:
    """Return the edges of bars for counts from ``low`` to nearly the largest: no more bars than 40.

    Examples
    --------
    >>> count_edges(np.array([0.0, 1.0, 3.0]))
    array([-0.5,  0.5,  1.5,  2.5,  3.5])
    """
    high = float(np.ceil(max(np.quantile(sample, SHARE) for sample in samples)))
    width = max(1.0, np.ceil((high - low + 1.0) / MOST_BARS))
    return np.arange(low - 0.5, high + 0.5 + width, width)


def check_count(name: str, value: Any) -> int:
    """Return a whole number of at least one.

    Examples
    --------
    >>> check_count("most", 0)
    Traceback (most recent call last):
    ValueError: most=0 must be a finite number of at least 1
    """
    return int(check_number(name, value, low=1.0, low_allowed=True))


def percent(level: float) -> str:
    """Write a probability.

    Examples
    --------
    >>> percent(0.95), percent(0.999)
    ('95%', '99.9%')
    """
    return f"{100.0 * level:.6g}%"

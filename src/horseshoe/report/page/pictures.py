"""The pictures of a report as small PNG files. Needs matplotlib, which ``horseshoe[plot]`` installs."""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

from horseshoe._extras import require
from horseshoe.families import Ordered
from horseshoe.report.page.answer import EMPTY
from horseshoe.report.page.content import Picture
from horseshoe.report.page.effects import Effects
from horseshoe.report.page.evidence import interval_method
from horseshoe.report.page.phrases import named, percent_of
from horseshoe.report.parts import is_average
from horseshoe.report.plots_classes import plot_calibration, plot_roc
from horseshoe.report.plots_columns import plot_coefficients
from horseshoe.report.plots_counts import plot_rootogram
from horseshoe.report.plots_fit import plot_components, plot_convergence
from horseshoe.report.plots_ordinal import plot_levels
from horseshoe.report.plots_rows import plot_observed, plot_residuals

# Enough for print at the width of a page, and a file of some 30 kB.
DPI = 150
# Of the palette: the pictures have few, and the edges of letters need some greys.
COLOURS = 96
# Columns in the picture of coefficients, and classes that have one.
MOST, MOST_CLASSES = 25, 6


# Inches of pictures that stand beside another, and, from ``LEVELS`` on, in a row of their own.
NARROW, CLASS, LEVELS, WIDE = 5.2, 5.6, 6.5, 7.0


class Drawing(NamedTuple):
    """A picture that is still to be drawn: ``draw`` is given a figure of this width, and sets its height."""

    heading: str
    caption: str
    draw: Callable[..., Any]
    width: float = NARROW


class Drawn(NamedTuple):
    """The pictures, and why others could not be drawn."""

    pictures: tuple[Picture, ...]
    notes: tuple[str, ...]


def draw_all(drawings: Sequence[Drawing]) -> Drawn:
    """Draw the pictures; one that has nothing to show is a note.

    Examples
    --------
    >>> def refuse(ax):
    ...     raise ValueError("there was nothing to iterate")
    >>> draw_all([Drawing("Convergence", "", refuse)]).notes
    ('There is no picture of convergence: there was nothing to iterate.',)
    """
    pictures, notes = [], []
    for drawing in drawings:
        try:
            pictures.append(draw_png(drawing))
        except ValueError as error:
            notes.append(f"There is no picture of {drawing.heading.lower()}: {error}.")
    return Drawn(tuple(pictures), tuple(notes))


def draw_png(drawing: Drawing) -> Picture:
    r"""Draw a picture with few colours, so that its file is small.

    Examples
    --------
    >>> picture = draw_png(Drawing("A line", "From 0 to 1.", lambda ax: ax.add_subplot().plot([0.0, 1.0])))
    >>> picture.content[:4], len(picture.content) < 20_000
    (b'\x89PNG', True)
    """
    size, look = (drawing.width, 4.0), {"facecolor": "white", "layout": "constrained"}
    figure = require("matplotlib.figure", extra="plot").Figure(size, dpi=DPI, **look)
    canvas = require("matplotlib.backends.backend_agg", extra="plot").FigureCanvasAgg(figure)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing")  # the table has the name as it is
        drawing.draw(ax=figure)
        canvas.draw()
    image, packed = require("PIL.Image", extra="plot"), io.BytesIO()
    drawn = image.frombuffer("RGBA", canvas.get_width_height(), canvas.buffer_rgba(), "raw", "RGBA", 0, 1)
    few = drawn.convert("RGB").quantize(COLOURS, dither=image.Dither.NONE)
    few.save(packed, format="PNG", optimize=True)
    alt = f"{drawing.heading}. {drawing.caption}"
    return Picture(drawing.heading, drawing.caption, packed.getvalue(), alt, wide=drawing.width >= LEVELS)


def data_pictures(
    model: Any,
    effects: Sequence[Effects],
    rows: dict[str, Any],
    level: float = 0.95,
    method: str = "auto",
) -> list[Drawing]:
    """Return the pictures that go with a fit; ``rows`` are X, y and what else was known of them.

    Examples
    --------
    >>> import numpy as np
    >>> from horseshoe import HorseshoeRegressor
    >>> from horseshoe.report.page.effects import effects_of
    >>> x = np.arange(20.0)
    >>> rows = {"X": x[:, None], "y": 3.0 * x + np.cos(x)}
    >>> model = HorseshoeRegressor().fit(rows["X"], rows["y"])
    >>> [drawing.heading for drawing in data_pictures(model, effects_of(model), rows)]
    ['Effects', 'Observed against predicted', 'Residuals']
    """
    if all(one.model.status_ in EMPTY for one in effects):
        return []  # the answer says why
    found = [_coefficients(model, one, level, method) for one in effects[:MOST_CLASSES]]
    if isinstance(effects[0].family, Ordered):
        return [*found, *_levels(model, rows)]
    if len(effects) == 1 and effects[0].family.has_intercept:  # a risk is compared with risks, not with y
        # An average has predictions of its rows by fits that had not seen them: the honest picture.
        found += _rows(model, effects[0], {} if is_average(model) else rows, level)
    return found


def _coefficients(model: Any, one: Effects, level: float, method: str) -> Drawing:
    of = "" if one.label is None else f" on {named(one.label)} against the rest"
    more = " At the right is the inclusion." if is_average(one.model) else ""
    more += f" Of {len(one.names):,} columns no more than {MOST} are drawn." if len(one.names) > MOST else ""
    if not is_average(one.model) and interval_method(one, method) == "posterior":
        more += (
            " These are the intervals at the mode, given the selection; the table has those of the posterior."
        )
    return Drawing(
        f"Effects{of}",
        f"The effect of one standard deviation of each column with its {percent_of(level)} interval, so that "
        f"sizes can be compared.{more}",
        partial(plot_coefficients, model if one.label is None else one.model, level, most=MOST),
        WIDE if one.label is None else CLASS,
    )


def _levels(model: Any, rows: dict[str, Any]) -> Iterator[Drawing]:
    if hasattr(model, "predict_proba"):  # else no two rows have the same level
        known = {name: values for name, values in rows.items() if name != "exposure"}
        yield Drawing(
            "Levels",
            "What is predicted of the rows of each level; the share of their own level is framed.",
            partial(plot_levels, model, **known),
            LEVELS,
        )


def _rows(model: Any, one: Effects, rows: dict[str, Any], level: float) -> Iterator[Drawing]:
    if one.family.is_binary:
        yield Drawing(
            "Calibration",
            "How often the event happened where so much was predicted; the diagonal is right.",
            partial(plot_calibration, model, **rows, level=level),
        )
        yield Drawing(
            "Discrimination",
            "How many events are found against how many others are taken for one.",
            partial(plot_roc, model, **rows),
        )
        return
    yield Drawing(
        "Observed against predicted",
        f"With the intervals in which {percent_of(level)} of new rows are expected.",
        partial(plot_observed, model, **rows, level=level),
    )
    if one.family.discrete:
        yield Drawing(
            "Rootogram",
            "How often each count is observed, hung from how often it is expected.",
            partial(plot_rootogram, model, **rows),
        )
    else:
        yield Drawing(
            "Residuals",
            "What predictions leave of the responses; a pattern says that something is missing.",
            partial(plot_residuals, model, **rows),
        )


def fit_pictures(model: Any, effects: Sequence[Effects]) -> list[Drawing]:
    """Return the pictures of how a fit was found.

    Examples
    --------
    >>> import numpy as np
    >>> from horseshoe import HorseshoeRegressor
    >>> from horseshoe.report.page.effects import effects_of
    >>> x = np.arange(20.0)
    >>> model = HorseshoeRegressor().fit(x[:, None], x + np.cos(x))
    >>> [drawing.heading for drawing in fit_pictures(model, effects_of(model))]
    ['Convergence']
    """
    if all(one.model.status_ in EMPTY for one in effects):
        return []
    if not is_average(model):
        change = "The change of the coefficients at each iteration, and how many columns were still in."
        return [Drawing("Convergence", change, partial(plot_convergence, model))]
    counts = "How well each method predicts rows that it has not seen, and how much it counts."
    drawing = Drawing("Components of the average", counts, partial(plot_components, model))
    return [drawing] if len(effects) == 1 else []

"""The pictures of a report as small PNG files. Needs matplotlib, which ``horseshoe[plot]`` installs."""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from horseshoe._extras import require
from horseshoe.families import Ordered
from horseshoe.report.page.content import Picture
from horseshoe.report.page.effects import Effects, is_average
from horseshoe.report.page.numbers import named, percent_of
from horseshoe.report.page.sureness import interval_method
from horseshoe.report.page.words import EMPTY
from horseshoe.report.plots_classes import plot_calibration, plot_roc
from horseshoe.report.plots_coefficients import plot_coefficients
from horseshoe.report.plots_counts import plot_rootogram
from horseshoe.report.plots_fit import plot_components, plot_convergence
from horseshoe.report.plots_levels import plot_levels
from horseshoe.report.plots_rows import plot_observed, plot_residuals

DPI = 150
"""Enough for print at the width of a page, and a file of some 30 kB."""
COLOURS = 96
"""Of the palette: the pictures have few, and the edges of letters need some greys."""
MOST, MOST_CLASSES = 25, 6
"""Columns in the picture of coefficients, and classes that have one."""


class Drawing(NamedTuple):
    """A picture that is still to be drawn: ``draw`` is given axes of so many inches."""

    heading: str
    caption: str
    draw: Callable[[Any], Any]
    size: tuple[float, float] = (5.2, 4.2)
    wide: bool = False


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
            pictures.append(png(drawing))
        except ValueError as error:
            notes.append(f"There is no picture of {drawing.heading.lower()}: {error}.")
    return Drawn(tuple(pictures), tuple(notes))


def png(drawing: Drawing) -> Picture:
    r"""Draw a picture with few colours, so that its file is small.

    Examples
    --------
    >>> picture = png(Drawing("A line", "From 0 to 1.", lambda ax: ax.plot([0.0, 1.0])))
    >>> picture.content[:4], len(picture.content) < 20_000
    (b'\x89PNG', True)
    """
    figure = require("matplotlib.figure", extra="plot").Figure(
        drawing.size, dpi=DPI, facecolor="white", layout="constrained"
    )
    canvas = require("matplotlib.backends.backend_agg", extra="plot").FigureCanvasAgg(figure)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing")  # the table has the name as it is
        drawing.draw(figure.add_subplot())
        canvas.draw()
    image, packed = require("PIL.Image", extra="plot"), io.BytesIO()
    drawn = image.frombuffer("RGBA", canvas.get_width_height(), canvas.buffer_rgba(), "raw", "RGBA", 0, 1)
    few = drawn.convert("RGB").quantize(COLOURS, dither=image.Dither.NONE)
    few.save(packed, format="PNG", optimize=True)
    alt = f"{drawing.heading}. {drawing.caption}"
    return Picture(drawing.heading, drawing.caption, packed.getvalue(), alt, wide=drawing.wide)


def drawings(
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
    >>> [drawing.heading for drawing in drawings(model, effects_of(model), rows)]
    ['Effects', 'Observed against predicted', 'Residuals']
    """
    if all(one.model.status_ in EMPTY for one in effects):
        return []  # the answer says why
    found = [_coefficients(model, one, level, method) for one in effects[:MOST_CLASSES]]
    if isinstance(effects[0].family, Ordered):
        return [*found, *_of_levels(model, rows)]
    if len(effects) == 1:
        # An average has predictions of its rows by fits that had not seen them: the honest picture.
        found += _of_rows(model, effects[0], {} if is_average(model) else rows, level)
    return found


def _coefficients(model: Any, one: Effects, level: float, method: str) -> Drawing:
    of = "" if one.label is None else f" on {named(one.label)} against the rest"
    most = f" Of {len(one.names):,} columns no more than {MOST} are drawn." if len(one.names) > MOST else ""
    beside = " At the right is the inclusion." if is_average(one.model) else ""
    if not beside and interval_method(one, method) == "posterior":
        most += (
            " These are the intervals at the mode, given the selection; the table has those of the posterior."
        )
    lines = min(
        len(one.names) if len(one.names) <= MOST or is_average(one.model) else int(one.selected.sum()), MOST
    )
    whole = model if one.label is None else one.model
    return Drawing(
        f"Effects{of}",
        f"The effect of one standard deviation of each column with its {percent_of(level)} interval, so that "
        f"sizes can be compared.{beside}{most}",
        lambda ax: plot_coefficients(whole, level, most=MOST, ax=ax),
        (7.0 if one.label is None else 5.6, 1.9 + 0.3 * lines),
        one.label is None,
    )


def _of_levels(model: Any, rows: dict[str, Any]) -> Iterator[Drawing]:
    if not hasattr(model, "predict_proba"):
        return  # no two rows have the same level
    known = {name: values for name, values in rows.items() if name != "exposure"}
    yield Drawing(
        "Levels",
        "What is predicted of the rows of each level; the share of their own level is framed.",
        lambda ax: plot_levels(model, **known, ax=ax),
        (6.5, 1.7 + 0.42 * len(model.levels_)),
        True,
    )


def _of_rows(model: Any, one: Effects, rows: dict[str, Any], level: float) -> Iterator[Drawing]:
    if not one.family.has_intercept:
        return  # a risk is compared with other risks, not with y
    if one.family.is_binary:
        yield Drawing(
            "Calibration",
            "How often the event happened where so much was predicted; the diagonal is right.",
            lambda ax: plot_calibration(model, **rows, level=level, ax=ax),
        )
        yield Drawing(
            "Discrimination",
            "How many events are found against how many others are taken for one.",
            lambda ax: plot_roc(model, **rows, ax=ax),
        )
        return
    yield Drawing(
        "Observed against predicted",
        f"With the intervals in which {percent_of(level)} of new rows are expected.",
        lambda ax: plot_observed(model, **rows, level=level, ax=ax),
    )
    if one.family.discrete:
        yield Drawing(
            "Rootogram",
            "How often each count is observed, hung from how often it is expected.",
            lambda ax: plot_rootogram(model, **rows, ax=ax),
        )
    else:
        yield Drawing(
            "Residuals",
            "What predictions leave of the responses; a pattern says that something is missing.",
            lambda ax: plot_residuals(model, **rows, ax=ax),
        )


def ending(model: Any, effects: Sequence[Effects]) -> list[Drawing]:
    """Return the pictures of how a fit came about.

    Examples
    --------
    >>> import numpy as np
    >>> from horseshoe import HorseshoeRegressor
    >>> from horseshoe.report.page.effects import effects_of
    >>> x = np.arange(20.0)
    >>> model = HorseshoeRegressor().fit(x[:, None], x + np.cos(x))
    >>> [drawing.heading for drawing in ending(model, effects_of(model))]
    ['Convergence']
    """
    if all(one.model.status_ in EMPTY for one in effects):
        return []
    if not is_average(model):
        change = "The change of the coefficients at each iteration, and how many columns were still in."
        return [Drawing("Convergence", change, lambda ax: plot_convergence(model, ax=ax))]
    if len(effects) > 1:
        return []
    size = (5.2, 1.4 + 0.35 * (len(model.components_) + 1))
    counts = "How well each method predicts rows that it has not seen, and how much it counts."
    return [Drawing("Components of the average", counts, lambda ax: plot_components(model, ax=ax), size)]

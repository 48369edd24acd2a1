"""The pictures of a report as small PNG files. Needs matplotlib, which ``farrier[plot]`` installs."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from farrier._extras import require
from farrier.report.page.content import Picture
from farrier.report.page.effects import Effects
from farrier.report.page.numbers import named
from farrier.report.plots import plot_coefficients

DPI = 150
"""Enough for print at the width of a page, and a file of some 30 kB."""
COLOURS = 96
"""Of the palette: the pictures have few, and the edges of letters need some greys."""
MOST = 25
"""Columns in the picture of coefficients."""


class Drawing(NamedTuple):
    """A picture that is still to be drawn; ``draw`` is given the axes."""

    heading: str
    caption: str
    alt: str
    draw: Callable[[Any], Any]
    size: tuple[float, float] = (5.4, 4.0)


def png(drawing: Drawing) -> Picture:
    r"""Draw a picture with few colours, so that its file is small.

    Examples
    --------
    >>> picture = png(Drawing("A line", "", "a line", lambda ax: ax.plot([0.0, 1.0])))
    >>> picture.content[:4], len(picture.content) < 20_000
    (b'\x89PNG', True)
    """
    figure = require("matplotlib.figure", extra="plot").Figure(figsize=drawing.size, dpi=DPI)
    require("matplotlib.backends.backend_agg", extra="plot").FigureCanvasAgg(figure)
    drawing.draw(figure.add_subplot())
    drawn = io.BytesIO()
    figure.savefig(drawn, format="png", dpi=DPI, bbox_inches="tight", facecolor="white")
    image = require("PIL.Image", extra="plot")
    small, packed = image.open(drawn).convert("RGB"), io.BytesIO()
    small.quantize(COLOURS, dither=image.Dither.NONE).save(packed, format="PNG", optimize=True)
    return Picture(drawing.heading, drawing.caption, packed.getvalue(), drawing.alt)


def drawings(effects: Sequence[Effects]) -> list[Drawing]:
    """Return the pictures that go with a fit.

    Examples
    --------
    >>> import numpy as np
    >>> from farrier import HorseshoeRegressor
    >>> from farrier.report.page.effects import effects_of
    >>> x = np.arange(20.0)
    >>> found = effects_of(HorseshoeRegressor().fit(x[:, None], 3.0 * x + np.cos(x)), x[:, None])
    >>> [drawing.heading for drawing in drawings(found)]
    ['Effects']
    """
    return [_coefficients(one) for one in effects if hasattr(one.model, "scale_")]


def _coefficients(one: Effects) -> Drawing:
    of = "" if one.label is None else f" on {named(one.label)} against the rest"
    lines = min(len(one.names), MOST)
    return Drawing(
        f"Effects{of}",
        "The effect of one standard deviation of each column, so that sizes can be compared.",
        f"Coefficients{of} with their intervals; the table above has the numbers.",
        lambda ax: plot_coefficients(one.model, most=MOST, ax=ax),
        (7.0, 1.9 + 0.3 * lines),
    )

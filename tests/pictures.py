"""What tests ask of pictures: where their texts are, and that none lies on another."""

from __future__ import annotations

import itertools
from typing import Any

import matplotlib as mpl
import numpy as np

mpl.use("Agg")


def every_axes(ax: Any) -> list[Any]:
    """Return the axes of a picture: those given, those within and beside them, and twins."""
    twins = [other for other in ax.figure.axes if other is not ax and other.bbox.bounds == ax.bbox.bounds]
    return [ax, *ax.child_axes, *twins]


def texts(ax: Any) -> list[tuple[str, Any]]:
    """Return the texts that are seen, and where they are, in pixels."""
    found: dict[int, tuple[str, Any]] = {}
    for axes in every_axes(ax):
        for axis in (axes.xaxis, axes.yaxis):
            if not axis.get_visible():  # of twins
                continue
            low, high = sorted(axis.get_view_interval())
            pairs = zip(axis.get_majorticklocs(), axis.get_majorticklabels(), strict=True)
            seen = [label for place, label in pairs if low <= place <= high]
            for text in (*seen, axis.label, axis.get_offset_text(), axes.title, *axes.texts):
                if text.get_text() and text.get_visible():
                    found[id(text)] = (text.get_text(), text.get_window_extent())
        if axes.get_legend() is not None:
            found[id(axes)] = ("legend", axes.get_legend().get_window_extent())
    return list(found.values())


def assert_nothing_overlaps(ax: Any) -> None:
    """Fail if two texts lie on each other, or one is cut off."""
    ax.figure.canvas.draw()
    everything = texts(ax)
    assert len(everything) >= 4
    for (one, box), (other, second) in itertools.combinations(everything, 2):
        apart = box.x1 <= second.x0 or second.x1 <= box.x0 or box.y1 <= second.y0 or second.y1 <= box.y0
        assert apart, (one, other)
    width, height = ax.figure.canvas.get_width_height()
    for name, box in everything:
        assert min(box.x0, box.y0) >= -1.0, name
        assert box.x1 <= width + 1.0, name
        assert box.y1 <= height + 1.0, name


def assert_legend_is_free(ax: Any) -> None:
    """Fail if the legend hides a point that is drawn."""
    legend = ax.get_legend().get_window_extent()
    points = [
        np.column_stack(line.get_data()) for line in ax.lines if line.get_marker() not in ("None", None)
    ]
    places = ax.transData.transform(np.vstack(points))
    assert not any(legend.contains(*place) for place in places)


def names(ax: Any) -> list[str]:
    """Return the names at the left."""
    return [label.get_text() for label in ax.get_yticklabels()]


def by_label(ax: Any, label: str) -> Any:
    """Return the line of this name."""
    return next(line for line in ax.lines if line.get_label().startswith(label))

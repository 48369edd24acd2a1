"""What a table comes to: the other methods against print, ours against print, and the times."""

from __future__ import annotations

import math
from typing import Literal

from horseshoe_reproduction.cells import Cell
from horseshoe_reproduction.experiment import RELEASED, Experiment
from horseshoe_reproduction.methods import METHODS

# Combined standard errors: how near the others must come, and from where on ours is worse than printed.
Group = Literal["ours", "released", "others"]
OURS = ("hs-em", "hs-em-small", "hs-apx")
NEAR, SURE = 3.0, 2.0
# The metrics of accuracy, and which way is worse.
LOSSES = {"MSE": 1.0, "NLL": 1.0, "CA": -1.0}
TIMES_FASTER = 20.0


def verdicts(experiment: Experiment, cells: list[Cell]) -> list[str]:
    """Return the verdicts as lines of Markdown."""
    return [
        *_others(experiment, cells),
        *_ours(experiment, cells),
        *_columns(cells),
        *_sizes(cells),
        *_times(experiment, cells),
    ]


def group(method: str) -> Group:
    """Tell whose method it is.

    Examples
    --------
    >>> group("hs-em"), group("hs-em-released"), group("mcp")
    ('ours', 'released', 'others')
    """
    return "ours" if method in OURS else "released" if method in RELEASED else "others"


def compared(cells: list[Cell], which: Group) -> list[Cell]:
    """Return the cells of a group that have a number to be compared with."""
    found = [c for c in cells if c.difference is not None and not math.isnan(c.difference)]
    return [c for c in found if group(c.method) == which]


def far(cells: list[Cell]) -> list[Cell]:
    """Return the cells of the other methods that are not near the printed number."""
    return [c for c in compared(cells, "others") if abs(c.difference or 0.0) > NEAR]


def worse(cells: list[Cell]) -> list[Cell]:
    """Return the cells of ours whose accuracy is below the printed one beyond chance."""
    return [
        c
        for c in compared(cells, "ours")
        if c.metric in LOSSES and LOSSES[c.metric] * (c.difference or 0.0) > SURE
    ]


def _others(experiment: Experiment, cells: list[Cell]) -> list[str]:
    judged, outside = compared(cells, "others"), far(cells)
    lines = [f"- The other columns: {_share(judged, outside)}"] if judged else []
    return lines + [_line(experiment, cell) for cell in outside]


def _share(judged: list[Cell], outside: list[Cell]) -> str:
    inside = len(judged) - len(outside)
    return (
        f"{inside} of {len(judged)} printed means ({inside / len(judged):.0%}) are within {NEAR:g} combined "
        "standard errors."
    )


def _columns(cells: list[Cell]) -> list[str]:
    """Tell how near each of ours, and each as released, comes to the printed column it stands beside."""
    lines = []
    for method, judged in _by_method(cells):
        outside = [c for c in judged if abs(c.difference or 0.0) > NEAR]
        column = METHODS[method].printed
        lines.append(f"  - {METHODS[method].label}, beside the printed {column}: {_share(judged, outside)}")
    return ["- The horseshoe's columns:", *lines] if lines else []


def _sizes(cells: list[Cell]) -> list[str]:
    """Tell whether each of ours, and each as released, keeps more variables than printed, or fewer."""
    lines = []
    for method, judged in _by_method([c for c in cells if c.metric == "No.V"]):
        more, fewer = (sum(sign * (c.difference or 0.0) > SURE for c in judged) for sign in (1.0, -1.0))
        lines.append(
            f"  - {METHODS[method].label}: more than printed in {more} of {len(judged)} settings, "
            f"fewer in {fewer}"
        )
    return [f"- Variables kept, beyond {SURE:g} combined standard errors:", *lines] if lines else []


def _by_method(cells: list[Cell]) -> list[tuple[str, list[Cell]]]:
    """Return the cells of ours and of those as released that can be compared, a method at a time."""
    judged = compared(cells, "ours") + compared(cells, "released")
    methods = dict.fromkeys(cell.method for cell in judged)
    return [(method, [c for c in judged if c.method == method]) for method in methods]


def _ours(experiment: Experiment, cells: list[Cell]) -> list[str]:
    judged = [c for c in compared(cells, "ours") if c.metric in LOSSES]
    if not judged:
        return []
    beyond = worse(cells)
    better = [c for c in judged if -LOSSES[c.metric] * (c.difference or 0.0) > SURE]
    lines = [
        f"- Ours: accuracy at least as good as printed, within {SURE:g} combined standard errors, in "
        f"{len(judged) - len(beyond)} of {len(judged)} cells, and better beyond them in {len(better)}."
    ]
    return lines + [_line(experiment, cell) for cell in beyond]


def _line(experiment: Experiment, cell: Cell) -> str:
    """Say what one cell is, and why it differs where that is known."""
    assert cell.printed is not None
    reason = experiment.reason(cell.setting, cell.metric, cell.method)
    why = f" {reason.text}" if reason else ""
    if reason and reason.shift:
        why += f" With {reason.shift:g} more: {cell.shifted(reason.shift) or 0.0:+.1f} standard errors."
    return (
        f"  - {METHODS[cell.method].label}, {cell.setting}, {cell.metric}: "
        f"{cell.mean:.4g} ({cell.error:.2g}) here, "
        f"{cell.printed.mean:.4g} ({cell.printed_error:.2g}) printed, "
        f"{cell.difference or 0.0:+.1f} standard errors.{why}"
    )


def _times(experiment: Experiment, cells: list[Cell]) -> list[str]:
    times = {(c.setting, c.method): c.mean for c in cells if c.metric == "Time"}
    lines = []
    for setting in experiment.settings:
        ours, theirs = times.get((setting, "hs-em")), times.get((setting, "mcp"))
        if ours is not None and theirs is not None:
            word = "under" if theirs > TIMES_FASTER * ours else "NOT under"
            lines.append(f"  - {setting}: {ours / theirs:.2g} of it ({word} a twentieth)")
    return ["- CPU time of HS-EM as a share of that of the cross-validated MCP:", *lines] if lines else []

"""What a checkpoint belongs to: the data and the options of a fit."""

from __future__ import annotations

from typing import Any

from horseshoe.data.rows import Rows
from horseshoe.data.standardise import Standardised
from horseshoe.em.options import Options
from horseshoe.model.spec import ModelSpec
from horseshoe.store.checkpoint import CheckpointSection

SETTINGS = ("expectation", "tol", "max_iter", "zero_threshold", "fast")
"""The options that decide the way of the loop."""


def check_fingerprint(
    options: Options, spec: ModelSpec, rows: Rows, design: Standardised, start: Any, *more: Any
) -> None:
    """Refuse a checkpoint of another fit: of other options, or of other data, ``more`` than the rows."""
    assert options.checkpoint is not None
    chosen = {name: getattr(options, name) for name in SETTINGS}
    check_rows_fingerprint(options.checkpoint, {**vars(spec), **chosen, "start": start}, rows, design, *more)


def check_rows_fingerprint(
    checkpoint: CheckpointSection, settings: dict[str, Any], rows: Rows, design: Standardised, *more: Any
) -> None:
    """Refuse a checkpoint that belongs to other settings or other rows.

    Of columns that are read in parts, one more pass would be dear: there the first and the last part stand
    for them, and means and spreads, which are known by now.
    """
    known = (design.mean, design.spread, rows.y, rows.counts, rows.offset)
    checkpoint.check_fingerprint(settings, *rows.columns.digest(brief=True), *known, *more)

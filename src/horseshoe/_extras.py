"""Optional packages, imported where they are used, and the data frames that pandas makes."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any


def require(module: str, extra: str) -> Any:
    """Import ``module``, or raise an error that names the extra.

    Examples
    --------
    >>> require("math", extra="plot").floor(1.5)
    1
    """
    try:
        return import_module(module)
    except ImportError as error:
        raise ImportError(f"{module} is needed here: pip install 'horseshoe[{extra}]'") from error


def data_frame(tables: Sequence[dict[str, Any]], labels: Sequence[Any] = (None,), kind: str = "class") -> Any:
    """Return tables, which are columns by name, below each other as a data frame.

    Where there are ``labels`` of the tables, they stand in front, in a column called ``kind``.

    Examples
    --------
    >>> part = {"feature": ["a"], "coef": [1.0]}
    >>> data_frame([part]).shape, data_frame([part, part], ["x", "y"])["class"].tolist()
    ((1, 2), ['x', 'y'])
    """
    pandas = require("pandas", extra="pandas")
    frames = [pandas.DataFrame(columns) for columns in tables]
    for label, table in zip(labels, frames, strict=True):
        if label is not None:
            table.insert(0, kind, [label] * len(table))
    return frames[0] if len(frames) == 1 else pandas.concat(frames, ignore_index=True)

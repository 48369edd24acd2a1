"""Dask, as far as the other files here use it: what is Dask's, tasks run, results added up in a fixed order.

Whatever scheduler the user has chosen runs the tasks: threads, processes, or the machines of a
`dask.distributed.Client`. We have none of our own.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from horseshoe._extras import require


def is_dask(value: Any) -> bool:
    """Tell whether ``value`` is a collection of Dask, which need not be installed.

    Examples
    --------
    >>> is_dask([1.0, 2.0])
    False
    """
    return type(value).__module__.partition(".")[0] == "dask" and hasattr(value, "__dask_graph__")


def gathered(name: str, value: Any) -> Any:
    """Return a vector of Dask as one in memory, and whatever else is handed in as it is.

    Examples
    --------
    >>> gathered("y", [1.0, 2.0])
    [1.0, 2.0]
    """
    if not is_dask(value):
        return value
    refuse_delayed(name, value)
    if value.ndim != 1 and not (value.ndim == 2 and value.shape[1] == 1):
        raise ValueError(f"{name} is a Dask collection of shape {value.shape}: give one value for each row")
    values = run([value])[0]
    return values.to_numpy() if hasattr(values, "to_numpy") else np.asarray(values)


def refuse_delayed(name: str, value: Any) -> None:
    """Refuse what Dask has not yet been told the shape of.

    Examples
    --------
    >>> refuse_delayed("X", [[1.0]])
    """
    if type(value).__name__ in ("Delayed", "DelayedLeaf", "DelayedAttr", "Bag"):
        raise TypeError(
            f"{name} is a Dask {type(value).__name__}, which has no rows and columns: make an array or a "
            "data frame of it, as dask.array.from_delayed and dask.dataframe.from_delayed do"
        )


def run(tasks: Sequence[Any]) -> list[Any]:
    """Return the results of the tasks; a cluster that is gone is said to be."""
    dask = require("dask", "dask")
    try:
        with warnings.catch_warnings():  # vectors go with the tasks: then a lost worker is no loss
            warnings.filterwarnings("ignore", message="Sending large graph")
            return list(dask.compute(*tasks))
    except Exception as error:
        told = _told(error)
        if told is None:
            raise
        raise ConnectionError(told) from error


# What it means to a fit that an error of `distributed` has this name.
GONE = "the Dask scheduler is gone, or has forgotten the fit: start the cluster again, and fit again"
LOST = {
    "KilledWorker": "workers of the Dask cluster died again and again on the same chunk, most often because "
    "it does not fit in their memory: make the chunks smaller, or give the workers more memory",
    "FutureCancelledError": GONE,
    "CancelledError": GONE,
    "CommClosedError": GONE,
}


def _told(error: BaseException) -> str | None:
    names = [kind.__name__ for kind in type(error).__mro__]
    found = next((LOST[name] for name in names if name in LOST), None)
    away = isinstance(error, OSError) and type(error).__module__.startswith("distributed")
    return GONE if found is None and away else found


def call(function: Callable[..., Any], *values: Any) -> Any:
    """Return a task: the function of values, some of which are tasks themselves."""
    return require("dask", "dask").delayed(function, pure=False)(*values)


def value(shared: Any) -> Any:
    """Return a value as a task, so that it is sent once however many tasks ask for it."""
    return require("dask", "dask").delayed(shared, pure=False, traverse=False)


def tree(parts: Sequence[Any], combine: Callable[[Any, Any], Any]) -> Any:
    """Return the task that combines tasks two by two, neighbours first: always in the same order.

    Sums of floats depend on their order; in this one no worker, thread or chance has a say.
    """
    level = list(parts)
    while len(level) > 1:
        pairs = [call(combine, *level[i : i + 2]) for i in range(0, len(level) - 1, 2)]
        level = pairs + level[2 * len(pairs) :]
    return level[0]

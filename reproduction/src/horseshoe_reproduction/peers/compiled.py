"""Loops that numba compiles when they are first called."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from types import FunctionType
from typing import Any

from horseshoe_reproduction.environment import require


@cache
def compiled(*functions: Callable[..., Any]) -> Callable[..., Any]:
    """Compile functions of one module, each of which may call those before it; return the last.

    Examples
    --------
    >>> def twice(x):
    ...     return 2.0 * x
    >>> compiled(twice)(1.5)
    3.0
    """
    njit = require("numba").njit
    last = functions[-1]
    scope: dict[str, Any] = dict(getattr(last, "__globals__"))  # noqa: B009  a plain function has them
    for function in functions:
        scope[function.__name__] = njit(FunctionType(getattr(function, "__code__"), scope))  # noqa: B009
    found: Callable[..., Any] = scope[last.__name__]
    return found

"""Optional packages, imported where they are used."""

from __future__ import annotations

from importlib import import_module
from typing import Any


def require(module: str, extra: str) -> Any:
    """Import ``module``, or say which extra installs it.

    Examples
    --------
    >>> require("math", extra="plot").floor(1.5)
    1
    """
    try:
        return import_module(module)
    except ImportError as error:
        raise ImportError(f"{module} is needed here: pip install 'horseshoe[{extra}]'") from error

"""A fit that is broken off and taken up must come to the same answer, bit for bit."""

from __future__ import annotations

import tempfile
import warnings
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

ONE_IN = 8
"""So many cases have one that is broken off ..."""
MOST = 2_000
"""... if it has fewer iterations than this: it is fitted twice more."""


class BrokenOffError(Exception):
    """Raised by a callback."""


class Breaks:
    """A callback that breaks a fit off after so many news."""

    def __init__(self, news: int) -> None:
        self.news = news

    def __call__(self, news: Any) -> None:
        self.news -= 1
        if self.news <= 0:
            raise BrokenOffError


def differs(
    make: Any, X: Any, y: Any, rows: dict[str, Any], wanted: Any, names: Any, seed: int
) -> str | None:
    """Return in what a fit that was broken off differs from one that was not; None if in nothing."""
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the fit itself was heard
        path = Path(folder) / "fit.npz"
        with suppress(BrokenOffError):
            make().set_params(callback=Breaks(1 + seed % 23)).fit(X, y, **rows, checkpoint=path)
        found = make().fit(X, y, **rows, checkpoint=path)
    for name in names:
        one, other = (np.asarray(getattr(model, name)) for model in (found, wanted))
        if not np.array_equal(one, other, equal_nan=one.dtype.kind == "f"):
            return name
    return None

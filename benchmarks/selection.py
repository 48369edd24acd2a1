"""How well columns were selected, in one number."""

from __future__ import annotations


def f1(found: float, false: float, real: float) -> float:
    """Return the harmonic mean of two shares: of the real ones that are found, of the selected that are real.

    Examples
    --------
    >>> f1(found=8, false=0, real=8), f1(found=8, false=8, real=8), f1(found=0, false=0, real=8)
    (1.0, 0.6666666666666666, 0.0)
    """
    return 2.0 * found / (found + false + real)

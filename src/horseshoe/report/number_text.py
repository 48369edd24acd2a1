"""Numbers as people read them: enough digits to tell them from zero and from each other, and no more."""

from __future__ import annotations

import math
from collections.abc import Sequence

# Significant digits of a number that stands alone, and of the distance between two that belong together.
DIGITS = 3
# No number has more digits than this.
MOST = 10
# Numbers beyond these are written with a power of ten.
LARGE, SMALL = 1e7, 1e-4
# Ratios that differ by more than this factor have digits of their own.
WIDE = 10.0
# What is written for a number that is not there.
MISSING = ""


def format_number(value: float, digits: int = DIGITS) -> str:
    """Write a number with so many significant digits; only zero reads zero.

    Examples
    --------
    >>> [format_number(x) for x in (0.0, 12.3456, 0.00123456, 1234567.0, 3.2e-9, 4.56e12, float("nan"))]
    ['0', '12.3', '0.00123', '1,234,567', '3.20e-9', '4.56e12', '']
    """
    return format_together([value], digits)[0]


def format_together(values: Sequence[float], digits: int = DIGITS) -> list[str]:
    """Write numbers that belong together, as a coefficient and the ends of its interval, alike.

    They have as many decimals as it takes for the largest distance among them to have ``digits`` significant
    ones. A number that would read zero then has decimals of its own.

    Examples
    --------
    >>> format_together([43.5628, 32.1561, 54.9694]), format_together([0.004, -31.2, 40.0])
    (['43.6', '32.2', '55.0'], ['0.004', '-31.2', '40.0'])
    >>> format_together([1000.00123, 1000.00101, 1000.00145]), format_together([2.1e-8, 1e-8, 3.2e-8])
    (['1,000.001230', '1,000.001010', '1,000.001450'], ['2.10e-8', '1.00e-8', '3.20e-8'])
    >>> format_together([0.0, 0.0]), format_together([1.5, float("nan"), float("inf")])
    (['0', '0'], ['1.50', '', 'inf'])
    """
    known = [float(value) for value in values if math.isfinite(value)]
    largest = max(map(abs, known), default=0.0)
    if largest == 0.0:
        return [_write(value, 0, False) for value in values]
    apart = max(known) / 2.0 - min(known) / 2.0  # twice that might overflow
    apart = 2.0 * apart if apart > 1e-15 * largest else largest
    decimals = digits - 1 - _exponent(apart, digits)
    decimals = min(decimals, MOST - 1 - _exponent(largest, MOST))
    beyond = largest >= LARGE or largest < SMALL
    return [_write(value, decimals, beyond) for value in values]


def format_ratios(values: Sequence[float], digits: int = DIGITS) -> list[str]:
    """Write ratios that belong together: alike where they are near each other, else each on its own.

    Examples
    --------
    >>> format_ratios([1.005, 0.963, 1.239]), format_ratios([9.1e13, 3123.0, 2.49e24])
    (['1.005', '0.963', '1.239'], ['9.10e13', '3,123', '2.49e24'])
    """
    known = [float(value) for value in values if math.isfinite(value) and value > 0.0]
    if known and max(known) / WIDE <= min(known):
        return format_together(values, digits)
    return [format_number(value, digits) for value in values]


def format_share(value: float) -> str:
    """Write a number between 0 and 1 with two decimals, and say so where it only nearly is 0 or 1.

    Examples
    --------
    >>> [format_share(x) for x in (0.0, 0.0004, 0.25, 0.9996, 1.0, float("nan"))]
    ['0.00', '<0.01', '0.25', '>0.99', '1.00', '']
    """
    if math.isnan(value):
        return MISSING
    if 0.0 < value < 0.005:
        return "<0.01"
    return ">0.99" if 0.995 < value < 1.0 else f"{value:.2f}"


def format_count(value: float) -> str:
    """Write a number of things, with commas.

    Examples
    --------
    >>> format_count(12000), format_count(3.0)
    ('12,000', '3')
    """
    return f"{value:,.0f}"


def _write(value: float, decimals: int, beyond: bool) -> str:
    """Write one number, rounded to so many decimals; ``beyond`` with a power of ten."""
    if not math.isfinite(value):
        return MISSING if math.isnan(value) else "inf" if value > 0.0 else "-inf"
    if value == 0.0:
        return "0" if beyond else f"{0.0:.{max(decimals, 0)}f}"
    if beyond:
        return _power(value, max(1, decimals + 1 + _exponent(value, MOST)))
    text = f"{value:,.{max(decimals, 0)}f}"
    if any(digit in "123456789" for digit in text):
        return text
    own = -_exponent(value, 1)
    return f"{value:.{own}f}" if abs(value) >= SMALL else _power(value, 1)


def _power(value: float, digits: int) -> str:
    mantissa, _, exponent = f"{value:.{digits - 1}e}".partition("e")
    return f"{mantissa}e{int(exponent)}"


def _exponent(value: float, digits: int) -> int:
    """Return the power of ten of the first digit after rounding to so many: 9.99 is 10 with two of them."""
    return int(f"{abs(value):.{digits - 1}e}".partition("e")[2])

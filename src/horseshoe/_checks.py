"""Numbers and names that users hand in, checked: each error names the argument and the way out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

# Bytes below which nobody asks whether they are free.
NOTABLE = 2.0**28


def check_number(
    name: str,
    value: Any,
    *,
    low: float = 0.0,
    high: float = np.inf,
    low_allowed: bool = False,
    instead: str = "",
) -> float:
    """Return ``value`` as a float above ``low`` and at most ``high``.

    ``instead`` names what else the argument may be, for the error message.

    Examples
    --------
    >>> check_number("lambda_power", 2.5, high=2.0)
    Traceback (most recent call last):
    ValueError: lambda_power=2.5 must be a finite number above 0 and at most 2
    >>> check_number("power", 0.9, low=1.0, high=2.0, low_allowed=True)
    Traceback (most recent call last):
    ValueError: power=0.9 must be a finite number of at least 1 and at most 2
    """
    sign = " (not negative)" if low == 0.0 else ""
    lower = f"of at least {low:g}{sign}" if low_allowed else f"above {low:g}"
    upper = " (positive)" if np.isinf(high) and not low_allowed else ""
    upper = upper if np.isinf(high) else f" and at most {high:g}"
    allowed = f"{name}={value!r} must be a finite number {lower}{upper}{instead}"
    if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
        raise TypeError(allowed)
    if not np.isfinite(value) or value > high or value < low or (value == low and not low_allowed):
        raise ValueError(allowed)
    return float(value)


def check_level(level: Any) -> float:
    """Return the coverage of an interval, strictly between 0 and 1.

    Examples
    --------
    >>> check_level(0.95)
    0.95
    """
    try:
        return check_number("level", level, high=np.nextafter(1.0, 0.0))
    except (TypeError, ValueError) as error:
        raise type(error)(f"level={level!r} must be a number above 0 and below 1") from None


def check_random_state(random_state: Any) -> np.random.Generator:
    """Return a generator: the one given, or a new one from a seed or from what an old RandomState draws.

    Examples
    --------
    >>> check_random_state(-1)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ValueError: random_state=-1 must be a whole number of at least 0, a NumPy Generator or RandomState, ...
    """
    if isinstance(random_state, np.random.RandomState):  # which moves on, as a generator does
        return np.random.default_rng(random_state.randint(2**32, size=4, dtype=np.uint32))
    whole = isinstance(random_state, int | np.integer) and not isinstance(random_state, bool)
    if not (random_state is None or isinstance(random_state, np.random.Generator) or whole) or (
        whole and random_state < 0
    ):
        raise ValueError(
            f"random_state={random_state!r} must be a whole number of at least 0, "
            "a NumPy Generator or RandomState, or None"
        )
    return np.random.default_rng(random_state)


def check_jobs(n_jobs: Any) -> int | None:
    """Return a number of processes or threads, or None; negative ones count from the number of cores.

    Examples
    --------
    >>> check_jobs(-1), check_jobs(None)
    (-1, None)
    """
    whole = isinstance(n_jobs, int | np.integer) and not isinstance(n_jobs, bool)
    if n_jobs is not None and (not whole or n_jobs == 0):
        raise ValueError(f"n_jobs={n_jobs!r} must be a whole number other than 0, or None")
    return None if n_jobs is None else int(n_jobs)


def check_memory(need: float, what: str, instead: str) -> None:
    """Refuse what needs more bytes than are free, where that is known: it would be killed without a message.

    Examples
    --------
    >>> check_memory(1e3, "a fit", "fit less")
    """
    free = _free_memory() if need > NOTABLE else None
    if free is not None and need > free:
        sizes = f"{need / 2**30:.1f} GiB of memory, and {free / 2**30:.1f} GiB are free"
        raise ValueError(f"{what} takes about {sizes}: {instead}")


def _free_memory() -> float | None:
    """Return how many bytes can be taken, as Linux says; None where that is not known."""
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        (kilobytes,) = (line.split()[1] for line in lines if line.startswith("MemAvailable:"))
    except (OSError, ValueError):
        return None
    return 1024.0 * float(kilobytes)


def check_choice(name: str, value: Any, allowed: tuple[str, ...], instead: str = "") -> str:
    """Return ``value`` if it is one of the names allowed; ``instead`` says what else would do.

    Examples
    --------
    >>> check_choice("start", "paper", ("paper", "variance"))
    'paper'
    """
    if not isinstance(value, str) or value not in allowed:
        names = ", ".join(map(repr, allowed))
        raise ValueError(f"{name}={value!r} is not known: use one of {names}{instead}")
    return value

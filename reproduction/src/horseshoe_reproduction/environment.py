"""What results depend on besides the data: versions, the machine, the date; and optional packages."""

from __future__ import annotations

import os
import platform
from datetime import UTC, datetime
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

PACKAGES = ("horseshoe", "numpy", "scipy", "scikit-learn", "python-glmnet", "skglm", "numba", "polyagamma")


def here() -> dict[str, str]:
    """Return what a report says of where and when it was made.

    Examples
    --------
    >>> list(here())
    ['versions', 'machine', 'date']
    """
    return {
        "versions": ", ".join(f"{name} {number}" for name, number in versions().items()),
        "machine": machine(),
        "date": datetime.now(UTC).date().isoformat(),
    }


def versions() -> dict[str, str]:
    """Return the versions of what the results depend on, and of Python.

    Examples
    --------
    >>> "numpy" in versions()
    True
    """
    found = {"Python": platform.python_version()}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def machine() -> str:
    """Return the kind of machine, without its name.

    Examples
    --------
    >>> "cores" in machine()
    True
    """
    return f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores{_processor()}"


def _processor() -> str:
    """Return the processor's name where the system tells it."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return ""
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return f", {names[0]}" if names else ""


def require(module: str) -> Any:
    """Import a package of the extra "peers", or say how to install it.

    Examples
    --------
    >>> require("math").floor(1.5)
    1
    """
    try:
        return import_module(module)
    except ImportError as error:
        raise ImportError(f"{module} is needed here: pip install './reproduction[peers]'") from error

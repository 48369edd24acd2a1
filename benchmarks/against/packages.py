"""What the package of a tree is called: other revisions may have another name for it."""

from __future__ import annotations

import tomllib
from pathlib import Path

NAME = "horseshoe"
"""In this tree."""


def package_of(tree: Path) -> str:
    """Return the name in the pyproject.toml of a tree; bare sources have that of this tree."""
    if not (tree / "pyproject.toml").exists():
        return NAME
    return str(tomllib.loads((tree / "pyproject.toml").read_text())["project"]["name"])

"""The library whose answers are recorded: that of any tree, by the public names that it has today.

``ANSWERS_TREE`` names the tree, this one if it is not set; the name of the package is in its pyproject.toml.
"""

from __future__ import annotations

import os
import sys
from importlib import import_module
from inspect import signature
from pathlib import Path
from typing import Any

from benchmarks.against.packages import package_of
from benchmarks.harness.processes import ROOT

TREE = "ANSWERS_TREE"
EARLIER = {
    "AdaptiveRegressor": "HorseshoeRegressorCV",
    "AdaptiveClassifier": "HorseshoeClassifierCV",
    "AdaptiveSurvival": "HorseshoeSurvivalCV",
    "feature_groups": "groups",
    "unpenalized": "always",
    "lambda_power": "coordinate",
    "augmentation": "weights",
    "components": "members",
    "components_": "members_",
    "component_weights_": "member_weights_",
    "calibration_slope_": "shrinkage_",
    "kappa": "shrinkage",
    "kappa_": "shrinkage_",
}
"""What public names were called before: a tree that does not know one of them answers to this."""


class Library:
    """A package of a tree, spoken to by the names of today."""

    def __init__(self, tree: Path) -> None:
        self.name = package_of(tree)
        source = (tree / "src").resolve()
        sys.path.insert(0, str(source))
        self.module = import_module(self.name)
        self.place = Path(str(self.module.__file__))
        if not self.place.is_relative_to(source):
            raise RuntimeError(f"{self.name} was imported from {self.place}, not from {source}")

    def call(self, name: str, *given: Any, **options: Any) -> Any:
        """Call a function or a class; options have the names of today."""
        function = getattr(self.module, name if hasattr(self.module, name) else EARLIER[name])
        known = signature(function).parameters
        named = {key if key in known else EARLIER.get(key, key): value for key, value in options.items()}
        return function(*given, **named)

    def get(self, found: Any, name: str, default: Any = None) -> Any:
        """Return an attribute of an answer."""
        return getattr(found, name if hasattr(found, name) else EARLIER.get(name, name), default)

    def prior(self, name: str, *given: Any) -> Any:
        """Return a prior."""
        return getattr(import_module(f"{self.name}.priors"), name)(*given)

    def family(self, name: str, **options: Any) -> Any:
        """Return a family."""
        return getattr(import_module(f"{self.name}.families"), name)(**options)


LIBRARY = Library(Path(os.environ.get(TREE, ROOT)))

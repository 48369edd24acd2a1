"""Sparse horseshoe regression: which few columns matter, by how much, and how sure that is."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from farrier._types import FitResult, Iteration, Status
from farrier._version import __version__
from farrier.classifier import HorseshoeClassifier
from farrier.estep import choose_e_step
from farrier.estimators import HorseshoeRegressor
from farrier.means import normal_means

if TYPE_CHECKING:
    from farrier.posterior import Posterior
    from farrier.sample import sample_posterior

__all__ = [
    "FitResult",
    "HorseshoeClassifier",
    "HorseshoeRegressor",
    "Iteration",
    "Posterior",
    "Status",
    "__version__",
    "choose_e_step",
    "normal_means",
    "sample_posterior",
]

_LATER = {"Posterior": "farrier.posterior", "sample_posterior": "farrier.sample"}
"""Imported when they are first asked for: most fits never need them."""


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module 'farrier' has no attribute {name!r}")
    return getattr(import_module(_LATER[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)

"""Sparse horseshoe regression: which few columns matter, by how much, and how sure that is."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from farrier._version import __version__

if TYPE_CHECKING:
    from farrier._types import FitResult, Iteration, Status
    from farrier.estimators.classifier import HorseshoeClassifier
    from farrier.estimators.cv import HorseshoeRegressorCV
    from farrier.estimators.cv_classifier import HorseshoeClassifierCV
    from farrier.estimators.cv_survival import HorseshoeSurvivalCV
    from farrier.estimators.means import normal_means
    from farrier.estimators.path import horseshoe_path
    from farrier.estimators.regressor import HorseshoeRegressor
    from farrier.estimators.sample import sample_posterior
    from farrier.estimators.saving import load_model
    from farrier.estimators.survival import HorseshoeSurvival
    from farrier.posterior.draws import Posterior

_HOMES = {
    "FitResult": "farrier._types",
    "HorseshoeClassifier": "farrier.estimators.classifier",
    "HorseshoeClassifierCV": "farrier.estimators.cv_classifier",
    "HorseshoeRegressor": "farrier.estimators.regressor",
    "HorseshoeRegressorCV": "farrier.estimators.cv",
    "HorseshoeSurvival": "farrier.estimators.survival",
    "HorseshoeSurvivalCV": "farrier.estimators.cv_survival",
    "Iteration": "farrier._types",
    "Posterior": "farrier.posterior.draws",
    "Status": "farrier._types",
    "horseshoe_path": "farrier.estimators.path",
    "load_model": "farrier.estimators.saving",
    "normal_means": "farrier.estimators.means",
    "sample_posterior": "farrier.estimators.sample",
}
"""Each name is imported when it is first asked for."""

__all__ = [
    "FitResult",
    "HorseshoeClassifier",
    "HorseshoeClassifierCV",
    "HorseshoeRegressor",
    "HorseshoeRegressorCV",
    "HorseshoeSurvival",
    "HorseshoeSurvivalCV",
    "Iteration",
    "Posterior",
    "Status",
    "__version__",
    "horseshoe_path",
    "load_model",
    "normal_means",
    "sample_posterior",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'farrier' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)

"""Sparse horseshoe regression: which few columns matter, by how much, and how sure that is."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from horseshoe._version import __version__

if TYPE_CHECKING:
    from horseshoe import families, plots, priors, results
    from horseshoe._types import Status
    from horseshoe.estimators.adaptive_classifier import AdaptiveClassifier
    from horseshoe.estimators.adaptive_regressor import AdaptiveRegressor
    from horseshoe.estimators.adaptive_survival import AdaptiveSurvival
    from horseshoe.estimators.classifier import HorseshoeClassifier
    from horseshoe.estimators.normal_means import normal_means
    from horseshoe.estimators.path import horseshoe_path
    from horseshoe.estimators.regressor import HorseshoeRegressor
    from horseshoe.estimators.sample import sample_posterior
    from horseshoe.estimators.saving import load_model
    from horseshoe.estimators.survival import HorseshoeSurvival
    from horseshoe.posterior.draws import Posterior

# Each name is imported when it is first asked for.
_HOMES = {
    "HorseshoeClassifier": "horseshoe.estimators.classifier",
    "AdaptiveClassifier": "horseshoe.estimators.adaptive_classifier",
    "HorseshoeRegressor": "horseshoe.estimators.regressor",
    "AdaptiveRegressor": "horseshoe.estimators.adaptive_regressor",
    "HorseshoeSurvival": "horseshoe.estimators.survival",
    "AdaptiveSurvival": "horseshoe.estimators.adaptive_survival",
    "Posterior": "horseshoe.posterior.draws",
    "Status": "horseshoe._types",
    "horseshoe_path": "horseshoe.estimators.path",
    "load_model": "horseshoe.estimators.saving",
    "normal_means": "horseshoe.estimators.normal_means",
    "sample_posterior": "horseshoe.estimators.sample",
}
_MODULES = ("families", "plots", "priors", "results")

__all__ = [
    "AdaptiveClassifier",
    "AdaptiveRegressor",
    "AdaptiveSurvival",
    "HorseshoeClassifier",
    "HorseshoeRegressor",
    "HorseshoeSurvival",
    "Posterior",
    "Status",
    "__version__",
    "families",
    "horseshoe_path",
    "load_model",
    "normal_means",
    "plots",
    "priors",
    "results",
    "sample_posterior",
]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"horseshoe.{name}")
    if name not in _HOMES:
        raise AttributeError(f"module 'horseshoe' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)

"""Sparse horseshoe regression: which few columns matter, by how much, and how sure that is."""

from farrier._types import FitResult, Iteration, Status
from farrier._version import __version__
from farrier.classifier import HorseshoeClassifier
from farrier.estep import choose_e_step
from farrier.estimators import HorseshoeRegressor
from farrier.means import normal_means
from farrier.sample import sample_posterior

__all__ = [
    "FitResult",
    "HorseshoeClassifier",
    "HorseshoeRegressor",
    "Iteration",
    "Status",
    "__version__",
    "choose_e_step",
    "normal_means",
    "sample_posterior",
]

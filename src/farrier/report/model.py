"""What a table or a picture needs to know of a fitted model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from farrier._types import Mask, Matrix, Vector
from farrier.families import Family


class FittedModel(Protocol):
    """One regression, as `HorseshoeRegressor` or a `HorseshoeClassifier` of two classes leaves it.

    Examples
    --------
    >>> from farrier import HorseshoeRegressor
    >>> model: FittedModel = HorseshoeRegressor().fit([[1.0], [2.0], [3.0]], [1.0, 2.0, 2.5])
    >>> model.coef_.shape, model.coef_interval().shape
    ((1,), (1, 2))
    """

    @property
    def n_features_in_(self) -> int:
        """The number of columns."""

    @property
    def coef_(self) -> Vector:
        """The coefficients."""

    @property
    def coef_std_(self) -> Vector:
        """Their standard deviations."""

    @property
    def shrinkage_(self) -> Vector:
        """How far the prior pulls each: 0 not at all, 1 all the way."""

    @property
    def support_(self) -> Mask:
        """Which are not zero."""

    @property
    def scale_(self) -> Vector:
        """The standard deviations of the columns."""

    @property
    def aliases_(self) -> dict[Any, tuple[Any, ...]]:
        """Which column stands for which tied ones."""

    @property
    def family_(self) -> Family:
        """The distribution of y."""

    def coef_interval(self, level: float = 0.95, method: str = ...) -> Matrix:
        """Return (lower, upper) of each coefficient."""


class FittedClasses(Protocol):
    """A regression for each of several classes."""

    @property
    def n_features_in_(self) -> int:
        """The number of columns."""

    @property
    def classes_(self) -> Any:
        """The labels."""

    @property
    def estimators_(self) -> Sequence[FittedModel]:
        """The regression of each class against the rest."""


class FittedPath(Protocol):
    """Fits along the values of one parameter, from the richest to the sparsest."""

    @property
    def over(self) -> str:
        """The parameter."""

    @property
    def values(self) -> Vector:
        """Its values."""

    @property
    def estimators(self) -> Sequence[Any]:
        """The fit at each."""

    @property
    def coef(self) -> Matrix:
        """Their coefficients."""

    @property
    def n_selected(self) -> Any:
        """How many columns each selects."""

    @property
    def feature_names(self) -> Sequence[str]:
        """The names of the columns."""

    @property
    def warm_start(self) -> bool:
        """Whether each fit started at the one before."""

"""What a table or a picture needs to know of a fitted model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from horseshoe._types import Mask, Matrix, Vector
from horseshoe.families import Family


class FittedModel(Protocol):
    """One regression, as `HorseshoeRegressor` or a `HorseshoeClassifier` of two classes leaves it.

    Examples
    --------
    >>> from horseshoe import HorseshoeRegressor
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
    def kappa_(self) -> Vector:
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

    @property
    def fit_intercept(self) -> bool:
        """Whether there is an intercept."""

    @property
    def intercept_(self) -> float:
        """The linear predictor where every column is zero."""

    @property
    def intercept_std_(self) -> float:
        """Its standard deviation."""

    def coef_interval(self, level: float = 0.95, method: str = ...) -> Matrix:
        """Return (lower, upper) of each coefficient."""

    def intercept_interval(self, level: float = 0.95, method: str = ...) -> Vector:
        """Return (lower, upper) of the intercept."""


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


def parts_of(model: Any) -> list[Any]:
    """Return the regressions of which a fitted model is made: one, or one for each of several classes.

    Examples
    --------
    >>> from horseshoe import HorseshoeRegressor
    >>> model = HorseshoeRegressor().fit([[1.0], [2.0], [3.0]], [1.0, 2.0, 2.5])
    >>> parts_of(model) == [model]
    True
    >>> parts_of(HorseshoeRegressor())
    Traceback (most recent call last):
    ValueError: this HorseshoeRegressor is not fitted yet: call fit before
    >>> parts_of("a")
    Traceback (most recent call last):
    TypeError: 'a' is no model of horseshoe: give a fitted HorseshoeRegressor, HorseshoeClassifier, or an \
Adaptive one
    """
    if not hasattr(model, "get_support"):
        raise TypeError(
            f"{model!r:.60} is no model of horseshoe: give a fitted HorseshoeRegressor, HorseshoeClassifier, "
            "or an Adaptive one"
        )
    if not hasattr(model, "coef_"):
        raise ValueError(f"this {type(model).__name__} is not fitted yet: call fit before")
    return list(getattr(model, "estimators_", [model]))


def part_labels(model: Any) -> list[Any]:
    """Return what the regressions of a model are called: the classes, or the responses; None if there is one.

    Examples
    --------
    >>> from horseshoe import HorseshoeRegressor
    >>> model = HorseshoeRegressor().fit([[1.0], [2.0], [3.0]], [[1.0, 2.0], [2.0, 1.0], [2.5, 3.0]])
    >>> part_labels(model)
    ['y0', 'y1']
    """
    if len(parts_of(model)) == 1:
        return [None]
    labels: list[Any] = (model.outputs_ if hasattr(model, "outputs_") else model.classes_).tolist()
    return labels


def one_part(model: Any, asked: str) -> Any:
    """Return the one regression of a model; of several classes, say how to draw one of them.

    Examples
    --------
    >>> from horseshoe import HorseshoeClassifier
    >>> model = HorseshoeClassifier().fit([[0.0], [0.1], [1.0], [1.1], [2.0], [2.1]], list("aabbcc"))
    >>> one_part(model, "plot_coefficients")
    Traceback (most recent call last):
    ValueError: the model has 3 classes, one against the rest: draw one of them, as in \
plot_coefficients(model.estimators_[0])
    """
    parts = parts_of(model)
    if len(parts) > 1:
        kind = "responses" if hasattr(model, "outputs_") else "classes, one against the rest"
        if getattr(model, "multi_class", "") == "multinomial":
            kind = "classes"
        raise ValueError(
            f"the model has {len(parts)} {kind}: draw one of them, as in {asked}(model.estimators_[0])"
        )
    return parts[0]

"""The regressions within a fitted model: one, or one for each class or response."""

from __future__ import annotations

from typing import Any


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
    >>> part_labels(model), part_kind(model)
    (['y0', 'y1'], 'output')
    """
    if len(parts_of(model)) == 1:
        return [None]
    labels: list[Any] = (model.outputs_ if hasattr(model, "outputs_") else model.classes_).tolist()
    return labels


def part_kind(model: Any) -> str:
    """Return what the regressions of a model are: "output" or "class", the name of a column of tables."""
    return "output" if hasattr(model, "outputs_") else "class"


def is_average(model: Any) -> bool:
    """Tell whether a model is an average over components, and not a single mode."""
    return hasattr(model, "inclusion_")


def one_part(model: Any, caller: str) -> Any:
    """Return the one regression of a model; of several classes, say how ``caller`` takes one of them.

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
            f"the model has {len(parts)} {kind}: draw one of them, as in {caller}(model.estimators_[0])"
        )
    return parts[0]


def feature_names(model: Any) -> list[str]:
    """Return the column names of the training data, or x0, x1, ...

    Examples
    --------
    >>> from horseshoe import HorseshoeRegressor
    >>> feature_names(HorseshoeRegressor().fit([[1.0], [2.0], [3.0]], [1.0, 2.0, 2.5]))
    ['x0']
    """
    names = getattr(model, "feature_names_in_", None)
    return [f"x{j}" for j in range(model.n_features_in_)] if names is None else [str(name) for name in names]

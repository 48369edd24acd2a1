"""Responses and their predictions: of new rows, or of the training rows by fits that have not seen them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from horseshoe._types import Matrix, Vector
from horseshoe.data.validation import check_labels, check_weights, check_y
from horseshoe.families import Family
from horseshoe.report.parts import one_part

# Of more rows than this a part is drawn, evenly over the predictions.
MOST_POINTS = 2000


class Predictions(NamedTuple):
    """Responses and what is predicted of them; ``y`` of two classes is 0 or 1.

    ``source`` says which rows they are, for the title.
    """

    y: Vector
    mean: Vector
    weights: Vector
    family: Family
    source: str
    classes: Any = None

    @property
    def are_classes(self) -> bool:
        """Whether the responses are two classes, 0 or 1, and no shares."""
        return self.family.is_binary and bool(np.isin(self.y, (0.0, 1.0)).all())

    @property
    def deviation(self) -> Vector:
        """The standard deviation of y at its mean, up to a factor: 1 where y = eta + noise.

        The weights of shares are their numbers of trials.
        """
        if self.family.is_location:
            return np.ones_like(self.mean)
        variance = self.family.variance(self.family.link(self.mean), 1.0)
        if self.family.is_binary:
            variance = variance / np.maximum(self.weights, 1.0)
        return np.sqrt(np.maximum(variance, 1e-12))


HELD_OUT = "rows left out, each predicted without it"


def predictions_of(
    model: Any,
    X: Any,
    y: Any,
    caller: str,
    offset: Any = None,
    exposure: Any = None,
    sample_weight: Any = None,
) -> Predictions:
    """Return the rows that are given with their predictions, or those of a cross-validation.

    Examples
    --------
    >>> from horseshoe import HorseshoeRegressor, AdaptiveRegressor
    >>> x = np.arange(20.0)
    >>> found = predictions_of(AdaptiveRegressor(cv=5).fit(x[:, None], x + np.sin(x)), None, None, "plot")
    >>> found.y.shape, found.source
    ((20,), 'rows left out, each predicted without it')
    >>> predictions_of(HorseshoeRegressor().fit(x[:, None], x + np.sin(x)), None, None, "plot_residuals")
    Traceback (most recent call last):
    ValueError: plot_residuals needs X and y: HorseshoeRegressor has no predictions of rows that it has not \
seen, as an Adaptive one has
    """
    part = one_part(model, caller)
    classes = getattr(model, "classes_", None)
    if X is None and y is None:
        return _held_out(model, part, caller, classes)
    if X is None or y is None:
        raise ValueError(
            f"{caller} needs both X and y, or neither, for the rows left out by cross-validation"
        )
    extra = {name: value for name, value in (("offset", offset), ("exposure", exposure)) if value is not None}
    mean = np.asarray(part.predict(X, **extra))
    response = check_y(y, mean.size) if classes is None else _codes(y, mean.size, classes)
    weights = check_weights(sample_weight, mean.size)
    weights = np.ones_like(mean) if weights is None else weights
    return Predictions(response, mean, weights, part.family_, f"{mean.size:,} rows", classes)


def _held_out(model: Any, part: Any, caller: str, classes: Any) -> Predictions:
    if not hasattr(part, "left_out"):
        raise ValueError(
            f"{caller} needs X and y: {type(model).__name__} has no predictions of rows that it has not "
            "seen, as an Adaptive one has"
        )
    y, mean, weights = part.left_out()
    if not y.size:
        raise ValueError(f"{caller} has nothing to draw: {part.status_}")
    return Predictions(y, mean, weights, part.family_, HELD_OUT, classes)


def _codes(y: Any, n_rows: int, classes: Any) -> Vector:
    """Return 1 for the second class and 0 for the first."""
    labels = check_labels(y, n_rows).tolist()
    known = {label: float(code) for code, label in enumerate(classes.tolist())}
    for row, label in enumerate(labels):
        if label not in known:
            raise ValueError(f"y in row {row} is {label!r}, which is not among classes_: {list(known)}")
    return np.array([known[label] for label in labels])


def check_numbers(rows: Predictions, caller: str) -> None:
    """Refuse classes where a picture is for numbers."""
    if rows.classes is not None or rows.are_classes:
        raise ValueError(
            f"{caller} is for responses that are numbers, and these are classes: "
            "look at plot_calibration or plot_roc"
        )


def check_two_classes(rows: Predictions, caller: str) -> None:
    """Refuse numbers where a picture is for two classes."""
    if not rows.are_classes:
        raise ValueError(
            f"{caller} is for two classes, and these responses are numbers: look at plot_observed or "
            "plot_residuals"
        )
    if rows.y.min() == rows.y.max():
        raise ValueError(f"{caller} needs rows of both classes, and all of these are of one")


def held_out_interval(rows: Predictions, level: float) -> Matrix:
    """Return intervals of rows left out: around the prediction, as wide as the errors of the others were.

    The errors are in units of the standard deviation of y at its mean.

    Examples
    --------
    >>> from horseshoe.families import Gaussian
    >>> y = np.linspace(-1.0, 1.0, 21)
    >>> rows = Predictions(y, np.zeros(21), np.ones(21), Gaussian(), HELD_OUT)
    >>> held_out_interval(rows, 0.8)[0].round(2)
    array([-0.9,  0.9])
    """
    unit = rows.deviation
    errors = np.abs(rows.y - rows.mean) / unit
    order = np.argsort(errors, kind="stable")
    reached = np.cumsum(rows.weights[order])
    rank = np.searchsorted(reached, level * (reached[-1] + 1.0))
    reach = errors[order[min(int(rank), errors.size - 1)]] * unit
    low = 0.0 if rows.family.positive_only or rows.family.is_binary else -np.inf
    high = 1.0 if rows.family.is_binary else np.inf
    return np.asarray(np.clip(np.column_stack([rows.mean - reach, rows.mean + reach]), low, high))


def thin_out(values: Vector, most: int = MOST_POINTS) -> Any:
    """Return the places of at most so many values, evenly over their range of ranks.

    Examples
    --------
    >>> thin_out(np.array([3.0, 1.0, 2.0]), most=2)
    array([0, 1])
    """
    if values.size <= most:
        return np.arange(values.size)
    order = np.argsort(values, kind="stable")
    return np.sort(order[np.linspace(0, values.size - 1, most).round().astype(int)])

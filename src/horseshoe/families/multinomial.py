"""Several classes at once: softmax regression."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from horseshoe._types import Matrix, Status, Vector
from horseshoe.families.base import WEIGHT_FLOOR, Family, Working
from horseshoe.families.binary import polya_gamma_mean


@dataclass(frozen=True)
class Multinomial(Family):
    """q classes: class k has the probability exp(eta_k) / sum_l exp(eta_l).

    y and eta have the shape (n, q); y is 1 in the column of the class of a row, otherwise 0.

    Parameters
    ----------
    augmentation : {"polya_gamma", "irls"}
        The weights of each class against all others, as in `horseshoe.families.Binomial`.

    Examples
    --------
    >>> Multinomial().mean(np.array([[0.0, 0.0, np.log(2.0)]]))
    array([[0.25, 0.25, 0.5 ]])
    """

    augmentation: str = "polya_gamma"

    def mean(self, eta: Matrix) -> Matrix:
        """Return the probability of each class."""
        raised = np.exp(eta - eta.max(axis=1, keepdims=True))
        return np.asarray(raised / raised.sum(axis=1, keepdims=True))

    def neg_log_likelihood(self, y: Matrix, eta: Matrix, sigma2: float) -> Vector:
        """Return -log p(y_i | eta_i) for each row: never below 0."""
        away = eta - np.einsum("ij,ij->i", eta, y)[:, None]
        with np.errstate(over="ignore"):
            rows = np.log1p((np.exp(np.minimum(away, 700.0)) * (1.0 - y)).sum(axis=1))
        far = away.max(axis=1)
        return np.asarray(np.where(far > 600.0, far, rows))

    def working(self, y: Matrix, eta: Matrix, sigma2: float) -> Working:
        """Return one weight a row: its mean information over the q - 1 directions; targets are none."""
        share = self.mean(eta)
        if self.augmentation == "irls":
            information = share * (1.0 - share)
        else:
            with np.errstate(divide="ignore"):
                odds = np.log(share) - np.log1p(-np.minimum(share, 1.0 - 1e-16))
            information = polya_gamma_mean(odds)
        weights = np.maximum(information.sum(axis=1) / (eta.shape[1] - 1), WEIGHT_FLOOR)
        return Working(weights, np.zeros(len(weights)))

    def intercept_alone(self, y: Matrix, weights: Vector, offset: Any) -> Any:
        """Return the intercepts of the null model: the log shares of the classes, which add up to zero."""
        return center_over_classes(np.log(weights @ y))

    def remark(self, y: Matrix, eta: Matrix) -> Status | None:
        """Return that the classes are separated, if every row has the largest eta for its own."""
        own, others = np.einsum("ij,ij->i", eta, y), np.where(y > 0.0, -np.inf, eta).max(axis=1)
        return Status.SEPARATED if bool((own > others).all()) else None


def center_over_classes(values: Any) -> Any:
    """Return values less their mean over the classes, the last axis.

    Examples
    --------
    >>> center_over_classes(np.array([1.0, 2.0, 6.0]))
    array([-2., -1.,  3.])
    """
    return values - values.mean(axis=-1, keepdims=True)

"""What an estimator selects when there is nothing to find: the same fit to shuffled data."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from horseshoe._checks import check_jobs, check_random_state
from horseshoe._types import Vector
from horseshoe.model.final_status import evidence

# Evidence is clear so many standard deviations above that of the shuffled fits.
CLEAR = 3.0


@dataclass(frozen=True)
class ChanceSelection:
    """What the fit selects, beside what it selects when the rows of X are shuffled.

    Attributes
    ----------
    n_selected : int
        The columns that the fit to the data selects.
    shuffled : int array of shape (n_permutations,)
        The columns that each fit to shuffled data selects.
    evidence : float
        By how much the extended Bayesian information criterion of some of the selected columns is better than
        that of none; 0 if it never is.
    shuffled_evidence : array of shape (n_permutations,)
        The same of each fit to shuffled data.

    Examples
    --------
    >>> found = ChanceSelection(7, np.array([5, 8, 6]), 0.0, np.zeros(3))
    >>> found.is_noise
    True
    >>> print(found)
    7 columns selected, 6.3 on average (at most 8) from shuffled data: no more than noise would give
    """

    n_selected: int
    shuffled: NDArray[np.intp]
    evidence: float
    shuffled_evidence: Vector

    @property
    def is_noise(self) -> bool:
        """Whether the selection is no clearer than those from shuffled data."""
        chance = self.shuffled_evidence
        return not self.evidence > max(0.0, float(chance.mean() + CLEAR * chance.std()))

    def __str__(self) -> str:
        average, most = self.shuffled.mean(), self.shuffled.max()
        verdict = "no more than noise would give" if self.is_noise else "clearly more than noise would give"
        return (
            f"{self.n_selected} columns selected, {average:.1f} on average (at most {most}) from shuffled "
            f"data: {verdict}"
        )


def compare_with_shuffled(
    model: Any,
    X: Any,
    y: Any,
    n_permutations: int,
    n_jobs: int | None,
    random_state: Any,
    fit_params: dict[str, Any],
) -> ChanceSelection:
    """Return what a copy of the model selects from the data, and from X with its rows shuffled.

    `horseshoe.HorseshoeRegressor.chance_selection` says more.
    """
    from joblib import Parallel, delayed  # imported here: it comes with scikit-learn, and takes time

    whole = isinstance(n_permutations, int | np.integer) and not isinstance(n_permutations, bool)
    if not whole or n_permutations < 1:
        raise ValueError(f"n_permutations={n_permutations!r} must be a whole number of at least 1")
    first = _selection(model, X, y, None, fit_params)
    rng, n = check_random_state(random_state), first[2]
    orders = [rng.permutation(n) for _ in range(n_permutations)]
    work = (delayed(_selection)(model, X, y, order, fit_params) for order in orders)
    others = Parallel(n_jobs=check_jobs(n_jobs))(work)
    return ChanceSelection(
        first[0], np.array([one[0] for one in others]), first[1], np.array([one[1] for one in others])
    )


def _selection(model: Any, X: Any, y: Any, order: Any, fit_params: dict[str, Any]) -> tuple[int, float, int]:
    """Return the number of columns selected, the evidence for them, and the number of rows of X."""
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.utils import _safe_indexing

    fresh = type(model)(**{**model.get_params(deep=False), "callback": None, "warm_start": False})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        fresh.fit(X if order is None else _safe_indexing(X, order), y, **fit_params)
    found = max(evidence(one._training.spec, one._training.rows, one._fitted) for one in fresh._parts)
    return int(fresh.get_support().sum()), found, int(X.shape[0]) if hasattr(X, "shape") else len(X)

"""Survival models: risks, survival functions, hazards, concordance and partial likelihood."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from horseshoe._checks import check_choice
from horseshoe._types import MatrixLike, PerRow, Vector, VectorLike
from horseshoe.data.offsets import check_known
from horseshoe.data.rows import Rows, known_rows
from horseshoe.data.view import View
from horseshoe.estimators.base import Estimator, check_new
from horseshoe.estimators.baseline_hazard import Baseline, StepFunction, baseline, hazards, on_grid
from horseshoe.estimators.concordance import concordance, concordance_of
from horseshoe.estimators.convergence import weigh
from horseshoe.estimators.event_times import check_lifetimes, check_strata
from horseshoe.families.cox import Cox
from horseshoe.families.risk import Lifetimes
from horseshoe.threads import one_thread

TIES = ("efron", "breslow")


class SurvivalData(NamedTuple):
    """Rows that count, whose y are their numbers among those ``seen``; ``strata`` are their labels if any."""

    rows: Rows
    family: Cox
    seen: Lifetimes
    strata: Any


@dataclass(eq=False, repr=False, kw_only=True)
class SurvivalModel(Estimator):
    """Risks and functions of time, for a linear predictor with a baseline hazard, whoever found it.

    Examples
    --------
    >>> from horseshoe import HorseshoeSurvival
    >>> x = np.arange(20.0)
    >>> model = HorseshoeSurvival().fit(np.cos(x)[:, None], np.column_stack([x + 1.0, x % 3 > 0]))
    >>> model.predict_survival_function([[0.0]])[0]([0.0, 10.0]).round(2)
    array([1.  , 0.67])
    >>> HorseshoeSurvival().fit(-x[:, None], x + np.cos(x)).score(-x[:, None], x)
    1.0
    """

    ties: str = "efron"
    family = Cox()
    fit_intercept = False

    def _check_data(
        self, columns: View, y: Any, sample_weight: Any, offset: Any, entry: Any, strata: Any
    ) -> SurvivalData:
        """Return the rows that count."""
        n, ties = columns.shape[0], check_choice("ties", self.ties, TIES)
        weights = weigh(sample_weight, n, self.weight_type)
        seen, labels = check_lifetimes(y, n, entry, strata, weights, self.weight_type == "count")
        family = Cox(ties, seen)
        known = check_known(offset, None, n, family)
        family.check_offset(np.asarray(known))
        rows = known_rows(columns, family.encode(y).values, weights, known)
        return SurvivalData(rows, family, seen, labels)

    def linear_predictor(self, X: MatrixLike, offset: PerRow = None) -> Vector:
        """Return the linear predictor: the same as `predict`.

        Parameters
        ----------
        X, offset
            As in `predict`.

        Returns
        -------
        array of shape (m,)
        """
        return self._eta(check_new(self, X), offset)

    @one_thread()
    def score(
        self,
        X: MatrixLike,
        y: VectorLike,
        sample_weight: PerRow = None,
        offset: PerRow = None,
        strata: PerRow = None,
    ) -> float:
        """Return Harrell's concordance: 1 is perfect, 0.5 is chance.

        Of two rows of which one is known to have its event first, how often that has the higher risk; with
        strata, of two rows of the same.

        Parameters
        ----------
        X, y, sample_weight, offset, strata
            As in `fit`.

        Returns
        -------
        float
        """
        matrix = check_new(self, X)
        weights = weigh(sample_weight, matrix.shape[0], self.weight_type)
        seen, _ = check_lifetimes(y, matrix.shape[0], strata=strata, weights=weights)
        risk = self._eta(matrix, offset)
        return concordance(seen.time, seen.event, risk, seen.weights, seen.stratum)

    @one_thread()
    def log_likelihood(
        self,
        X: MatrixLike,
        y: VectorLike,
        sample_weight: PerRow = None,
        offset: PerRow = None,
        entry: PerRow = None,
        strata: PerRow = None,
    ) -> float:
        """Return the partial log-likelihood of these rows among themselves, at the fitted coefficients.

        Parameters
        ----------
        X, y, sample_weight, offset, entry, strata
            As in `fit`.

        Returns
        -------
        float
        """
        matrix = check_new(self, X)
        rows, family, *_ = self._check_data(matrix, y, sample_weight, offset, entry, strata)
        eta = self._fitted.linear_predictor(rows.columns) + rows.offset
        return -float(rows.counts @ family.neg_log_likelihood(rows.y, eta, 1.0))

    def predict_survival_function(
        self, X: MatrixLike, return_array: bool = False, offset: PerRow = None, strata: PerRow = None
    ) -> Any:
        """Predict the chance to have no event up to each time: exp(-cumulative hazard).

        Parameters
        ----------
        X : array-like of shape (m, p)
            New rows.
        return_array : bool, default=False
            Whether to return the values at ``unique_times_`` rather than functions.
        offset : float or array-like of shape (m,), optional
            As in `fit`.
        strata : array-like of shape (m,), optional
            The stratum of each row; needed if the model was fitted with strata.

        Returns
        -------
        array of m step functions, which are called with times; or an array of shape (m, n_times)
        """
        rises = self._hazards(X, offset, strata)
        return self._as_asked([StepFunction(one.x, np.exp(-one.y), 1.0) for one in rises], return_array)

    def predict_cumulative_hazard_function(
        self, X: MatrixLike, return_array: bool = False, offset: PerRow = None, strata: PerRow = None
    ) -> Any:
        """Predict the cumulative hazard: Breslow's estimate of the baseline, times exp(X b + offset).

        With Efron's ties the baseline has his correction, as in R; scikit-survival leaves it out.

        Parameters
        ----------
        X, return_array, offset, strata
            As in `predict_survival_function`.

        Returns
        -------
        array of m step functions, which are called with times; or an array of shape (m, n_times)
        """
        return self._as_asked(self._hazards(X, offset, strata), return_array)

    def _keep_hazard(self, data: SurvivalData, risk: Vector) -> None:
        """Keep the baseline hazard of the rows, and the concordance of their ``risk``."""
        rows, family = data.rows, data.family
        eta = self._fitted.linear_predictor(rows.columns) + rows.offset
        ordered = concordance_of(data.seen.take(rows.y.astype(int)), risk)
        self._keep_baseline(replace(baseline(family, rows.y, eta), concordance=ordered), data.strata)

    def _keep_baseline(self, found: Baseline, strata: Any) -> None:
        self._baseline = found
        self.unique_times_ = np.unique(found.times)
        self.n_events_ = found.n_events
        if strata is not None:
            self.strata_ = strata

    def _eta(self, matrix: View, offset: Any) -> Vector:
        known = check_known(offset, None, matrix.shape[0], self.family_)
        return np.asarray(self._fitted.linear_predictor(matrix) + known)

    def _hazards(self, X: Any, offset: Any, strata: Any) -> list[StepFunction]:
        """Return the cumulative hazard of each row."""
        matrix = check_new(self, X)
        eta = self._eta(matrix, offset)
        known = vars(self).get("strata_")
        return hazards(self._baseline, eta, check_strata(strata, known, matrix.shape[0]))

    def _as_asked(self, found: list[StepFunction], return_array: bool) -> Any:
        if return_array:
            return on_grid(found, self.unique_times_)
        out = np.empty(len(found), dtype=object)
        out[:] = found
        return out

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags

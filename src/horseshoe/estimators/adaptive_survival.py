"""The survival model that adapts to the unknown sparsity."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from horseshoe._types import FilePath, MatrixLike, PerRow, Vector, VectorLike
from horseshoe.average.folds import check_events
from horseshoe.data.validation import check_x
from horseshoe.estimators.adaptive import Adaptive
from horseshoe.estimators.base import check_new, read_header
from horseshoe.estimators.event_times import refuse_no_events
from horseshoe.estimators.survival_curves import SurvivalModel
from horseshoe.families.cox import Cox
from horseshoe.report.statistics import FitStatistics
from horseshoe.store.checkpoint import open_checkpoint
from horseshoe.threads import one_thread


@dataclass(eq=False, repr=False, kw_only=True)
class AdaptiveSurvival(Adaptive, SurvivalModel):
    """Proportional hazards that adapt to the unknown sparsity: `AdaptiveRegressor` for survival.

    Several methods are fitted to the data without each fold, weighed by what the rows left out add to Cox's
    partial likelihood (Verweij and van Houwelingen 1993), and averaged. Of the average it gives the fewest
    columns that say the same, how sure each column is in, hazards and survival functions.

    Parameters
    ----------
    components, selection, n_jobs, callback, random_state, feature_groups, unpenalized, prior_scale
        As in `AdaptiveRegressor`; the mean is a model without any column.
    cv : int, splitter or pairs of rows, default=10
        As in `AdaptiveRegressor`; folds spread the events evenly over time. A splitter is given whether
        each row has its event: ``StratifiedKFold`` spreads these.
    ties, standardize, weight_type
        As in `HorseshoeSurvival`.

    Attributes
    ----------
    coef_, sparse_coef_, support_, inclusion_, components_, component_weights_, path_, calibration_slope_, \
scale_, status_
        As in `AdaptiveRegressor`; coefficients are logarithms of hazard ratios. ``intercept_`` is 0.
    cv_error_ : float
        Twice what an event that was left out costs in the partial likelihood, on average.
    cv_prediction_ : array of shape (n,)
        The risk of each row by fits that have not seen it.
    unique_times_, n_events_, strata_
        As in `HorseshoeSurvival`.
    n_features_in_ : int
    feature_names_in_ : array of str
        Only when X has column names.

    Examples
    --------
    >>> import numpy as np
    >>> from horseshoe import AdaptiveSurvival
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((200, 50))
    >>> time, censored = rng.exponential(np.exp(-X[:, 3])), rng.exponential(2.0, 200)
    >>> y = np.column_stack([np.minimum(time, censored), time <= censored])
    >>> model = AdaptiveSurvival().fit(X, y)
    >>> np.flatnonzero(model.support_), model.coef_[3].round(1)
    (array([3]), np.float64(1.2))
    """

    def fit(
        self,
        X: MatrixLike,
        y: VectorLike,
        sample_weight: PerRow = None,
        offset: PerRow = None,
        entry: PerRow = None,
        strata: PerRow = None,
        groups: PerRow = None,
        checkpoint: FilePath | None = None,
    ) -> AdaptiveSurvival:
        """Fit every component to every training set, and average.

        Parameters
        ----------
        X, y, sample_weight, offset, entry, strata, checkpoint
            As in `HorseshoeSurvival.fit`; what a checkpoint keeps are the components that are done.
        groups : array-like of shape (n,), optional
            For a splitter that keeps groups of rows together.

        Returns
        -------
        AdaptiveSurvival
            Itself.
        """
        columns = check_x(X)
        data = self._check_data(columns, y, sample_weight, offset, entry, strata)
        refuse_no_events(data.seen, data.strata)
        rows, family, happened = data.rows, data.family, data.seen.event
        events = happened[rows.y.astype(int)]
        # Folds spread the score of each row at no effect: how much earlier than expected its event came.
        scores = rows._replace(y=family.coupling(rows.y, rows.offset).slope / rows.counts)
        folds = self._folds(
            *(scores, X, happened.astype(int), groups), check=lambda found: check_events(found, events)
        )
        with one_thread(), open_checkpoint(checkpoint) as section:
            fitted = self._average(rows, family, folds, section)
        self._keep_fit(read_header(X, columns), replace(fitted, family=Cox(self.ties)))
        self._keep_hazard(data, fitted.record.prediction)
        return self

    def left_out(self) -> Any:
        """Refuse: rows have times and events, which no risk predicts; the risks are in ``cv_prediction_``.

        Returns
        -------
        Nothing
        """
        raise ValueError(
            "a risk is compared with other risks, not with times: cv_prediction_ has those of the rows by "
            "fits that have not seen them"
        )

    def predict(self, X: MatrixLike, offset: PerRow = None) -> Vector:
        """Predict the risk by the average: the linear predictor X b + offset, the log of a hazard ratio.

        Parameters
        ----------
        X : array-like of shape (m, p)
            New rows.
        offset : float or array-like of shape (m,), optional
            As in `fit`.

        Returns
        -------
        array of shape (m,)
        """
        return self._eta(check_new(self, X), offset)

    def _statistics(self) -> FitStatistics:
        found = super()._statistics()
        return replace(found, n_events=self.n_events_, cv_concordance=self._baseline.concordance)

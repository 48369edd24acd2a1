"""The survival model that adapts to the unknown sparsity."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import RegressorMixin

from horseshoe._types import Vector
from horseshoe.average.folds import check_events
from horseshoe.average.sets import Fold
from horseshoe.data.validation import check_x
from horseshoe.estimators.average import Averaged
from horseshoe.estimators.baseline import baseline
from horseshoe.estimators.concordance import concordance_of
from horseshoe.estimators.described import Described
from horseshoe.estimators.lifetimes import refuse_no_events
from horseshoe.estimators.risks import Risks
from horseshoe.estimators.saving import Saved
from horseshoe.estimators.scored import Scored
from horseshoe.estimators.selector import check_new, remember_columns
from horseshoe.families.cox import Cox
from horseshoe.model.spec import Prepared
from horseshoe.store.checkpoint import open_checkpoint
from horseshoe.threads import one_thread


class AdaptiveSurvival(  # type: ignore[misc]
    Risks, Saved, Scored, Averaged, RegressorMixin, Described
):
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
    >>> from horseshoe import AdaptiveSurvival
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((200, 50))
    >>> time, censored = rng.exponential(np.exp(-X[:, 3])), rng.exponential(2.0, 200)
    >>> y = np.column_stack([np.minimum(time, censored), time <= censored])
    >>> model = AdaptiveSurvival().fit(X, y)
    >>> np.flatnonzero(model.support_), model.coef_[3].round(1)
    (array([3]), np.float64(1.2))
    """

    family = Cox()
    fit_intercept = False

    def __init__(
        self,
        components: Any = "default",
        cv: Any = 10,
        selection: str = "1se",
        ties: str = "efron",
        standardize: bool = True,
        weight_type: str = "count",
        n_jobs: int | None = None,
        callback: Any = None,
        random_state: int | np.random.Generator | np.random.RandomState | None = None,
        feature_groups: Any = None,
        unpenalized: Any = None,
        prior_scale: Any = None,
    ) -> None:
        self.components = components
        self.cv = cv
        self.selection = selection
        self.ties = ties
        self.standardize = standardize
        self.weight_type = weight_type
        self.n_jobs = n_jobs
        self.callback = callback
        self.random_state = random_state
        self.feature_groups = feature_groups
        self.unpenalized = unpenalized
        self.prior_scale = prior_scale

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        offset: Any = None,
        entry: Any = None,
        strata: Any = None,
        groups: Any = None,
        checkpoint: Any = None,
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
        rows, family, labels = self._rows(columns, y, sample_weight, offset, entry, strata)
        refuse_no_events(family.seen, labels)
        beyond = rows._replace(y=family.coupling(rows.y, rows.offset).slope / rows.counts)
        folds = self._folds(beyond, X, family.seen.event.astype(int), groups)
        events = family.seen.event[rows.y.astype(int)]

        def make(prepared: Prepared) -> tuple[Fold, ...]:
            return check_events(folds(prepared) if callable(folds) else folds, events)

        with one_thread(), open_checkpoint(checkpoint) as section:
            fitted = self._adapt(rows, family, make, section)
        remember_columns(self, X, columns.shape[1])
        self._store(replace(fitted, family=Cox(self.ties)))
        eta = self._fitted.linear_predictor(rows.columns) + rows.offset
        ordered = concordance_of(family.seen.take(rows.y.astype(int)), fitted.record.prediction)
        self._keep_baseline(replace(baseline(family, rows.y, eta), concordance=ordered), labels)
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

    def predict(self, X: Any, offset: Any = None) -> Vector:
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
        return self._eta(check_new(self, X), offset, None)

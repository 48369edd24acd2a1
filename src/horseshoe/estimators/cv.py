"""The regressor that adapts to the unknown sparsity: several methods, weighed by cross-validation."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import RegressorMixin

from horseshoe._checks import check_choice, check_level
from horseshoe._types import Matrix, Vector
from horseshoe.average.fit import fit_averages
from horseshoe.average.folds import check_classes
from horseshoe.average.ordinal_covariates import has_lone_levels
from horseshoe.average.sets import Fold
from horseshoe.data.offsets import check_known
from horseshoe.data.responses import Responses, check_responses, leading, refuse_several_responses
from horseshoe.data.rows import Rows, known_rows
from horseshoe.data.validation import check_x
from horseshoe.estimators.average import Averaged
from horseshoe.estimators.cv_streamed import StreamedAverage
from horseshoe.estimators.described import Described
from horseshoe.estimators.ending import first_remark, weigh
from horseshoe.estimators.levels import LevelsMixin
from horseshoe.estimators.outputs import by_output, gather
from horseshoe.estimators.response import learned
from horseshoe.estimators.saving import Saved
from horseshoe.estimators.scored import Scored
from horseshoe.estimators.selector import check_new, hand_down_names, remember_columns
from horseshoe.families import Family, Ordered, resolve_family
from horseshoe.model.spec import Prepared
from horseshoe.store.checkpoint import CheckpointSection, open_checkpoint
from horseshoe.threads import one_thread

OF_EACH = (
    *("coef_", "sparse_coef_", "intercept_", "sparse_intercept_", "support_", "inclusion_"),
    *("cv_error_", "calibration_slope_", "sigma2_"),
)
OF_ALL = ("family_", "scale_")
"""What several responses have each, and what they share."""


class AdaptiveRegressor(StreamedAverage, Saved, LevelsMixin, Scored, Averaged, RegressorMixin, Described):
    """Regression that adapts to the unknown sparsity: what to reach for when in doubt.

    Sometimes ridge predicts best, sometimes a sparse mode, sometimes nothing beats the mean. This fits
    several methods to the data without each fold, weighs them by how well they predict what they have not
    seen, and averages. Of the average it gives the fewest columns that say the same, how sure each column
    is in, and intervals that cover without the model being true.

    Parameters
    ----------
    family : str or Family, default="gaussian"
        As in `HorseshoeRegressor`.
    components : "default" or list of str, default="default"
        What is averaged, of "null" (the intercept), "ridge", "elastic_net" (of one Gaussian response
        without groups), "horseshoe" (a posterior mode), "mixture_horseshoe" (a normal mixture prior,
        started at that mode) and "mixture_forward" (one that is started at forward selection, or at the
        lasso where columns are very many). By default all of them, but "elastic_net" stands in for
        "horseshoe" where it can, and both are left out of Gaussian rows that are many.
    cv : int, splitter or pairs of rows, default=10
        The number of folds, in which the response is spread evenly; a splitter of scikit-learn, also for
        groups and for time series; or pairs of rows to learn from and rows to predict.
    selection : {"1se", "paired"}, default="1se"
        How close ``sparse_coef_`` must be to the average: "1se" within one standard error of the
        cross-validated error, which selects cleanly; "paired" within four times the error of a coefficient,
        which has more columns and predicts better.
    fit_intercept, standardize : bool, default=True
        As in `HorseshoeRegressor`.
    weight_type : {"count", "precision"}, default="count"
        As in `HorseshoeRegressor`.
    n_jobs : int, optional
        Threads that share the training sets; the answer does not depend on it.
    callback : callable, optional
        Called with a `Progress` after each component: which, how many of how many, and the time.
    random_state : int, numpy.random.Generator or RandomState, optional
        Seed of the folds. Without one the same data have the same folds.
    feature_groups : sequence of labels, or dict of lists of columns, optional
        Columns that belong together, as in `HorseshoeRegressor`; those of rows go to `fit`. The horseshoe
        mode has one local scale a group, the sparse answer takes groups as a whole, and so does
        ``inclusion_``.
    unpenalized : list of columns, optional
        Never shrunk and never zero, as in `HorseshoeRegressor`: the components explain what they leave. They
        are fitted first, but for ordered levels, where every training set fits them by itself.
    prior_scale : array-like of shape (n_features,) or dict of numbers by column, optional
        As in `HorseshoeRegressor`, for every component.

    Attributes
    ----------
    coef_ : array of shape (n_features,)
        The average over components and folds, in the user's units; hardly ever zero.
    intercept_ : float
    sparse_coef_ : array of shape (n_features,)
        The fewest columns that say the same; exact zeros.
    sparse_intercept_ : float
    support_ : bool array of shape (n_features,)
        Which columns these are; `transform` keeps them.
    inclusion_ : array of shape (n_features,)
        How sure each column is in, between 0 and 1.
    components_ : tuple of ComponentRow
        Name, description, cross-validated error and weight of each component.
    component_weights_ : array
        Their weights.
    cv_error_ : float
        The cross-validated mean squared error of the average in the units of y; for families without a noise
        variance twice the mean of minus the log-likelihood.
    path_ : tuple of (column, distance)
        The columns of the sparse answer in the order in which they entered, with the mean squared distance to
        the average that was left after each, on the scale of the linear predictor.
    calibration_slope_ : float
        What the average was multiplied by at last: 1 where it predicts well, 0 where there is nothing.
    sigma2_ : float
    scale_ : array of shape (n_features,)
        The standard deviations of the columns; zero where a column is constant.
    cv_prediction_ : array of shape (n,)
        What is predicted of each row of the data by fits that have not seen it, on the scale of y; not a
        number where a row was never left out. A model that was loaded does not have it.
    family_ : Family
    status_ : Status
    estimators_ : list of AdaptiveRegressor
        Only of several responses, whose components share columns and weights (docs/several.md). Then what
        stands above is of shape (n_outputs, ...), and ``support_`` has the columns that any of them has.
    outputs_ : array of str
        Only of several responses: the names of the columns of y, or y0, y1, ...
    levels_, thresholds_ : arrays
        Of ordered levels: the levels, and the thresholds between them that go with the average.
    n_features_in_ : int
    feature_names_in_ : array of str
        Only when X has column names.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from horseshoe import AdaptiveRegressor
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
    >>> model = AdaptiveRegressor().fit(X, y)
    >>> model.get_feature_names_out().tolist()
    ['bmi', 'bp', 's5']
    """

    def __init__(
        self,
        family: str | Family = "gaussian",
        components: Any = "default",
        cv: Any = 10,
        selection: str = "1se",
        fit_intercept: bool = True,
        standardize: bool = True,
        weight_type: str = "count",
        n_jobs: int | None = None,
        callback: Any = None,
        random_state: int | np.random.Generator | np.random.RandomState | None = None,
        feature_groups: Any = None,
        unpenalized: Any = None,
        prior_scale: Any = None,
    ) -> None:
        self.family = family
        self.components = components
        self.cv = cv
        self.selection = selection
        self.fit_intercept = fit_intercept
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
        exposure: Any = None,
        groups: Any = None,
        checkpoint: Any = None,
    ) -> AdaptiveRegressor:
        """Fit every component to every training set, and average.

        Parameters
        ----------
        X, y, sample_weight, offset, exposure, checkpoint
            As in `HorseshoeRegressor.fit`; what a checkpoint keeps are the components that are done.
        groups : array-like of shape (n,), optional
            For a splitter that keeps groups of rows together.

        Returns
        -------
        AdaptiveRegressor
            Itself.
        """
        with one_thread(), open_checkpoint(checkpoint) as section:
            self._fit(X, y, sample_weight, offset, exposure, groups, section)
        return self

    def _fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any,
        offset: Any,
        exposure: Any,
        groups: Any,
        checkpoint: CheckpointSection | None,
    ) -> None:
        family = resolve_family(self.family)
        columns = check_x(X)
        n, p = columns.shape
        several = check_responses(y, n)
        if several is not None and not family.constant_weights:
            refuse_several_responses(y, n, f"the family {type(family).__name__}", family.several)
        weights = weigh(sample_weight, n, self.weight_type)
        if several is None:
            family, encoded = learned(family, y, n, weights)
            response = encoded.values
        else:
            response = family.encode(several.values[:, 0]).values
        known = check_known(offset, exposure, n, family)
        family.check_offset(np.asarray(known))
        rows = known_rows(columns, response, weights, known)
        if several is not None:
            self._fit_outputs(X, rows, family, several, groups, checkpoint)
            return
        family = family.adapt_to(rows.y, rows.counts, rows.offset)
        explained = rows._replace(y=rows.y - rows.offset) if family.is_location else rows
        if isinstance(family, Ordered):  # of numbers that stand for levels only the order matters
            explained = rows._replace(y=np.searchsorted(family.points_, rows.y).astype(float))
        folds = _with_all_levels(self._folds(explained, X, response, groups), family, explained.y)
        fitted = self._adapt(rows, family, folds, checkpoint)
        self.__dict__.pop("_sums", None)
        self._rows = rows
        remember_columns(self, X, p)
        self._store(fitted)

    def _fit_outputs(
        self,
        X: Any,
        rows: Rows,
        family: Family,
        several: Responses,
        groups: Any,
        checkpoint: CheckpointSection | None,
    ) -> None:
        """Average for all responses together, on the same folds."""
        values = several.values if rows.number is None else several.values[rows.number]
        common = leading(values - rows.offset[:, None], rows.counts)
        folds = self._folds(rows._replace(y=common), X, several.values, groups)
        each = [rows._replace(y=one.copy()) for one in values.T]
        fitted = fit_averages(each, family, folds, checkpoint=checkpoint, **self._options(rows))
        remember_columns(self, X, rows.columns.shape[1])
        parts = [self._part() for _ in fitted]
        for part, one in zip(parts, fitted, strict=True):
            part.n_features_in_ = self.n_features_in_
            part._store(one)
        self._store_outputs(parts, several.names)

    def _part(self) -> AdaptiveRegressor:
        """Return a regression for one response of several that is to be given its fit."""
        return AdaptiveRegressor(**self.get_params(deep=False))

    def _store_outputs(self, parts: list[AdaptiveRegressor], names: tuple[str, ...]) -> None:
        self.__dict__.pop("_fitted", None)
        self.estimators_, self.outputs_ = parts, np.array(names, dtype=object)
        hand_down_names(self, parts)
        gather(self, OF_EACH, OF_ALL)
        for name in ("components_", "component_weights_", "path_"):
            setattr(self, name, tuple(getattr(part, name) for part in parts))
        self.support_ = np.asarray(self.support_.any(axis=0))
        self.status_ = first_remark([part.status_ for part in parts])
        self.__dict__.pop("cv_prediction_", None)
        if all(hasattr(part, "cv_prediction_") for part in parts):  # models from files hold no rows
            self.cv_prediction_ = np.column_stack([part.cv_prediction_ for part in parts])

    @by_output(axis=1)
    def predict(self, X: Any, offset: Any = None, exposure: Any = None) -> Vector:
        """Predict the response by the average: its mean, on the scale of y; of levels the median level.

        Parameters
        ----------
        X : array-like of shape (m, p)
            New rows.
        offset, exposure : float or array-like of shape (m,), optional
            As in `fit`.

        Returns
        -------
        array of shape (m,)
        """
        matrix = check_new(self, X)
        eta = self._eta(matrix, offset, exposure)
        return np.asarray(self.family_.named(self.family_.predicted(eta)))

    @by_output(axis=1)
    def predict_interval(
        self, X: Any, level: float = 0.95, offset: Any = None, method: str = "cv+", exposure: Any = None
    ) -> Matrix:
        """Return intervals of the responses of new rows.

        Parameters
        ----------
        X, offset, exposure
            As in `predict`.
        level : float, default=0.95
            The coverage: about 1 - alpha in practice. What is proved of CV+ is 1 - 2 alpha - sqrt(2/n), if
            rows are exchangeable, each was left out once, and fits have not seen the rows they leave out; the
            weights of the components and the slope have (docs/adaptive.md).
        method : {"cv+"}, default="cv+"
            The intervals of Barber, Candes, Ramdas and Tibshirani (2021), from the fold fits.

        Returns
        -------
        array of shape (m, 2)
        """
        check_choice("method", method, ("cv+",))
        matrix = check_new(self, X)
        known = check_known(offset, exposure, matrix.shape[0], self.family_)
        found = self._fitted.predict_interval(matrix, known, check_level(level))
        return np.asarray(self.family_.named(found))


def _with_all_levels(folds: Any, family: Family, codes: Vector) -> Any:
    """Return folds, or what makes them, each of which learns of every ordered level.

    Where most rows have a level of their own, none does.
    """
    if not isinstance(family, Ordered) or has_lone_levels(family, codes.size):
        return folds
    levels = family.levels_

    def make(prepared: Prepared) -> tuple[Fold, ...]:
        return check_classes(folds(prepared) if callable(folds) else folds, codes, levels)

    return make

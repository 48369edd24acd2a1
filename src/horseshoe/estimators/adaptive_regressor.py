"""The regressor that adapts to the unknown sparsity: several methods, weighted by cross-validation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from horseshoe._checks import check_choice, check_level, check_random_state
from horseshoe._types import FilePath, Matrix, MatrixLike, PerRow, Vector, VectorLike
from horseshoe.average.fit import fit_averages
from horseshoe.average.folds import check_classes
from horseshoe.average.ordinal_covariates import has_lone_levels
from horseshoe.data.compressed import folded
from horseshoe.data.offsets import check_known
from horseshoe.data.responses import leading
from horseshoe.estimators.adaptive import Adaptive, Folds
from horseshoe.estimators.base import Header, by_part, check_new, read_header
from horseshoe.estimators.checked_data import RegressionData, check_regression
from horseshoe.estimators.partial_fit import FoldSums
from horseshoe.estimators.regression import Regression
from horseshoe.estimators.training import Training
from horseshoe.families import Ordered, resolve_family
from horseshoe.store.checkpoint import CheckpointSection, open_checkpoint
from horseshoe.threads import one_thread


@dataclass(eq=False, repr=False, kw_only=True)
class AdaptiveRegressor(Adaptive, Regression):
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

    fit_intercept: bool = True

    def fit(
        self,
        X: MatrixLike,
        y: VectorLike,
        sample_weight: PerRow = None,
        offset: PerRow = None,
        exposure: PerRow = None,
        groups: PerRow = None,
        checkpoint: FilePath | None = None,
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
            columns, data = check_regression(
                X, y, self.family, self.weight_type, sample_weight, offset, exposure
            )
            header, rows, family = read_header(X, columns), data.rows, data.family
            if data.outputs:
                self._fit_outputs(X, header, data, groups, section)
                return self
            explained = rows._replace(y=rows.y - rows.offset) if family.is_location else rows
            check = None
            if isinstance(family, Ordered):  # of numbers that stand for levels only the order matters
                codes, levels = np.searchsorted(family.points_, rows.y).astype(float), family.levels_
                explained = rows._replace(y=codes)
                if not has_lone_levels(family, codes.size):  # else no fold can learn of every level

                    def check(folds: Folds) -> Folds:
                        return check_classes(folds, codes, levels)

            folds = self._folds(explained, X, data.given, groups, check=check)
            fitted = self._average(rows, family, folds, section)
            self._keep_fit(header, fitted, Training(rows))
        return self

    def _fit_outputs(
        self, X: Any, header: Header, data: RegressionData, groups: Any, checkpoint: CheckpointSection | None
    ) -> None:
        """Average for all responses together, on the same folds."""
        rows, each = data.rows, data.each
        values = np.column_stack([one.y for one in each])
        common = leading(values - rows.offset[:, None], rows.counts)
        folds = self._folds(rows._replace(y=common), X, data.given, groups)
        found = fit_averages(each, data.family, folds, checkpoint=checkpoint, **self._options(rows))
        parts = [self._part()._keep_fit(header, one) for one in found]
        self._keep_parts(header, parts, outputs_=np.array(data.outputs, dtype=object))

    def _part(self) -> AdaptiveRegressor:
        """Return an estimator of one of several responses, without a fit."""
        return AdaptiveRegressor(**self.get_params(deep=False))

    def _new_sums(self) -> FoldSums:
        """Return sums of no rows; rows are dealt to folds by their number as they come."""
        if isinstance(self.cv, bool) or not isinstance(self.cv, int | np.integer) or self.cv < 2:
            raise ValueError(
                f"cv={self.cv!r} must be a number of folds of at least 2 for partial_fit, which deals rows "
                "to folds as they come: splitters go with fit"
            )
        seed = 0 if self.random_state is None else self.random_state
        if not isinstance(seed, int | np.integer):
            raise ValueError(
                "random_state must be a whole number or None for partial_fit: a generator moves on"
            )
        check_random_state(seed)
        return FoldSums(int(self.cv), int(seed))

    def _fit_sums(self, header: Header, sums: FoldSums) -> None:
        rows, folds = folded(sums.scaled(self.weight_type, header.names))
        self._keep_fit(header, self._average(rows, resolve_family(self.family), folds))
        self._sums = sums

    @by_part(axis=1)
    def predict(self, X: MatrixLike, offset: PerRow = None, exposure: PerRow = None) -> Vector:
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

    @by_part(axis=1)
    def predict_interval(
        self,
        X: MatrixLike,
        level: float = 0.95,
        offset: PerRow = None,
        method: str = "cv+",
        exposure: PerRow = None,
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

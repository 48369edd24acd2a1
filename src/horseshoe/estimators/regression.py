"""What regressors are asked: predictions, scores, likelihoods, ordered levels, and more rows."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils import ClassifierTags
from sklearn.utils.validation import check_is_fitted

from horseshoe._types import Matrix, MatrixLike, PerRow, Vector, VectorLike
from horseshoe.data.offsets import check_known
from horseshoe.data.responses import check_responses
from horseshoe.data.validation import check_y
from horseshoe.data.view import View
from horseshoe.estimators.base import Estimator, Header, OnlyIf, by_part, check_new
from horseshoe.estimators.checked_data import encoded
from horseshoe.estimators.convergence import weigh
from horseshoe.estimators.partial_fit import FoldSums, add_rows, check_exact, sums_of_chunks, sums_of_rows
from horseshoe.families import Family, Ordered, resolve_family
from horseshoe.families.deviance import deviance
from horseshoe.threads import one_thread


def _no_partial_fit(model: Any) -> str | None:
    """Say why an estimator has no `partial_fit`, if it has none."""
    try:
        check_exact(resolve_family(model.family))
    except ValueError as error:
        return str(error) if "partial_fit" in str(error) else None  # of no family at all `fit` says so
    except TypeError:
        return None
    return None


def _no_levels(model: Any) -> str | None:
    """Say why there are no probabilities of levels, if there are none."""
    family = vars(model).get("family_")
    if family is None:
        try:
            family = resolve_family(model.family)
        except (TypeError, ValueError) as error:
            return str(error)
        levels = isinstance(family, Ordered)
    else:
        levels = isinstance(family, Ordered) and not family.continuous
    if levels:
        return None
    return "predict_proba is there with family='ordinal', if y has levels: labels are for a classifier"


@dataclass(eq=False, repr=False)
class Regression(RegressorMixin, Estimator):
    """A linear predictor for numbers, whoever found its coefficients.

    Examples
    --------
    >>> from horseshoe import HorseshoeRegressor
    >>> model = HorseshoeRegressor().fit([[1.0], [2.0], [3.0], [4.0]], [1.0, 2.1, 2.9, 4.0])
    >>> round(model.score([[5.0], [6.0]], [5.0, 6.0]), 2)
    0.98
    >>> x, y = [[k / 5.0] for k in range(20)], [int(k) for k in "11212122322323323333"]
    >>> model = HorseshoeRegressor(family="ordinal").fit(x, y)
    >>> model.levels_, model.predict([[0.0], [4.0]])
    (array([1., 2., 3.]), array([1., 3.]))
    """

    family: str | Family = "gaussian"

    def _eta(self, matrix: View, offset: Any, exposure: Any) -> Vector:
        known = check_known(offset, exposure, matrix.shape[0], self.family_)
        return np.asarray(self._fitted.linear_predictor(matrix) + known)

    @by_part(axis=1)
    def linear_predictor(self, X: MatrixLike, offset: PerRow = None, exposure: PerRow = None) -> Vector:
        """Return eta = intercept + X b + offset + log(exposure), before the inverse link.

        Parameters
        ----------
        X, offset, exposure
            As in `predict`.

        Returns
        -------
        array of shape (m,), or (m, n_outputs) for several responses
        """
        return self._eta(check_new(self, X), offset, exposure)

    @one_thread()
    def score(
        self,
        X: MatrixLike,
        y: VectorLike,
        sample_weight: PerRow = None,
        offset: PerRow = None,
        exposure: PerRow = None,
    ) -> float:
        """Return R^2 where y = eta + noise, otherwise D^2, the share of the deviance explained.

        Both compare with the mean of y, as scores of scikit-learn do, also where part of eta is known before
        (`statistics` compares with an intercept beside it); 1 is perfect. Of several responses it is the mean
        of theirs.

        Parameters
        ----------
        X : array-like of shape (m, p)
            Rows.
        y : array-like of shape (m,)
            Their responses.
        sample_weight, offset, exposure : array-like of shape (m,), optional
            As in `fit`.

        Returns
        -------
        float
        """
        found = []
        for part, *rows in self._rows_of_parts(X, y):
            family = part.family_
            response, eta, weights = part._check_scored(*rows, sample_weight, offset, exposure)
            if family.squared_error:
                from sklearn.metrics import r2_score  # imported here: it takes longer than all of horseshoe

                found.append(float(r2_score(response, family.mean(eta), sample_weight=weights)))
            else:
                found.append(deviance(family, response, eta, weights, np.zeros_like(eta)).explained)
        return float(np.mean(found))

    @one_thread()
    def log_likelihood(
        self,
        X: MatrixLike,
        y: VectorLike,
        sample_weight: PerRow = None,
        offset: PerRow = None,
        exposure: PerRow = None,
    ) -> float:
        """Return the log-likelihood of ``y`` at the fitted coefficients, with every constant.

        Parameters
        ----------
        X, y, sample_weight, offset, exposure
            As in `score`.

        Returns
        -------
        float
            Of several responses, the sum.
        """
        found = []
        for part, *rows in self._rows_of_parts(X, y):
            family = part.family_
            response, eta, weights = part._check_scored(*rows, sample_weight, offset, exposure)
            if not family.has_density:
                raise ValueError(
                    f"family={family} has no log-likelihood: weights and targets alone are no density of "
                    "y; compare fits by score, or take parameters that have one (for Tweedie, a power above "
                    "1)"
                )
            found.append(-float(weights @ family.neg_log_likelihood(response, eta, part.sigma2_)))
        return float(np.sum(found))

    def _rows_of_parts(self, X: Any, y: Any) -> list[tuple[Any, Any, Any]]:
        """Return each regression with X and its own column of y."""
        check_is_fitted(self)
        parts = self._parts
        if len(parts) == 1:
            return [(self, X, y)]
        matrix = check_new(self, X)
        found = check_responses(y, matrix.shape[0])
        if found is None or found.values.shape[1] != len(parts):
            columns = 1 if found is None else found.values.shape[1]
            raise ValueError(
                f"y has {columns} columns, but the model was fitted to {len(parts)} responses: give a column "
                "for each, in the same order"
            )
        return [(part, matrix, one) for part, one in zip(parts, found.values.T, strict=True)]

    def _check_scored(
        self, X: Any, y: Any, sample_weight: Any, offset: Any, exposure: Any
    ) -> tuple[Vector, Vector, Vector]:
        """Return the response, the linear predictor and the weights."""
        matrix = check_new(self, X)
        if self.family_.discrete:  # rates were accepted by `fit`
            response = check_y(y, matrix.shape[0])
            self.family_.check(np.where(response < 0.0, response, np.floor(response)))
        else:
            response = encoded(self.family_, y, matrix.shape[0])
        eta = self._eta(matrix, offset, exposure)
        weights = weigh(sample_weight, matrix.shape[0], self.weight_type)
        return response, eta, np.ones_like(response) if weights is None else weights

    @OnlyIf(_no_levels)
    def predict_proba(self, X: MatrixLike, offset: PerRow = None) -> Matrix:
        """Return the probability of each level; for ``family="ordinal"``.

        Where no two rows of y are the same, y is as good as continuous, and there is no such method.

        Parameters
        ----------
        X, offset
            As in `predict`.

        Returns
        -------
        array of shape (m, n_levels)
            In the order of ``levels_``.
        """
        matrix = check_new(self, X)
        return self._ordered.probabilities(self._eta(matrix, offset, None))

    @property
    def levels_(self) -> Any:
        """The levels in their order, as y had them; for ``family="ordinal"``."""
        return self._ordered.levels_

    @property
    def thresholds_(self) -> Vector:
        """The thresholds between the levels, in place of an intercept; for ``family="ordinal"``."""
        return self._ordered.thresholds_

    @property
    def thresholds_std_(self) -> Vector:
        """Their standard deviations, given the selection as those of the coefficients."""
        return self._ordered.thresholds_std_

    @property
    def _ordered(self) -> Ordered:
        """The fitted family, if it has levels."""
        family = vars(self).get("family_")
        if not isinstance(family, Ordered):
            raise AttributeError("levels_ and thresholds_ are there after a fit with family='ordinal'")
        return family

    @OnlyIf(_no_partial_fit)
    def partial_fit(self, X: MatrixLike, y: VectorLike, sample_weight: PerRow = None) -> Self:
        """Go on with more rows: the fit to all rows so far, from their sums, to rounding what `fit` finds.

        For a Gaussian response only. The rows are not kept, so what needs them one by one is not to be had.
        After `fit` the rows of that fit come first. Each call fits anew; `fit_chunks` fits once, at the end.

        Parameters
        ----------
        X, y, sample_weight
            As in `fit`: as many columns each time, and any number of rows.

        Returns
        -------
        Self
            Itself.
        """
        sums, training, earlier = vars(self).get("_sums"), vars(self).get("_training"), None
        with one_thread():
            if "coef_" in vars(self):
                earlier = self
                sums = sums_of_rows(training, self.weight_type, self._new_sums()) if sums is None else sums
            sums = self._new_sums() if sums is None else sums
            self._fit_sums(*add_rows(self, earlier, sums, X, y, sample_weight))
        return self

    def fit_chunks(self, chunks: Iterable[Any]) -> Self:
        """Fit to rows that come in chunks, in one pass.

        Parameters
        ----------
        chunks : iterable
            Of pairs (X, y) or triples (X, y, sample_weight).

        Returns
        -------
        Self
            Itself.
        """
        with one_thread():
            self._fit_sums(*sums_of_chunks(self, chunks, self._new_sums()))
        return self

    def _new_sums(self) -> FoldSums:
        """Return sums of no rows."""
        return FoldSums()

    def _fit_sums(self, header: Header, sums: FoldSums) -> None:
        """Fit to the sums of rows, and keep the sums."""
        raise NotImplementedError

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        try:
            family = resolve_family(self.family)
        except (TypeError, ValueError):  # `fit` will say what is wrong with it
            tags.target_tags.positive_only = False
            return tags
        tags.target_tags.positive_only = family.positive_only
        alone = getattr(self, "expectation", "exact") not in ("exact", "approximate")
        tags.target_tags.multi_output = family.constant_weights and not alone
        if isinstance(family, Ordered):
            tags.regressor_tags.poor_score = True  # D^2 of levels is no R^2
            tags.classifier_tags = ClassifierTags()  # those of its probabilities
        return tags

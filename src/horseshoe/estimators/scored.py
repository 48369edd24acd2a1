"""What a fitted linear predictor can be asked, whoever found its coefficients: eta, scores, likelihoods."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import ClassifierTags

from horseshoe._types import Vector
from horseshoe.data.offsets import check_known
from horseshoe.data.responses import check_responses
from horseshoe.data.validation import check_y
from horseshoe.data.view import View
from horseshoe.estimators.ending import weigh
from horseshoe.estimators.outputs import by_output, outputs_of
from horseshoe.estimators.response import encoded
from horseshoe.estimators.selector import check_new
from horseshoe.families import Family, Ordered, resolve_family
from horseshoe.families.deviance import deviance
from horseshoe.threads import one_thread


class Scored:
    """Scores of an estimator with ``coef_``, ``intercept_``, ``family_`` and ``sigma2_``.

    Examples
    --------
    >>> from horseshoe import HorseshoeRegressor
    >>> model = HorseshoeRegressor().fit([[1.0], [2.0], [3.0], [4.0]], [1.0, 2.1, 2.9, 4.0])
    >>> round(model.score([[5.0], [6.0]], [5.0, 6.0]), 2)
    0.98
    """

    coef_: Vector
    intercept_: float
    family_: Family
    sigma2_: float
    family: str | Family
    weight_type: str
    _fitted: Any

    @by_output(axis=1)
    def linear_predictor(self, X: Any, offset: Any = None, exposure: Any = None) -> Vector:
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
        self, X: Any, y: Any, sample_weight: Any = None, offset: Any = None, exposure: Any = None
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
        if outputs_of(self):
            found = self._each_output("score", X, y, sample_weight, offset, exposure)
            return float(np.mean(found))
        response, eta, weights = self._check_scored(X, y, sample_weight, offset, exposure)
        if self.family_.squared_error:
            from sklearn.metrics import r2_score  # imported here: it takes longer than all of horseshoe

            return float(r2_score(response, self.family_.mean(eta), sample_weight=weights))
        return deviance(self.family_, response, eta, weights, np.zeros_like(eta)).explained

    @one_thread()
    def log_likelihood(
        self, X: Any, y: Any, sample_weight: Any = None, offset: Any = None, exposure: Any = None
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
        if outputs_of(self):
            found = self._each_output("log_likelihood", X, y, sample_weight, offset, exposure)
            return float(np.sum(found))
        response, eta, weights = self._check_scored(X, y, sample_weight, offset, exposure)
        if not self.family_.has_density:
            raise ValueError(
                f"family={self.family_} has no log-likelihood: weights and targets alone are no density of "
                "y; compare fits by score, or take parameters that have one (for Tweedie, a power above 1)"
            )
        return -float(weights @ self.family_.neg_log_likelihood(response, eta, self.sigma2_))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.sparse = True
        try:
            family = resolve_family(self.family)
            tags.target_tags.positive_only = family.positive_only
            alone = getattr(self, "expectation", "exact") not in ("exact", "approximate")
            tags.target_tags.multi_output = family.constant_weights and not alone
            if isinstance(family, Ordered):
                tags.regressor_tags.poor_score = True  # D^2 of levels is no R^2
                tags.classifier_tags = ClassifierTags()  # those of its probabilities
        except (TypeError, ValueError):  # `fit` will say what is wrong with it
            tags.target_tags.positive_only = False
        return tags

    def _each_output(self, name: str, X: Any, y: Any, *more: Any) -> list[float]:
        """Return what each response's regression says of its own column of y."""
        parts, matrix = outputs_of(self), check_new(self, X)
        found = check_responses(y, matrix.shape[0])
        if found is None or found.values.shape[1] != len(parts):
            columns = 1 if found is None else found.values.shape[1]
            raise ValueError(
                f"y has {columns} columns, but the model was fitted to {len(parts)} responses: give a column "
                "for each, in the same order"
            )
        pairs = zip(parts, found.values.T, strict=True)
        return [getattr(part, name)(matrix, one, *more) for part, one in pairs]

    def _eta(self, matrix: View, offset: Any, exposure: Any) -> Vector:
        known = check_known(offset, exposure, matrix.shape[0], self.family_)
        return np.asarray(self._fitted.linear_predictor(matrix) + known)

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

"""What a survival model is asked of rows: risks, how well they are ordered, and how likely the events are."""

from __future__ import annotations

from typing import Any

import numpy as np

from horseshoe._checks import check_choice
from horseshoe._types import Vector
from horseshoe.data.offsets import check_known
from horseshoe.data.rows import Rows, known_rows
from horseshoe.estimators.concordance import concordance
from horseshoe.estimators.ending import weigh
from horseshoe.estimators.hazards import Hazards
from horseshoe.estimators.lifetimes import check_lifetimes
from horseshoe.estimators.selector import check_new
from horseshoe.families.cox import Cox
from horseshoe.threads import one_thread

TIES = ("efron", "breslow")


class Risks(Hazards):
    """Scores of a survival model, whoever found its coefficients.

    Examples
    --------
    >>> from horseshoe import HorseshoeSurvival
    >>> x = np.arange(20.0)
    >>> model = HorseshoeSurvival().fit(-x[:, None], x + np.cos(x))
    >>> isinstance(model, Risks), model.score(-x[:, None], x)
    (True, 1.0)
    """

    ties: str
    weight_type: str
    _fitted: Any

    def linear_predictor(self, X: Any, offset: Any = None) -> Vector:
        """Return the linear predictor: the same as `predict`.

        Parameters
        ----------
        X, offset
            As in `predict`.

        Returns
        -------
        array of shape (m,)
        """
        return self._eta(check_new(self, X), offset, None)

    @one_thread()
    def score(
        self, X: Any, y: Any, sample_weight: Any = None, offset: Any = None, strata: Any = None
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
        risk = self._eta(matrix, offset, None)
        return concordance(seen.time, seen.event, risk, seen.weights, seen.stratum)

    @one_thread()
    def log_likelihood(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        offset: Any = None,
        entry: Any = None,
        strata: Any = None,
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
        rows, family, _ = self._rows(matrix, y, sample_weight, offset, entry, strata)
        eta = self._fitted.linear_predictor(rows.columns) + rows.offset
        return -float(rows.counts @ family.neg_log_likelihood(rows.y, eta, 1.0))

    def _rows(
        self, columns: Any, y: Any, sample_weight: Any, offset: Any, entry: Any, strata: Any
    ) -> tuple[Rows, Any, Any]:
        """Return the rows that count, by number, the family that knows their times, and the strata."""
        n, ties = columns.shape[0], check_choice("ties", self.ties, TIES)
        weights = weigh(sample_weight, n, self.weight_type)
        seen, labels = check_lifetimes(y, n, entry, strata, weights, self.weight_type == "count")
        family = Cox(ties, seen)
        known = check_known(offset, None, n, family)
        family.check_offset(np.asarray(known))
        return known_rows(columns, family.encode(y).values, weights, known), family, labels

"""Training sets of ordered levels: each has thresholds of its own, which no other set's rows have moved.

Between two steps the thresholds are held where they are, and a row stands alone; after each step they go to
their best at the new linear predictor. What thresholds give way is left out of the curvature but for their
common level, so that steps are a little shorter than Newton's, and end where these do.

Rows left out are judged at the thresholds that are best for the training set at its linear predictor. A level
of eta means nothing beside them: fits have no intercept.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from horseshoe._lazy import lazy
from horseshoe._types import Matrix
from horseshoe.average.sets import Fits, Sets
from horseshoe.families import Family
from horseshoe.model.spec import Prepared


class OrdinalSets(Sets):
    """What components of an average over ordered levels are fitted to; the parameters are those of `Sets`.

    Examples
    --------
    >>> from horseshoe.data.dense import Dense
    >>> from horseshoe.families import Ordinal
    >>> y = np.array([0.0, 1.0, 2.0, 0.0, 1.0, 2.0])
    >>> folds = (([0, 1, 2], [3, 4, 5]), ([3, 4, 5], [0, 1, 2]))
    >>> sets = OrdinalSets(Dense(np.eye(6)), y, np.zeros(6), np.ones(6), folds, Ordinal().learn(y))
    >>> round(sets.left_out(sets.family, np.zeros((6, 3)), 1.0), 3)  # each level has a third: 6 log 3
    6.592
    """

    slope_steps = 8
    nothing = "the thresholds alone"
    nothing_more = "the thresholds and the columns that are always in"
    has_level = False

    @lazy
    def families(self) -> tuple[Family, ...]:
        """The thresholds alone of each training set."""
        return self._at_best(np.repeat(self.offset[:, None], self.n_sets, axis=1))

    def _at_best(self, eta: Matrix) -> tuple[Family, ...]:
        """Return the thresholds of each training set at a linear predictor."""
        family: Any = self.family
        found = []
        for t, column in enumerate(eta.T):
            part = self.part(t)
            found.append(family.at_best(part.y, column[part.inside], part.counts))
        return tuple(found)

    def drop_intercepts(self, fits: Fits) -> Fits:
        """Return the fits without intercepts, and with the thresholds that go with that."""
        none = np.zeros_like(fits.intercept)
        return fits._replace(intercept=none, families=self._at_best(self.eta(fits.coef, none)))

    def left_out(self, family: Family, eta: Matrix, sigma2: float) -> float:
        """Return minus the log-likelihood of the rows left out, at the thresholds of each training set."""
        return self.cross_validated(eta, np.ones(self.n_sets), self._at_best(eta[:, : len(self.folds)]))

    def finalize(self, family: Any, found: Any, prepared: Prepared) -> tuple[Any, Any, Sets]:
        """Return the thresholds of the average, and that with an intercept of zero in the user's units."""
        eta = self.eta(found.coef[:, None], np.zeros(1))[:, 0]
        level = float(prepared.units.intercept(np.zeros(()), found.coef))
        family = family.at_best(self.y, eta, self.counts).with_intercept_absorbed(level)
        moved = {name: getattr(found, name) - level for name in ("intercept", "fold_intercept", "predicted")}
        return family, found._replace(**moved), self

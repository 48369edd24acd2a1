"""Training sets of Cox's model: rows hold each other through who is at risk.

Between two steps the hazard of each set, Breslow's, is held where it is. Then a row stands alone: it has as
many events as a Poisson variable whose mean h is the hazard it was exposed to, and its weight is h, its
target eta + (events - h) / h. The slope of the partial likelihood is that of this least-squares problem, so
that steps end where those of Newton's method do; its curvature X'(h - h h' / sum h)X is an upper bound of
that of the partial likelihood, for what the hazard gives way is left out but for its level (by Jensen's
inequality, risk set by risk set). So steps are shorter than Newton's, and as cheap as those of any family.

**Rows left out** are judged by what they add to the partial likelihood of all rows at the coefficients of the
fit without them, l(all rows) - l(training set) (Verweij and van Houwelingen 1993). They are at risk with the
others, so that small folds say as much as large ones; among themselves, a fold of one row would say nothing.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from horseshoe._lazy import lazy
from horseshoe._types import Matrix, Vector
from horseshoe.average.ordinal_sets import OrdinalSets
from horseshoe.average.sets import HUGE, Part, Sets
from horseshoe.families import Family, Ordered


class CoxSets(Sets):
    """What the components of an average of survival models are fitted to; the parameters are those of `Sets`.

    Each set has a family of its own, which remembers its risk sets.

    Examples
    --------
    >>> from horseshoe.data.dense import Dense
    >>> from horseshoe.families.cox import Cox
    >>> from horseshoe.families.risk import Lifetimes
    >>> one, time = np.ones(4), np.arange(4.0)
    >>> family = Cox(seen=Lifetimes(time, one > 0, one - 2.0, np.zeros(4, int), one))
    >>> folds = (([0, 1], [2, 3]), ([2, 3], [0, 1]))
    >>> sets = CoxSets(Dense(np.eye(4)), time, 0.0 * one, one, folds, family)
    >>> sets.total, round(sets.left_out(family, np.zeros((4, 3)), 1.0), 3)  # 2 log 4! - log 2! - log 2!
    (array([2., 2., 4.]), 4.97)
    """

    small_steps = True
    has_level = False
    slope_steps = 8
    nothing = "no column at all"
    nothing_more = "the columns that are always in"
    # The paper's. With 1.5 the mode of wide data, and the mixture that starts there, did worse on rows left
    # out than no column at all (eight data sets like those of `benchmarks/survival`, with other seeds).
    lambda_power = 2.0

    @lazy
    def families(self) -> tuple[Family, ...]:
        """A family for each training set, which remembers its risk sets."""
        family: Any = self.family
        return tuple(replace(family) for _ in range(self.n_sets))

    @lazy
    def _parts(self) -> tuple[Part, ...]:
        """The rows of each training set; its observations are its events."""
        each = zip(super()._parts, self.families, strict=True)
        return tuple(one._replace(total=family.total(one.y, one.counts)) for one, family in each)

    @lazy
    def total(self) -> Vector:
        """The number of events of each training set."""
        return np.array([part.total for part in self._parts])

    @lazy
    def observations(self) -> Vector:
        """The events."""
        family: Any = self.family
        found, rows = np.zeros_like(self.counts), family.risk_sets(self.y).rows
        found[rows] = self.counts[rows]
        return found

    def with_data(self, family: Family) -> Family:
        """Return the family that knows the risk sets of all rows."""
        return self.family

    def cross_validated(self, eta: Matrix, sigma2: Vector, families: tuple[Family, ...]) -> float:
        """Return minus what the rows left out add to the partial log-likelihood."""
        total = 0.0
        for t in range(len(self.folds)):
            total += min(self._added(t, eta[:, t]), HUGE)
        return total

    def _added(self, t: int, eta: Vector) -> float:
        """Return the partial likelihood of a training set over that of all rows, as a logarithm."""
        whole = float(self.counts @ self.family.neg_log_likelihood(self.y, eta, 1.0))
        return whole - self.loss(t, self.families[t], eta, 1.0)

    def left_out(self, family: Family, eta: Matrix, sigma2: float) -> float:
        """Return the same."""
        return self.cross_validated(eta, np.ones(self.n_sets), self.families)

    def row_losses(self, family: Family, eta: Vector, sigma2: float) -> tuple[Vector, Vector]:
        """Return h - events log h of each row left out: what the hazard of all of them loses by it.

        Only how much these differ is asked for.
        """
        places, _ = self.tested
        rows = np.unique(places)
        mean = np.bincount(places, eta, self.y.size)[rows] / np.bincount(places, minlength=self.y.size)[rows]
        here, counts = self.family.coupling(self.y[rows], mean), self.counts[rows]
        exposed = np.maximum(here.diagonal / counts, np.finfo(np.float64).tiny)
        return exposed - (self.observations[rows] > 0.0) * np.log(exposed), counts


def sets_of(*given: Any) -> Sets:
    """Return the training sets, of the kind that goes with what their rows share.

    Examples
    --------
    >>> from horseshoe.data.dense import Dense
    >>> from horseshoe.families import Gaussian
    >>> one, folds = np.ones(2), (([0], [1]), ([1], [0]))
    >>> type(sets_of(Dense(np.eye(2)), one, one, one, folds, Gaussian())).__name__
    'Sets'
    """
    found = Sets(*given)
    if isinstance(found.family, Ordered):
        return OrdinalSets(*given)
    coupled = found.family.coupling(found.y, found.offset)
    return found if coupled is None else CoxSets(*given)

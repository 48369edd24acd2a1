"""Cox's partial likelihood: which of those at risk has the event, time after time."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.linalg import lapack

from horseshoe._lazy import lazy
from horseshoe._types import Matrix, Status, Vector
from horseshoe.families.base import EXTREME_WEIGHT, WEIGHT_FLOOR, Family, Response, Working
from horseshoe.families.risk import Lifetimes, RiskSets

# Sets of rows whose risk sets are kept: those of a fit, of its folds, of a part it starts from.
REMEMBERED = 24


@dataclass(frozen=True)
class Cox(Family):
    """Proportional hazards: log p = sum over events of eta_i - log(sum over those at risk of exp(eta_j)).

    Rows hold each other through the risk sets, so that the second derivative in eta is no diagonal: see
    `coupling`. The rows of y are numbers of rows of ``seen``, which holds times, events and weights; for it,
    `HorseshoeSurvival` is there.

    Parameters
    ----------
    ties : {"efron", "breslow"}, default="efron"
        What becomes of events at the same time.

    Examples
    --------
    >>> Cox()
    Cox(ties='efron')
    """

    has_intercept = False
    positive_only = True
    interval = "posterior"
    wide_start = "marginal"
    several = (
        "use HorseshoeSurvival().fit(X, y) for times and events, and "
        "HorseshoeSurvival().fit(X, y).sample_posterior() for draws"
    )
    ties: str = "efron"
    seen: Lifetimes | None = field(default=None, repr=False, compare=False)
    _known: dict[int, Any] = field(default_factory=dict, repr=False, compare=False, init=False)

    def encode(self, y: Any) -> Response:
        """Return the rows of what was seen, by number."""
        if self.seen is None:
            raise ValueError(f"Cox's model has times and events for y: {self.several}")
        return Response(np.arange(float(self.seen.time.size)))

    def risk_sets(self, y: Vector) -> RiskSets:
        """Return the risk sets of some of the rows."""
        assert self.seen is not None
        known = self._known.get(id(y))
        if known is None:
            while len(self._known) >= REMEMBERED:
                self._known.pop(next(iter(self._known)))
            sets = RiskSets(self.seen.take(y.astype(np.intp)), self.ties == "efron")
            known = self._known[id(y)] = (y, sets)  # with y, or its number could be another's
        found: RiskSets = known[1]
        return found

    def start(self, y: Vector) -> Vector:
        """Return zeros: nobody's risk is known."""
        return np.zeros_like(y)

    def coupling(self, y: Vector, eta: Vector) -> Coupling:
        """Return slope and curvature of the log-likelihood."""
        return Coupling(self.risk_sets(y), eta)

    def working(self, y: Vector, eta: Vector, sigma2: float) -> Working:
        """Return the diagonal part of the curvature, which overstates it, in units of the sample weight."""
        here, sets = self.coupling(y, eta), self.risk_sets(y)
        weights = np.maximum(here.diagonal / sets.seen.weights, WEIGHT_FLOOR)
        return Working(weights, eta + here.slope / sets.seen.weights / weights)

    def mean(self, eta: Vector) -> Vector:
        """Return eta: the risk score is the logarithm of the hazard ratio."""
        return eta

    def link(self, mean: Vector) -> Vector:
        """Return the risk score."""
        return mean

    def neg_log_likelihood(self, y: Vector, eta: Vector, sigma2: float) -> Vector:
        """Return what each event costs; events at the same time share what they cost together."""
        sets = self.risk_sets(y)
        eta = eta - _levels(sets, eta)
        left = _left(sets, _hazards(sets, eta))
        together = np.bincount(sets.step_group, sets.count * np.log(left), sets.size)
        out = np.zeros_like(eta)
        out[sets.rows] = (together / sets.dead)[sets.group] - eta[sets.rows]
        return out

    def variance(self, eta: Vector, sigma2: float) -> Vector:
        """Return 0: a risk is no response, and has no noise."""
        return np.zeros_like(eta)

    def simulate(self, eta: Vector, sigma2: Any, rng: np.random.Generator) -> Vector:
        """Refuse: of times only the order is known."""
        raise ValueError(
            "Cox's partial likelihood says who has the next event, not when: there is no y to draw; use "
            "predict_survival_function"
        )

    def saturated(self, y: Vector) -> Vector:
        """Return what each event costs if nobody else is at risk to speak of."""
        sets = self.risk_sets(y)
        alone = sets.dead[sets.step_group] * (1.0 - sets.share)
        together = np.bincount(sets.step_group, sets.count * np.log(alone), sets.size)
        out = np.zeros_like(y)
        out[sets.rows] = (together / sets.dead)[sets.group]
        return out

    def total(self, y: Vector, weights: Vector) -> float:
        """Return the number of events: the others tell only who was at risk."""
        return float(self.risk_sets(y).dead.sum())

    def check_offset(self, offset: Vector) -> None:
        """Refuse offsets between which hazard ratios are out of range."""
        far = np.abs(offset) > 0.5 * EXTREME_WEIGHT
        if far.any():
            row = int(np.argmax(far.reshape(-1)))
            raise ValueError(
                f"offset in row {row} is {offset.reshape(-1)[row]:g}, and its exponential is out of range: "
                "it is the logarithm of a known hazard ratio"
            )

    @property
    def ratio(self) -> str:
        """That of two hazards."""
        return "hazard_ratio"

    def remark(self, y: Vector, eta: Vector) -> Status | None:
        """Say so if every event hits who has the highest risk."""
        return Status.MONOTONE if self.is_unbounded_along(y, eta) else None

    def is_unbounded_along(self, y: Vector, eta: Vector) -> bool:
        """Tell whether every event hits who has the highest risk."""
        sets = self.risk_sets(y)
        first = np.full(sets.size, np.inf)
        np.minimum.at(first, sets.group, eta[sets.rows])
        return bool(np.all(first >= sets.largest(eta)) and eta.min() < eta.max())


class Coupling:
    """The partial likelihood near eta: its slope g, and its curvature H = diag(h) - F'F.

    With v_j = w_j exp(eta_j) and S the sum of v over who is at risk in a step (less the share u of the events
    E that have left), h_i = v_i sum_steps c / S over the steps at which i is at risk, g = events - h, and
    each step has the rank-one part c (v / S)(v / S)'. Those of one time are spanned by v over who is at risk
    and v over who has the event, so two rows of F hold them all.
    """

    def __init__(self, sets: RiskSets, eta: Vector) -> None:
        self._sets, self.eta = sets, eta
        self._v = v = _hazards(sets, eta - _levels(sets, eta))
        left, group, size = _left(sets, v), sets.step_group, sets.size
        self.hazard: Vector = np.bincount(group, sets.count / left, size).astype(np.float64)
        gone = np.bincount(group, sets.count * sets.share / left, size)
        times = sets.over_times(self.hazard)
        times[sets.rows] -= gone[sets.group]
        self.diagonal = v * np.maximum(times, 0.0)
        self.slope = -self.diagonal
        self.slope[sets.rows] += sets.seen.weights[sets.rows]
        second = sets.count / left**2
        self._root = np.sqrt(np.bincount(group, second, size))
        self._gone = np.bincount(group, second * sets.share, size) / self._root**2
        apart = np.bincount(group, second * (sets.share - self._gone[group]) ** 2, size)
        self._tied = np.flatnonzero(apart > 0.0)
        self._apart = np.sqrt(apart[self._tied])

    def pooled(self, x: Any) -> Any:
        """Return F x, for a vector or each column of a matrix."""
        shape = (-1,) + (1,) * (x.ndim - 1)
        x = self._v.reshape(shape) * x
        dead = self._sets.of_events(x)
        first = self._root.reshape(shape) * (self._sets.at_risk(x) - self._gone.reshape(shape) * dead)
        return np.concatenate([first, self._apart.reshape(shape) * dead[self._tied]])

    def times(self, fit: Vector) -> Vector:
        """Return H fit."""
        sets, pooled = self._sets, self.pooled(fit)
        back = self._root * pooled[: sets.size]
        out = sets.over_times(back)
        dead = -self._gone * back
        dead[self._tied] += self._apart * pooled[sets.size :]
        out[sets.rows] += dead[sets.group]
        return np.asarray(self.diagonal * fit - self._v * out)

    @lazy
    def information(self) -> float:
        """The trace of H: near the number of events, if many are at risk at each; never quite nothing."""
        sets, square = self._sets, self._v**2
        risk, dead = sets.at_risk(square), sets.of_events(square)
        pooled = self._root**2 * (risk + (self._gone**2 - 2.0 * self._gone) * dead)
        left = float(self.diagonal.sum() - pooled.sum() - self._apart**2 @ dead[self._tied])
        return max(left, WEIGHT_FLOOR)

    @lazy
    def most(self) -> float:
        """What g' H^-1 g is at most, over the directions that H knows: the sum over events of S / v - 1."""
        sets = self._sets
        odds = sets.at_risk(self._v)[sets.group] / self._v[sets.rows]
        return float(sets.seen.weights[sets.rows] @ odds)

    @lazy
    def factor(self) -> tuple[Matrix, Any, int]:
        """Return R with H = R'R, square with zeros in its last rows, the order of its columns, and its rank.

        H does not see a shift of a stratum, nor rows that are at risk at no event.
        """
        n, root = self.diagonal.size, np.sqrt(self.diagonal)
        seen = root > 0.0
        each = self.pooled(np.diag(np.divide(1.0, root, out=np.zeros(n), where=seen)))
        matrix = np.diag(seen.astype(np.float64)) - each.T @ each
        upper, order, rank, _ = lapack.dpstrf(matrix)
        upper = np.triu(upper)
        upper[rank:] = 0.0
        out = np.empty((n, n))
        out[:, order - 1] = upper
        return out * root, order - 1, int(rank)


def _levels(sets: RiskSets, eta: Vector) -> Vector:
    """Return the largest eta of the stratum of each row."""
    stratum = sets.seen.stratum
    if not sets.stratified:
        return np.full_like(eta, eta.max(initial=-np.inf))
    top = np.full(int(stratum.max(initial=0)) + 1, -np.inf)
    np.maximum.at(top, stratum, eta)
    return np.asarray(top[stratum])


def _hazards(sets: RiskSets, eta: Vector) -> Vector:
    """Return w exp(eta), held above what sums of squares would lose."""
    return np.asarray(sets.seen.weights * np.exp(np.maximum(eta, -EXTREME_WEIGHT)))


def _left(sets: RiskSets, v: Vector) -> Vector:
    """Return the sum of v over who is at risk in each step."""
    left = sets.at_risk(v)[sets.step_group]
    if sets.share.any():
        left -= sets.share * sets.of_events(v)[sets.step_group]
    return np.asarray(left)

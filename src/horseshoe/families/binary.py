"""Two classes, or proportions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import special

from horseshoe._checks import check_choice
from horseshoe._extras import require
from horseshoe._types import Status, Vector
from horseshoe.families.base import EXTREME, WEIGHT_FLOOR, Family, Response, Working, refuse

# No offset is larger than this.
FARTHEST = 1e50
# Beyond it a Polya-gamma variate is inverse Gaussian to eight digits.
FAR_TILT = 20.0
# Terms of the series: what is left out has a millionth of the variance.
SERIES = 30


@dataclass(frozen=True)
class Binomial(Family):
    """Two classes, or proportions of successes (then the numbers of trials are the sample weights).

    Parameters
    ----------
    augmentation : {"polya_gamma", "irls"}, default="polya_gamma"
        tanh(eta/2) / (2 eta), the mean of the scale mixture of Polson, Scott and Windle, whose steps never
        overshoot; or mu (1 - mu), those of Newton's method, which are smaller where eta is large.

    Examples
    --------
    >>> Binomial().working(np.array([0.0, 1.0]), np.array([0.0, 1000.0]), 1.0).weights
    array([0.25  , 0.0005])
    """

    is_binary = True
    rowwise = True
    interval = "posterior"
    augmentation: str = "polya_gamma"

    def __post_init__(self) -> None:
        check_choice("augmentation", self.augmentation, ("polya_gamma", "irls"))

    @property
    def never_overshoots(self) -> bool:  # type: ignore[override]
        """Whether the weights are those of the scale mixture."""
        return self.augmentation == "polya_gamma"

    def encode(self, y: Any) -> Response:
        """Return 0 and 1 for two labels, or numbers between them as they are."""
        if y.dtype.kind not in "OUSb":
            return super().encode(y)
        labels, codes = np.unique(y, return_inverse=True)
        if labels.size != 2:
            raise ValueError(f"y has {labels.size} different labels, but two are needed for 'binomial'")
        return Response(codes.astype(np.float64), labels)

    def check(self, y: Vector) -> None:
        """Refuse what is not between 0 and 1."""
        refuse(
            y,
            (y < 0.0) | (y > 1.0),
            "must be 0 or 1, or a proportion between them; labels are for HorseshoeClassifier",
        )

    def check_offset(self, offset: Vector) -> None:
        """Refuse log odds whose squares are out of range."""
        check_log_odds(offset)

    def start(self, y: Vector) -> Vector:
        """Return the logit of (y + 1/2) / 2."""
        return np.asarray(special.logit((y + 0.5) / 2.0))

    def working(self, y: Vector, eta: Vector, sigma2: float) -> Working:
        """Return the weights chosen, and targets with the slope of the likelihood."""
        if self.augmentation == "polya_gamma":
            weights = polya_gamma_mean(eta)
            return Working(weights, (y - 0.5) / weights)
        mu = special.expit(eta)
        weights = np.maximum(mu * special.expit(-eta), self._least(np.abs(y - mu)))
        return Working(weights, eta + (y - mu) / weights)

    def _least(self, wrong: Vector) -> Any:
        """Return the least weight of a row."""
        return WEIGHT_FLOOR

    def fisher(self, eta: Vector, sigma2: float) -> Vector | None:
        """Return mu (1 - mu), which is less than the weights of the scale mixture."""
        if self.augmentation == "irls":
            return None
        return np.maximum(self.variance(eta, sigma2), WEIGHT_FLOOR)

    def newton(self) -> Family | None:
        """Return the likelihood with the weights mu (1 - mu)."""
        return _Sharp("irls") if self.never_overshoots else None

    def mean(self, eta: Vector) -> Vector:
        """Return the probability of success."""
        return np.asarray(special.expit(eta))

    def link(self, mean: Vector) -> Vector:
        """Return the logit."""
        return np.asarray(np.clip(special.logit(mean), -EXTREME, EXTREME))

    def neg_log_likelihood(self, y: Vector, eta: Vector, sigma2: float) -> Vector:
        """Return log(1 + e^eta) - y eta, as a sum of terms none of which is below 0.

        As a difference it loses every digit where eta is large and right, which weights of a million show.
        """
        return np.asarray(np.log1p(np.exp(-np.abs(eta))) + eta * ((eta > 0.0) - y))

    def variance(self, eta: Vector, sigma2: float) -> Vector:
        """Return mu (1 - mu)."""
        return np.asarray(special.expit(eta) * special.expit(-eta))

    def augment(
        self, y: Vector, eta: Vector, sigma2: float, counts: Vector, rng: np.random.Generator
    ) -> Working:
        """Draw Polya-gamma weights (counts, eta); the targets are counts (y - 1/2) / w."""
        weights = np.maximum(draw_polya_gamma(counts, eta, rng), WEIGHT_FLOOR**2)
        return Working(weights, counts * (y - 0.5) / weights)

    def simulate_shares(self, eta: Vector, counts: Vector, rng: np.random.Generator) -> Vector:
        """Draw the share of successes in so many trials, at least one."""
        trials = np.maximum(np.round(counts), 1.0)
        return np.asarray(rng.binomial(trials.astype(int), self.mean(eta)) / trials)

    def simulate(self, eta: Vector, sigma2: Any, rng: np.random.Generator) -> Vector:
        """Draw 0 or 1 given eta."""
        return np.asarray(rng.random(eta.shape) < special.expit(eta), dtype=np.float64)

    def boundary(self, y: Vector, weights: Vector, offset: Vector) -> float | None:
        """Return the logit of a half success (or failure) in all, if there is none."""
        if 0.0 < float(weights @ y) < float(weights.sum()):
            return None
        rate = float((weights @ y + 0.5) / (weights.sum() + 1.0))
        return float(special.logit(rate) - weights @ offset / weights.sum())

    def remark(self, y: Vector, eta: Vector) -> Status | None:
        """Say so if some value of eta tells the classes apart without error."""
        return Status.SEPARATED if _gap(y, eta) > 0.0 else None

    def is_unbounded_along(self, y: Vector, eta: Vector) -> bool:
        """Tell whether no row of one class is on the side of the other, though some may be between them."""
        return _gap(y, eta) >= 0.0 and bool(eta.min() < eta.max())


class _Sharp(Binomial):
    """The weights of Newton's method, also of rows that count a million times.

    Those that are right would be held where they are by a least weight; only those that are wrong need it.
    """

    def _least(self, wrong: Vector) -> Any:
        return WEIGHT_FLOOR * np.maximum(wrong, WEIGHT_FLOOR)


def check_log_odds(offset: Vector) -> None:
    """Refuse an offset whose square is out of range, with its row.

    Examples
    --------
    >>> check_log_odds(np.array([0.0, 1e60]))
    Traceback (most recent call last):
    ValueError: offset in row 1 is 1e+60: it is added to log odds, so rescale it
    """
    far = np.abs(offset) > FARTHEST
    if far.any():
        row = int(np.argmax(far))
        raise ValueError(f"offset in row {row} is {offset[row]:g}: it is added to log odds, so rescale it")


def _gap(y: Vector, eta: Vector) -> float:
    """Return how far eta is higher in all rows of one class than in any of the other; nan beside shares."""
    low, high = eta[y == 0.0], eta[y == 1.0]
    if low.size == 0 or high.size == 0 or low.size + high.size < y.size:
        return float("nan")
    return float(high.min() - low.max())


def draw_polya_gamma(shape: Vector, tilt: Vector, rng: np.random.Generator) -> Vector:
    """Draw from the Polya-gamma distribution, whatever the shapes and tilts are.

    The package polyagamma draws whole shapes; its draws for others are a few per cent too wide, and for large
    tilts wrong. The part of a shape behind the point is therefore drawn from the series of gamma variates
    that defines the distribution, with the mean of the terms left out in their place; and where exp(-|tilt|)
    is nothing beside 1, from the inverse Gaussian distribution that is then left.

    Examples
    --------
    >>> draws = draw_polya_gamma(np.full(100_000, 2.5), np.full(100_000, 2.0), np.random.default_rng(0))
    >>> round(float(draws.mean()), 2), round(2.5 * float(polya_gamma_mean(np.array([2.0]))[0]), 2)
    (0.48, 0.48)
    """
    draw = require("polyagamma", extra="posterior").random_polyagamma
    shape, tilt = np.broadcast_arrays(np.asarray(shape, dtype=np.float64), np.abs(tilt))
    out, far = np.zeros(shape.shape), tilt > FAR_TILT
    whole = np.floor(shape)
    near = ~far & (whole > 0.0)
    out[near] = draw(whole[near], tilt[near], random_state=rng)
    part = ~far & (shape > whole)
    if part.any():
        out[part] += _fraction(shape[part] - whole[part], tilt[part], rng)
    if far.any():
        out[far] = rng.wald(0.5 * shape[far] / tilt[far], 0.25 * shape[far] ** 2)
    return out


def _fraction(shape: Vector, tilt: Vector, rng: np.random.Generator) -> Vector:
    """Draw for shapes below 1: sum_k gamma(shape) / (2 pi^2 ((k - 1/2)^2 + tilt^2 / (4 pi^2)))."""
    steps = np.arange(SERIES) + 0.5
    terms = 1.0 / (2.0 * np.pi**2 * steps**2 + 0.5 * (tilt * tilt)[:, None])
    left_out = shape * (polya_gamma_mean(tilt) - terms.sum(axis=1))
    gammas = rng.standard_gamma(np.broadcast_to(shape[:, None], terms.shape))
    return np.asarray((gammas * terms).sum(axis=1) + left_out)


def polya_gamma_mean(eta: Vector) -> Vector:
    """Return tanh(eta/2) / (2 eta), which is 1/4 at 0.

    Examples
    --------
    >>> polya_gamma_mean(np.array([0.0, 1e-9, 2.0]))
    array([0.25      , 0.25      , 0.19039854])
    """
    safe = np.where(np.abs(eta) < 1e-4, 1.0, eta)
    return np.where(np.abs(eta) < 1e-4, 0.25 - eta * eta / 48.0, np.tanh(0.5 * safe) / (2.0 * safe))

"""What a likelihood has to say."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np

from horseshoe._checks import check_number
from horseshoe._types import Matrix, Status, Vector
from horseshoe.variates import slice_step

# The linear predictor is held within the first: exp of it is still finite; in weights within the second, so
# that sums of their squares are.
EXTREME, EXTREME_WEIGHT = 700.0, 300.0
# Newton weights below this count as this much: the step is shorter, where it ends is the same.
WEIGHT_FLOOR = 1e-10


class Working(NamedTuple):
    """A least-squares problem that stands for the likelihood near eta: one weight and target a row."""

    weights: Vector
    targets: Vector


class Response(NamedTuple):
    """y as the family sees it, and the labels that it had, if it had any."""

    values: Vector
    labels: Any = None


class Shared(NamedTuple):
    """The information about thresholds: that which rows share with those above and below their level.

    ``levels`` are counted from 0; ``alone`` is the information of the thresholds about themselves: what is
    above the diagonal, and the diagonal.
    """

    levels: Any
    above: Vector
    below: Vector
    alone: Matrix


class Family:
    """A family. Derive from it, and say the five things that have no default.

    What only some families can do is a method that is there or not: see `Augmented` and `Predictive`.

    Attributes
    ----------
    constant_weights : bool
        Whether weights are 1 and targets y, whatever eta is: the Gaussian family.
    rowwise : bool
        Whether weights and targets of a row hang on its own y and eta and on sigma2 alone, and not on what
        `update` estimates: then they can be taken where the row is, and large data need fewer passes.
    is_location : bool
        Whether y = eta + noise: then an offset is taken off y, and the prior acts in units of its spread.
    log_link : bool
        Whether the mean is exp(eta): then an exposure multiplies it.
    is_binary : bool
        Whether y is 0 or 1, or a share of trials: then y may be labels, and intervals are of its mean.
    latent_rows : bool
        Whether each row has a latent weight of its own, so that a row of weight 2 is two rows.
    has_intercept : bool
        Whether a level of eta means anything; if not, columns are centred, and there is no intercept.
    has_dispersion : bool
        Whether the family has a noise variance sigma2 to estimate; if not, sigma2 is 1.
    squared_error : bool
        Whether a fit is judged by the squares of what it leaves of y: R^2, and not D^2.
    noise_share : float
        The mean weighted square of the distance to the targets, in units of sigma2: other than 1 only where
        the targets are not where y is expected.
    noise_is_conjugate : bool
        Whether the targets of `Augmented` do not depend on sigma2, so that both it and the coefficients can
        be drawn together.
    positive_only : bool
        Whether y must not be negative.
    discrete : bool
        Whether y is a whole number.
    interval : "mode" or "posterior"
        What intervals are made of by default: at the mode they may be too narrow.
    wide_start : "linear", "marginal" or None
        Where a fit starts best when columns are many: see `HorseshoeRegressor`.
    never_overshoots : bool
        Whether the step to the targets never lowers the likelihood, as with the weights of a scale mixture
        (those of `Laplace` once they are sharp); otherwise each step is checked, and halved until it does
        not.
    several : str
        What to do with a y of several columns; nothing where each can be fitted on its own.
    """

    constant_weights: bool = False
    rowwise: bool = False
    is_location: bool = False
    log_link: bool = False
    is_binary: bool = False
    latent_rows: bool = False
    has_intercept: bool = True
    has_dispersion: bool = False
    squared_error: bool = False
    noise_share: float = 1.0
    noise_is_conjugate: bool = True
    positive_only: bool = False
    discrete: bool = False
    interval: str = "mode"
    wide_start: str | None = "linear"
    never_overshoots: bool = False
    several: str = ""

    def learn(self, y: Any, weights: Vector | None = None, order: Sequence[Any] | None = None) -> Family:
        """Return the family with what it has to know of all of y before a fit, such as its levels."""
        return self

    def encode(self, y: Any) -> Response:
        """Return y as numbers that the family can have produced, or say in which row it is not."""
        self.check(y)
        return Response(y)

    def check(self, y: Vector) -> None:
        """Raise ValueError, with the row, if the family cannot have produced ``y``."""

    def named(self, y: Vector) -> Any:
        """Return numbers that the family deals with as the user has them: the way back from `encode`."""
        return y

    def check_offset(self, offset: Vector) -> None:
        """Raise ValueError, with the row, if no finite mean goes with ``offset``."""

    def adapt_to(self, y: Vector, weights: Vector, offset: Vector) -> Family:
        """Return the family as it is fitted to y; other only where it takes a unit from it."""
        return self

    def start(self, y: Vector) -> Vector:
        """Return a linear predictor near ``y``, finite for every y that `check` accepts."""
        raise NotImplementedError

    def working(self, y: Vector, eta: Vector, sigma2: float) -> Working:
        """Return weights and targets at ``eta``."""
        raise NotImplementedError

    def coupling(self, y: Vector, eta: Vector) -> Any:
        """Return how rows hold each other near ``eta``; None: each stands alone, and `working` says all."""
        return None

    def mean(self, eta: Vector) -> Vector:
        """Return E[y]: the inverse link."""
        raise NotImplementedError

    def predicted(self, eta: Vector) -> Vector:
        """Return what is predicted of y: its mean, unless the family has something better to say."""
        return self.mean(eta)

    def link(self, mean: Vector) -> Vector:
        """Return the eta whose mean is ``mean``, held within finite bounds."""
        raise NotImplementedError

    def neg_log_likelihood(self, y: Vector, eta: Vector, sigma2: float) -> Vector:
        """Return -log p(y_i | eta_i) for each row, with every constant."""
        raise NotImplementedError

    def saturated(self, y: Vector) -> Vector:
        """Return -log p(y_i) where eta_i fits as well as it can."""
        return self.neg_log_likelihood(y, self.link(y), 1.0)

    def total(self, y: Vector, weights: Vector) -> float:
        """Return the n of the paper: how many observations tell of eta."""
        return float(weights.sum())

    def variance(self, eta: Vector, sigma2: float) -> Vector:
        """Return Var[y] given eta; needed only for ``predict(return_std=True)``."""
        raise NotImplementedError(f"{type(self).__name__} does not say its variance: give it a method for it")

    def update(self, y: Vector, eta: Vector, sigma2: float, weights: Vector) -> Family:
        """Return the family with what it estimates beside the coefficients set to its best value at eta."""
        return self

    @property
    def ratio(self) -> str | None:
        """What exp of a coefficient is; None where it is nothing that has a name."""
        return "odds_ratio" if self.is_binary else "rate_ratio" if self.log_link else None

    @property
    def nuisance(self) -> str | None:
        """The attribute that holds what is estimated beside the coefficients and sigma2, if anything is."""
        return None

    def with_nuisance(self, value: Any) -> Family:
        """Return the family with another value of its nuisance parameter, a number or an array."""
        if self.nuisance is None:
            return self
        plain = value if np.ndim(value) else float(value)
        changed: Family = replace(self, **{self.nuisance: plain})  # type: ignore[type-var]
        return changed

    def redraw(
        self, y: Vector, eta: Vector, sigma2: float, counts: Vector, rng: np.random.Generator
    ) -> Family:
        """Return the family with a draw of its nuisance parameter given eta."""
        return self

    def simulate(self, eta: Vector, sigma2: Any, rng: np.random.Generator) -> Vector:
        """Draw y given eta; needed only for the predictive distribution of `sample_posterior`."""
        raise NotImplementedError(
            f"{type(self).__name__} does not say how to draw y: give it a simulate method"
        )

    @property
    def has_density(self) -> bool:
        """Whether there is a density of y to sample with, and not only weights and targets."""
        return True

    def information(self) -> float | None:
        """Return sigma2 times the expected information of a row about eta, if the same for all.

        Then the spread of the coefficients comes from it. None: from the working weights.
        """
        return None

    def fisher(self, eta: Vector, sigma2: float) -> Vector | None:
        """Return sigma2 times the expected information of each row about eta; None: the working weights.

        At the mode the spread of the coefficients comes from it, whatever the weights on the way were.
        """
        return None

    def newton(self) -> Family | None:
        """Return the same likelihood with the weights of Newton's method; None: it has no other."""
        return None

    def scale(self, y: Vector, weights: Vector) -> float:
        """Return the unit of y on which the prior acts; other than 1 only for y = eta + noise."""
        return 1.0

    def intercept_alone(self, y: Vector, weights: Vector, offset: Vector) -> float:
        """Return an intercept near the best one without any column."""
        return weighted_median(self.start(y) - offset, weights)

    def boundary(self, y: Vector, weights: Vector, offset: Vector) -> float | None:
        """Return an intercept if the likelihood of y has none that is finite, as with all-zero counts."""
        return None

    def remark(self, y: Vector, eta: Vector) -> Status | None:
        """Return a status that says more of a fit than that it converged."""
        return None

    def is_unbounded_along(self, y: Vector, eta: Vector) -> bool:
        """Tell whether the likelihood never falls as eta grows by any factor: no finite one is best."""
        return False


@runtime_checkable
class Augmented(Protocol):
    """A family that is Gaussian given latent weights; others are sampled by proposals made of `working`."""

    def augment(
        self, y: Vector, eta: Vector, sigma2: float, counts: Vector, rng: np.random.Generator
    ) -> Working:
        """Draw the latent weights that make y Gaussian, times ``counts``; return them and the targets."""


@runtime_checkable
class Predictive(Protocol):
    """A family with a distribution function; of others, predictive intervals are those of the mean."""

    def cdf(self, y: Vector, eta: Vector, sigma2: float) -> Vector:
        """Return P(Y <= y) given eta."""


@runtime_checkable
class Direct(Protocol):
    """A family whose best fit without a prior is found at once, and not by steps from weights to weights."""

    def best(self, y: Vector, basis: Matrix, weights: Vector, tol: float) -> Vector:
        """Return the coefficients of the basis with the least loss, or one above it by the share ``tol``."""


@runtime_checkable
class Shares(Protocol):
    """A family whose y may be a share of trials; the numbers of trials are the sample weights."""

    def simulate_shares(self, eta: Vector, counts: Vector, rng: np.random.Generator) -> Vector:
        """Draw y given eta and the numbers of trials."""


@runtime_checkable
class Ordered(Protocol):
    """A family of ordered levels: thresholds between them take the place of the intercept."""

    # The levels, where they are labels.
    labels_: Any
    # The numbers that stand for the levels.
    points_: Vector
    thresholds_: Vector
    thresholds_std_: Vector
    # Whether no two rows of y were the same.
    continuous: bool

    @property
    def levels_(self) -> Any:
        """The levels, as y has them."""

    def probabilities(self, eta: Vector) -> Matrix:
        """Return the probability of each level, one row for each eta."""

    def deviation(self, eta: Vector) -> Vector:
        """Return the standard deviation of the numbers that stand for the levels, never zero."""

    def at_best(self, y: Vector, eta: Vector, weights: Vector) -> Any:
        """Return the family with the best thresholds at eta."""

    def with_threshold_se(self, std: Vector) -> Any:
        """Return the family with the standard deviations of its thresholds."""

    def with_intercept_absorbed(self, intercept: Any) -> Any:
        """Return the family with the intercept taken off its thresholds, which then do without."""

    def shared(self, y: Vector, eta: Vector, weights: Vector) -> Shared:
        """Return how eta and the thresholds curve the likelihood together, and the thresholds alone."""


def weighted_quantile(values: Vector, weights: Vector, level: float) -> float:
    """Return the middle of the values that have the share ``level`` of the weight below and the rest above.

    Examples
    --------
    >>> weighted_quantile(np.array([1.0, 5.0, 2.0]), np.array([1.0, 1.0, 2.0]), 0.9)
    5.0
    """
    order = np.argsort(values, kind="stable")
    reached, below = np.cumsum(weights[order]), level * float(weights.sum())
    low, high = int(np.searchsorted(reached, below, "left")), int(np.searchsorted(reached, below, "right"))
    last = values.size - 1
    return 0.5 * float(values[order[min(low, last)]] + values[order[min(high, last)]])


def weighted_median(values: Vector, weights: Vector) -> float:
    """Return the middle of the values that have half of the weight below and half above.

    Examples
    --------
    >>> weighted_median(np.array([1.0, 5.0, 2.0]), np.array([1.0, 1.0, 2.0]))
    2.0
    """
    return weighted_quantile(values, weights, 0.5)


def draw_positive(
    log_density: Callable[[float], float],
    value: float,
    bounds: tuple[float, float],
    rng: np.random.Generator,
) -> float:
    """Move a positive number by a slice of the density of its logarithm, within ``bounds``.

    Examples
    --------
    >>> 1.0 <= draw_positive(lambda t: 0.0, 2.0, (1.0, 3.0), np.random.default_rng(0)) <= 3.0
    True
    """
    low, high = math.log(bounds[0]), math.log(bounds[1])

    def within(t: float) -> float:
        return log_density(math.exp(t)) if low <= t <= high else -math.inf

    return math.exp(slice_step(within, min(max(math.log(value), low), high), high - low, rng))


def number_or_guess(name: str, value: Any, guess: float) -> float:
    """Return a fixed positive number, or the guess where it is to be estimated.

    Examples
    --------
    >>> number_or_guess("size", "estimate", guess=1.0), number_or_guess("size", 2.5, guess=1.0)
    (1.0, 2.5)
    """
    if isinstance(value, str) and value == "estimate":
        return guess
    return check_number(name, value, instead=" or 'estimate'")


def refuse(y: Vector, wrong: Any, why: str) -> None:
    """Raise an error that names the first row where ``wrong`` is true.

    Examples
    --------
    >>> refuse(np.array([1.0, -2.0]), np.array([False, True]), "is negative")
    Traceback (most recent call last):
    ValueError: y in row 1 is -2: it is negative
    """
    if wrong.any():
        row = int(np.argmax(wrong))
        raise ValueError(f"y in row {row} is {y[row]:g}: it {why}")


def best_positive(slope: Callable[[float], float], low: float, high: float) -> float:
    """Return where the slope of a log-likelihood changes sign between low and high, or the better end.

    Examples
    --------
    >>> round(best_positive(lambda t: 3.0 - t, 1.0, 10.0), 6)
    3.0
    """
    ends = math.log(low), math.log(high)
    if slope(math.exp(ends[0])) <= 0.0:
        return low
    if slope(math.exp(ends[1])) >= 0.0:
        return high
    from scipy.optimize import brentq  # imported here: most fits never need it

    return math.exp(brentq(lambda t: slope(math.exp(t)), *ends, xtol=1e-13))

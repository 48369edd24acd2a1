"""The driver: Algorithm 1 of the paper, for any likelihood, any prior, any engine, any shape.

`solve` repeats

1. `m_step`: the scales, from E[b^2] and E[RSS];
2. `refresh`: weights and targets at the current linear predictor (constant for Gaussian data);
3. `choose_e_step`: the engine, for what is still active;
4. the engine: mean and variance of the coefficients;
5. `_record`: change, objective, callback;
6. `prune`: leave out what is vanishing (sparse priors only);
7. `find_fixed_point`: Newton's method in the tail, once the active set has settled;

until the coefficients change by less than ``tol``, then sets what is negligible to exactly zero.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from farrier._types import Callback, FitResult, Iteration, Mask, Moments, Scales, Start, Status, Vector
from farrier.conditional.engines import EXACT_WARMUP, Context, Dual, EStep, Orthogonal, choose_e_step
from farrier.data.design import Identity, System, spread
from farrier.em.fast.fading import EXPANDABLE_LEVEL, Background, MatrixBackground, absorb
from farrier.em.fast.resting import LARGE, LazyDual
from farrier.em.fast.tail import Anderson, EMMap, find_fixed_point
from farrier.em.mstep import exact_noise_variance, m_step, noise_variance
from farrier.em.weights import Linearised, Quadratic, relative_change
from farrier.linalg import fitting_threads
from farrier.priors import GlobalPrior, LocalPrior, is_dense, is_sparse

PRUNE_LIMIT, CAREFUL_LIMIT = 0.05, 0.02
"""A column leaves when its leverage d_j x_j'M^-1 x_j and its gain E[b_j]^2 / (sigma2 d_j) are below this;"""
CAREFUL_FADING = 0.7
"""the second limit holds while the d_j of null coefficients fall by a smaller factor than this."""
PRUNE_SHARE, PRUNE_PAUSE, FEW_COLUMNS = 0.75, 4, 64
"""Columns leave when at most this share of the active ones would stay, or so many iterations after the last
that left; of a few columns, only then."""
SINGLE_CHANGE = 1e-3
"""Single precision is good enough while the coefficients change by more than this."""
SINGLE_SPREAD = 1e5
"""... and while sum_j d_j ||x_j||^2, which bounds the condition number, is below this."""
SETTLED_CHANGE = 0.05
"""The tail begins when no E[b_j^2] moves by more than this share of itself in one step ..."""
FADED_LEVEL = 1e-3
"""... and the background has faded below this."""
MOVING_LIMIT = 1e-3
"""The limit of pruning where weights move: there is no background, so what leaves must be negligible."""
GONE_LEVEL = 1e-4
"""A background below this is forgotten: the fixed point is the same without it."""
MAX_JUMPS = 40
"""Jumps to fixed points at fixed weights before EM takes over again."""
NEGLIGIBLE_SPREAD = 1e-3
"""Below this sum_j d_j ||x_j||^2 the columns do not see each other."""


class Options(NamedTuple):
    """How to run the loop; what each does to the answer is said in `HorseshoeRegressor`.

    ``prune`` and ``accelerate`` only make the same answer cheaper; without them this is plain EM.
    """

    coordinate: float = 2.0
    sigma2: float | str = "estimate"
    expectation: str = "exact"
    tol: float = 1e-5
    max_iter: int = 10_000
    zero_threshold: float | None = None
    prune: bool = True
    accelerate: bool = True
    callback: Callback | None = None
    random_state: int | np.random.Generator | None = None


def solve(
    problem: System | Quadratic | Linearised,
    prior: LocalPrior,
    tau: GlobalPrior,
    options: Options,
    start: Start | None = None,
) -> FitResult:
    """Find the posterior mode by EM with the coefficients as the missing data.

    ``problem`` is a likelihood on data; a `System` stands for the Gaussian one.

    Examples
    --------
    >>> from farrier.priors import HalfCauchy, Horseshoe
    >>> rng = np.random.default_rng(0)
    >>> x = np.asfortranarray(rng.standard_normal((50, 4)))
    >>> z = 2.0 * x[:, 1] + 0.1 * rng.standard_normal(50)
    >>> solve(System(x, z, size=50.0), Horseshoe(), HalfCauchy(), Options()).support
    array([False,  True, False, False])
    """
    if isinstance(problem, System):
        problem = Quadratic(problem)
    with fitting_threads(*problem.full.shape):
        if isinstance(problem, Linearised):
            problem.accelerate = options.accelerate
            if not problem.likelihood.has_dispersion:
                options = options._replace(sigma2=1.0)
        loop = _Loop(problem, prior, tau, options, problem.start() if start is None else start)
        status = loop.run()
        return loop.result(status)


class _Loop:
    """The state of one fit: what is active, and the last word on it."""

    def __init__(
        self,
        problem: Quadratic | Linearised,
        prior: LocalPrior,
        tau: GlobalPrior,
        options: Options,
        start: Start,
    ) -> None:
        self.problem, self.prior, self.tau, self.options = problem, prior, tau, options
        self.trace: list[Iteration] = []
        self.active = np.ones(start.mean.size, dtype=np.bool_)
        self.second_moment = start.second_moment
        self.expected_rss = start.expected_rss
        self.mean = start.mean
        self.background: Background | None = None
        self.moments: Moments | None = None
        self.scales = Scales(np.zeros_like(self.mean), self.tau.bounds[1], self._first_sigma2())
        self.fading, self.last_prune = 1.0, 0
        self.lazy: LazyDual | None = None
        self.stochastic = self.options.expectation == "stochastic"
        self.sparse = is_sparse(self.prior, self.options.coordinate)
        self.rng = np.random.default_rng(self.options.random_state)
        self.patience, self.next_polish = 2, (0 if self._can_polish() else self.options.max_iter)

    @property
    def system(self) -> System:
        """The least-squares problem of the active columns."""
        return self.problem.system

    def run(self) -> Status:
        options = self.options
        for iteration in range(options.max_iter):
            if self.mean.size == 0:
                return self._nothing_selected()
            self.scales = self._m_step(iteration)  # 1. Eqs. (16)-(18)
            self.problem.refresh(self.scales.sigma2)  # 2.
            engine = self._engine(iteration)  # 3.
            context = Context(self.background, self.moments, iteration)
            before = self.second_moment
            moments = self.problem.moments(engine, self.scales, context)  # 4. Eqs. (7)-(12)
            change = self._advance(self._accepted(moments, before))
            if self._record(change, engine.exact):  # 5.
                return Status.STOPPED
            done = max(change, self.problem.left_out) < self._tolerance()
            done = done and self.background is None and self.problem.fresh
            if not done and self.sparse and options.prune and iteration > 0 and self._prune():  # 6.
                continue
            if (self._settled(before) and self._polish()) or done:  # 7.
                return Status.CONVERGED
        return Status.MAX_ITER

    def _m_step(self, iteration: int) -> Scales:
        before = self.scales.sigma2
        sigma2 = self._sigma2(iteration)
        scales = m_step(self.prior, self.options.coordinate, self.tau, self.second_moment, sigma2)
        if self.sparse:  # d_j of a null coefficient, which is E[b_j^2] / (2 A sigma2), is multiplied by this
            self.fading = before / (2.0 * self.prior.null_rate(self.options.coordinate) * sigma2)
        if self.background is not None:
            self.background = self._fade(self.background, self.fading)
        return scales

    def _fade(self, background: Background, factor: float) -> Background | None:
        background = background.faded(factor)
        if isinstance(background, MatrixBackground):
            narrow = self.system.n_columns <= self.system.n_rows
            if narrow and factor < 1.0 and background.level < EXPANDABLE_LEVEL:
                return background.expanded(self.system)
        return background if background.level > GONE_LEVEL else None

    def _background_level(self) -> float:
        return 0.0 if self.background is None else self.background.level

    def _sigma2(self, iteration: int) -> float:
        if isinstance(self.options.sigma2, float):
            return self.options.sigma2
        if self.options.sigma2 == "exact" and iteration > 0:
            d = self.scales.prior_variance
            return exact_noise_variance(self.expected_rss, self.problem.size, self.second_moment, d)
        return noise_variance(self.expected_rss, self.problem.size)

    def _first_sigma2(self) -> float:
        known = self.options.sigma2
        return known if isinstance(known, float) else noise_variance(self.expected_rss, self.problem.size)

    def _engine(self, iteration: int) -> EStep:
        options, system = self.options, self.system
        if isinstance(system, Identity):
            return Orthogonal()
        cheap = self._cheap_engine(iteration)
        self.lazy = cheap if isinstance(cheap, LazyDual) else None
        return cheap or choose_e_step(
            system.n_rows,
            system.n_columns,
            options.expectation,
            iteration,
            background=self.background,
            rng=self.rng,
        )

    def _cheap_engine(self, iteration: int) -> EStep | None:
        """Return what stays on the path of a wide problem at less cost, if there is anything."""
        options, system = self.options, self.system
        apart = options.expectation == "approximate" and iteration >= EXACT_WARMUP
        if not (options.accelerate and options.prune and self.sparse) or self.stochastic or apart:
            return None
        if not self.problem.constant:
            return None
        wide = system.n_columns > system.n_rows
        if not (wide or isinstance(self.background, MatrixBackground)):
            return None
        spread = float(self.scales.prior_variance @ system.column_ss)
        if spread < NEGLIGIBLE_SPREAD:
            return Orthogonal()
        if spread > SINGLE_SPREAD or (self.trace and self.trace[-1].change < SINGLE_CHANGE):
            return None
        if wide and self.background is None and system.x.size > LARGE:
            return self.lazy or LazyDual(system)
        return Dual(single=True)

    def _advance(self, moments: Moments) -> float:
        """Take over the moments; return the paper's measure of change."""
        change = relative_change(moments.mean, self.mean)
        if self.background is not None:
            self.background = self.background.faded(moments.background_growth)
        self.moments, self.mean = moments, moments.mean
        self.second_moment, self.expected_rss = moments.second_moment, moments.expected_rss
        return change

    def _accepted(self, moments: Moments, before: Vector) -> Moments:
        """Return the moments around the mean that the likelihood lets us move to."""
        if isinstance(self.problem, Quadratic):
            return moments
        settled = bool(np.all(np.abs(moments.second_moment - before) < SETTLED_CHANGE * before))
        return moments._replace(mean=self.problem.accept(moments.mean, self.scales, self.mean, settled))

    def _record(self, change: float, exact: bool) -> bool:
        """Add a line to the trace; return whether the callback asks to stop."""
        clean = exact and self.background is None and self.problem.constant
        tau2, sigma2 = self.scales.tau2, self.scales.sigma2
        line = Iteration(change, self.objective() if clean else None, tau2, sigma2, self.system.n_columns)
        self.trace.append(line)
        return self.options.callback is not None and self.options.callback(line) is False

    def objective(self) -> float | None:
        """Return -log p(lambda, tau, sigma2 | z) of the active columns, the coefficients integrated out."""
        moments, scales, n = self.moments, self.scales, self.problem.size
        if moments is None or moments.log_det is None:
            return None
        lambda2, mean = scales.lambda2, moments.mean
        if not lambda2.all():  # a column that is orthogonal to z from the start
            lambda2, mean = lambda2[lambda2 > 0.0], mean[lambda2 > 0.0]
        rss = moments.expected_rss - scales.sigma2 * moments.fit_trace
        quadratic = rss + float((mean * mean / (scales.tau2 * lambda2)).sum())  # z' (I + X D X')^-1 z
        local = self.prior.neg_log_density(lambda2, self.options.coordinate)
        return (
            0.5 * n * math.log(scales.sigma2)
            + 0.5 * moments.log_det
            + 0.5 * quadratic / scales.sigma2
            + float(local.sum())
            + self.tau.neg_log_density(scales.tau2)
        )

    def _tolerance(self) -> float:
        """Return tol, or for averages of draws a tolerance that they can reach."""
        return max(self.options.tol, 1e-4) if self.stochastic else self.options.tol

    def _prune(self) -> bool:
        """Leave out the columns that only fade; return whether there were any."""
        assert self.moments is not None
        if isinstance(self.system, Identity) or self.stochastic:
            return False
        if self.fading > 1.0:
            return False  # the noise still falls so fast that nothing fades beside it
        paused = len(self.trace) < self.last_prune + PRUNE_PAUSE
        if paused and self.system.n_columns <= FEW_COLUMNS:
            return False
        limit = PRUNE_LIMIT if self.fading < CAREFUL_FADING else CAREFUL_LIMIT
        limit = limit if self.problem.constant else MOVING_LIMIT
        keep = worth_keeping(self.moments, self.scales, limit)
        k, kept = keep.size, int(keep.sum())
        if kept == k or (paused and kept > PRUNE_SHARE * k):
            return False  # a copy of the columns must pay
        share = self.second_moment / self.scales.sigma2
        if not self.problem.constant:
            pass  # what leaves is gone
        elif self.lazy is None:
            self.background = absorb(self.background, self.system, ~keep, share[~keep])
        elif kept <= self.system.n_rows:
            self.background = self.lazy.background(self.system, keep, share)
        else:
            return False  # what fades rests already
        self.last_prune = len(self.trace)
        self.active[self.active] = keep
        self.problem.take(keep)
        self.lazy = None
        self.moments, self.scales = self.moments.take(keep), self.scales.take(keep)
        self.mean, self.second_moment = self.mean[keep], self.second_moment[keep]
        return True

    def _settled(self, before: Vector) -> bool:
        """Tell whether only the tail is left: what is active stays, and hardly moves."""
        warming_up = self.options.expectation == "approximate" and len(self.trace) <= EXACT_WARMUP
        if warming_up or len(self.trace) < self.next_polish or self.system.n_columns > self.system.n_rows:
            return False
        if self._background_level() > FADED_LEVEL or self.scales.tau2 not in self.tau.bounds:
            return False
        return bool(np.all(np.abs(self.second_moment - before) < SETTLED_CHANGE * before))

    def _polish(self) -> bool:
        """Jump to the fixed point if that is safe; return whether this ends the fit.

        Where weights move, each jump is to the fixed point at fixed weights, and the next weights are taken
        where the last jumps lead together.
        """
        self.patience *= 2
        self.next_polish = len(self.trace) + self.patience
        mixer = Anderson()
        for _ in range(MAX_JUMPS):
            self.problem.refresh(self.scales.sigma2)
            if not self._jump():
                return False
            step, way = self.trace[-1].change, self.problem.move_on(mixer, self.scales, self.mean)
            if max(step, way) < self.options.tol:
                return True
            if self.problem.constant:
                return False
        return False

    def _jump(self) -> bool:
        """Go to the fixed point of EM on the least-squares problem at hand; return whether that was safe."""
        assert self.moments is not None
        known = self.options.sigma2 if isinstance(self.options.sigma2, float) else None
        approximate = self.options.expectation == "approximate"
        em = EMMap(self.system, self.prior, self.options.coordinate, self.tau, known, approximate)
        path = find_fixed_point(em, self.moments)
        if not path or len(self.trace) + len(path) > self.options.max_iter:
            return False
        self.background = None
        for scales, moments in path:
            self.scales = scales
            change = self._advance(moments)
            self._record(change, exact=not approximate)
        return True

    def _can_polish(self) -> bool:
        options = self.options
        return (
            options.accelerate
            and options.prune
            and self.sparse
            and not self.stochastic
            and options.sigma2 != "exact"
            and not isinstance(self.problem.full, Identity)
            and self.problem.exact_spread
        )

    def _nothing_selected(self) -> Status:
        none = np.zeros(0)
        known = self.options.sigma2
        sigma2 = self.problem.null_variance(known if isinstance(known, float) else None)
        self.scales = Scales(none, self.scales.tau2, sigma2)
        self.moments = Moments(none, none, sigma2 * self.problem.size, 0.0, 0.0)
        return Status.NOTHING_SELECTED

    def result(self, status: Status) -> FitResult:
        """Set what is negligible to zero and put the active columns back in their places."""
        if self.stochastic and self.system.n_columns:
            self._settle_stochastic()
        assert self.moments is not None
        coef = spread(self.active, self.moments.mean)
        coef[np.abs(coef) < self._thresholds()] = 0.0
        support = coef != 0.0
        covariance, center, intercept_variance = self.problem.uncertainty(self.scales)
        if covariance is not None:
            covariance = covariance.take(support[self.active]) if support.any() else None
        if status is Status.CONVERGED:
            status = (self.problem.remark() or status) if support.any() else Status.NOTHING_SELECTED
        low, high = self.tau.bounds
        return FitResult(
            coef=coef,
            intercept=self.problem.intercept(self.moments.mean),
            scales=self.scales._replace(lambda2=spread(self.active, self.scales.lambda2)),
            moments=self.moments._replace(
                mean=spread(self.active, self.moments.mean),
                variance=spread(self.active, self.moments.variance),
            ),
            active=self.active,
            status=status,
            tau_at_bound=low < high and self.scales.tau2 in (low, high),
            n_iter=len(self.trace),
            trace=tuple(self.trace),
            covariance=covariance,
            center=spread(self.active, center),
            intercept_variance=intercept_variance,
        )

    def _settle_stochastic(self) -> None:
        """Replace the running averages by the exact moments at the scales they led to."""
        exact = choose_e_step(*self.system.shape)
        if isinstance(self.system, Identity):
            exact = Orthogonal()
        self.moments = self.problem.moments(exact, self.scales)

    def _thresholds(self) -> Vector:
        """Return the size below which each coefficient is zero: 1/(5 sqrt n) on the standardised scale."""
        n = self.problem.size
        limit = self.options.zero_threshold
        if limit is None:
            limit = 0.0 if is_dense(self.prior) else 1.0 / (5.0 * np.sqrt(n))
        return np.asarray(limit * self.problem.response_scale / self.problem.full.column_scale)


def worth_keeping(moments: Moments, scales: Scales, limit: float = PRUNE_LIMIT) -> Mask:
    """Tell which columns do more than fade.

    E[b_j^2] changes by the factor (1 - leverage_j + gain_j) / (2A): where both are small, whatever the
    other columns do, the column is on its way to zero at the rate of a null coefficient.

    Examples
    --------
    >>> moments = Moments(np.array([1.0, 1e-9]), np.array([1e-4, 1e-8]), 1.0, 0.0, None)
    >>> worth_keeping(moments, Scales(np.array([1.0, 1e-8]), 1.0, 1.0))
    array([ True, False])
    """
    prior = scales.sigma2 * scales.prior_variance
    alive = moments.variance <= (1.0 - limit) * prior
    alive |= moments.mean**2 >= limit * prior
    return np.asarray(alive & (prior > 0.0))

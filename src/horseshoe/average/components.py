"""The components of the average: each fits every training set.

| component | what it is | wins where |
|---|---|---|
| mean | the intercept alone | there is nothing to find |
| ridge | averaged over its penalty, by cross-validation | all columns have a small effect |
| mode | a horseshoe mode, lambda power 1.5, from the best ridge | effects are many or correlated |
| net | an elastic net, averaged over its penalty | effects are many, some of them correlated |
| mixture | a normal mixture, started at the mode | some effects are large, some small |
| alone | a normal mixture, started at forward selection, or of very wide data at the lasso | few effects |

The mode is where the mixture starts, whoever is a component. Of a Gaussian response the net is a component in
its place, unless there are two rows or more for each column: there it gains nothing beside the other
components. It does not know of groups, of other families, or of several responses.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from horseshoe._lazy import lazy
from horseshoe._types import Matrix, Vector
from horseshoe.average.batch import Batch
from horseshoe.average.checkpoint import load_fits, save_fits
from horseshoe.average.elastic_net import net
from horseshoe.average.forward import forward
from horseshoe.average.lasso import lasso
from horseshoe.average.mixture import fit_mixture
from horseshoe.average.modes import Start, find_modes
from horseshoe.average.ridge import ridge_path
from horseshoe.average.ridge_path import Normal, Path, blended, may_start, over_penalties, training_normals
from horseshoe.average.sets import Fits, Sets, sizes
from horseshoe.data.standardise import SIGMA2_FLOOR
from horseshoe.em.m_step import Hyper
from horseshoe.priors import FixedScale, Horseshoe
from horseshoe.store.checkpoint import CheckpointSection

ROUNDS, SWEEPS = 6, 6
"""How often a mixture takes new weights where these move, and the most sweeps between."""
LONGEST = 2.0
"""How far the linear predictor of a row goes between new weights, where a longer way may overshoot."""
ROUND_TOL = 1e-2
"""The relative change of the coefficients at which it takes no more."""
SWEEP_TOL, LOOSE_SWEEP_TOL = 1e-3, 3e-2
"""The change at which sweeps end before that; the latter for classes and survival. Their weights are those of
EM, or overstate the curvature, and take small steps, so sweeps between new weights need not be exact: the
rounds judge the answer. It is not for
families with a noise variance, which sweeps move too, nor for Newton's weights, which take large steps: there
errors grew by a few per cent on truths to tune on."""

MANY_A_ROW, MANY = 20, 1000
"""With more columns than this for each row, and in all, forward selection is led astray by chance."""


class Fitting:
    """The training sets with what components share: the path of ridge regressions, and earlier components.

    Examples
    --------
    >>> from horseshoe.data.dense import Dense
    >>> from horseshoe.families import Gaussian
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((40, 6))
    >>> X -= X.mean(axis=0)
    >>> folds = tuple((np.flatnonzero(np.arange(40) % 2 != f), np.arange(f, 40, 2)) for f in range(2))
    >>> sets = Sets(Dense(X), X[:, 0], np.zeros(40), np.ones(40), folds, Gaussian())
    >>> Fitting(sets).component("horseshoe").coef[0].round(1)
    array([1., 1., 1.])
    """

    def __init__(
        self, sets: Sets, n_jobs: int | None = None, checkpoint: CheckpointSection | None = None
    ) -> None:
        self.sets, self.n_jobs, self.checkpoint = sets, n_jobs, checkpoint
        self._done: dict[str, Fits] = {}

    def component(self, name: str) -> Fits:
        """Return the fits of a component; each is fitted once, and kept if there is a checkpoint."""
        if name not in self._done:
            part = None if self.checkpoint is None else self.checkpoint.section(name)
            found = None if part is None else load_fits(part, self.sets.families)
            if found is None:
                found = self.sets.drop_intercepts(COMPONENTS[name].fit(self))
                if part is not None:
                    save_fits(part, found, self.sets.families)
            self._done[name] = found
        return self._done[name]

    @lazy
    def path(self) -> Path:
        """The ridge regressions."""
        return ridge_path(self.sets, self.normals)

    def forget_path(self) -> None:
        """Free the ridge regressions, by far the largest of many rows, once all is known of them."""
        if "ridge" in self._done:
            self.__dict__.pop("path", None)

    @lazy
    def normals(self) -> tuple[Normal, ...] | None:
        """The normal equations of each set, where these do not change and are small."""
        n, p = self.sets.columns.shape
        return training_normals(self.sets) if self.sets.family.constant_weights and p <= n else None

    @lazy
    def ridge_start(self) -> Start:
        """The ridge of largest evidence of each set, with the mean variance of its coefficients.

        Where outliers get little weight, the weights depend on how closely the rows are fitted, and the
        evidence says nothing: there it is the largest penalty.
        """
        sets, points = self.sets, self.path.points
        start = may_start(np.array([point.penalty for point in points]), sets.columns.shape[1])
        points = tuple(point for point, may in zip(points, start, strict=True) if may)
        if sets.family.is_location and not sets.family.constant_weights:
            points = points[:1]
        best = np.argmin([point.evidence for point in points], axis=0)
        every = range(sets.n_sets)
        chosen = [points[i] for i in best]
        solution = np.column_stack([point.solution[:, t] for point, t in zip(chosen, every, strict=True)])
        coef = self.path.coef(sets, solution)
        p = max(coef.shape[0], 1)
        sigma2, trace, penalty = (
            np.array([value[t] for value, t in zip(values, every, strict=True)])
            for values in (
                [point.sigma2 for point in chosen],
                [point.fit_trace for point in chosen],
                [np.full(sets.n_sets, point.penalty) for point in chosen],
            )
        )
        variance = sigma2 / penalty * np.maximum(1.0 - trace / p, 0.0)
        intercept = np.array([point.intercept[t] for point, t in zip(chosen, every, strict=True)])
        families = tuple(point.families[t] for point, t in zip(chosen, every, strict=True))
        return Start(coef, coef * coef + variance, intercept, sigma2, families)


class Component(NamedTuple):
    """A way to fit every training set: what it is, in a few words, how, and what it counts beforehand."""

    what: str
    fit: Callable[[Fitting], Fits]
    prior: float = 1.0


def _mean(fitting: Fitting) -> Fits:
    """Fit the intercepts: of other families than the Gaussian, the largest penalty is next to that."""
    sets, p = fitting.sets, fitting.sets.columns.shape[1]
    point = fitting.path.points[0]
    none, intercept = np.zeros((p, sets.n_sets)), point.intercept
    if sets.family.constant_weights and sets.center:
        intercept = (sets.weights.T @ sets.y) / sets.total
    return Fits(none, intercept, point.sigma2, none, point.families)


def _ridge(fitting: Fitting) -> Fits:
    """Average over the penalties, by cross-validation."""
    sets, points = fitting.sets, fitting.path.points
    size, times = sizes(sets)
    if sets.family.constant_weights:
        rows, folds = sets.tested
        left = [float(sets.counts[rows] @ (sets.y[rows] - point.eta[rows, folds]) ** 2) for point in points]
        losses = 0.5 * size * np.log(np.maximum(left, 1e-300))
    else:
        each = [sets.cross_validated(point.eta, point.sigma2, point.families) for point in points]
        losses = size / times * np.array(each)
    p = max(sets.columns.shape[1], 1)
    weights = over_penalties(losses, np.array([point.penalty for point in points]) / p)
    coef = fitting.path.coef(sets, blended(weights, [point.solution for point in points]))
    intercept = blended(weights, [point.intercept for point in points])
    best = points[int(np.argmax(weights))]
    known = not sets.family.has_dispersion
    sigma2 = best.sigma2 if known else blended(weights, [point.sigma2 for point in points])
    return Fits(coef, intercept, sigma2, np.full_like(coef, np.nan), best.families)


def _mode(fitting: Fitting) -> Fits:
    start = fitting.ridge_start
    fitting.forget_path()
    hyper = Hyper(Horseshoe(), fitting.sets.lambda_power, FixedScale(1.0))
    found = find_modes(fitting.sets, start, hyper, fitting.n_jobs, fitting.normals, fitting.checkpoint)
    fitting.normals = None  # no component needs them any more, and they may be large
    return found


def _net(fitting: Fitting) -> Fits:
    return net(fitting.sets)


def _mixture(start: str | None) -> Callable[[Fitting], Fits]:
    def fit(fitting: Fitting) -> Fits:
        begin = fitting.component("null" if start is None else start)
        if start is None:
            begin = _few(fitting.sets, begin)
        if fitting.sets.family.constant_weights:
            return _gaussian_mixture(fitting.sets, begin)
        return _moving_mixture(fitting.sets, begin)

    return fit


def _few(sets: Sets, begin: Fits) -> Fits:
    """Return what forward selection finds near the intercepts alone; the lasso, of very many columns."""
    eta = sets.eta(begin.coef, begin.intercept)
    targets, weights = sets.linearised(eta, begin.sigma2, begin.families)
    n, p = sets.columns.shape
    select = lasso if p > max(MANY_A_ROW * n, MANY) else forward
    coef = select(sets.stack(targets, weights))
    left = targets - sets.columns.matvec(coef)
    level = np.einsum("it,it->t", weights, left) / weights.sum(axis=0) if sets.center else begin.intercept
    found = begin._replace(coef=coef, intercept=level)
    return found if sets.family.never_overshoots else _held(sets, begin, found, eta, weights)


def _gaussian_mixture(sets: Sets, begin: Fits) -> Fits:
    targets, weights = sets.linearised(np.empty(0), begin.sigma2, begin.families)
    stack = sets.stack(targets, weights)
    residual = sets.y[:, None] - sets.columns.matvec(begin.coef) - begin.intercept
    sigma2 = np.einsum("it,it,it->t", weights, residual, residual) / sets.total
    found = fit_mixture(stack, begin.coef, np.maximum(sigma2, SIGMA2_FLOOR))
    return _with_intercepts(sets, targets, weights, found, begin)


@np.errstate(over="ignore", invalid="ignore")
def _moving_mixture(sets: Sets, begin: Fits) -> Fits:
    """Alternate between sweeps and new weights; a set that has converged stays as it is.

    Targets may be so far off that a set leads out of range: what is not finite is left out by the caller.
    """
    fits, pi, left = begin, None, np.arange(sets.n_sets)
    for _ in range(ROUNDS):
        eta = sets.eta(fits.coef, fits.intercept)
        families = sets.updated(fits.families, eta, fits.sigma2)
        targets, weights = (each[:, left] for each in sets.linearised(eta, fits.sigma2, families))
        before = fits._replace(families=families).only(left)
        share = np.array([family.noise_share for family in before.families])
        found = fit_mixture(
            Batch(sets.columns, targets, weights, sets.total[left], sets.center, share),
            before.coef,
            before.sigma2,
            pi=pi,
            known_noise=not sets.family.has_dispersion,
            tol=LOOSE_SWEEP_TOL if sets.small_steps else SWEEP_TOL,
            max_sweeps=SWEEPS,
        )
        after = _with_intercepts(sets, targets, weights, found, before)
        if not sets.family.never_overshoots:
            after = _held(sets, before, after, eta[:, left], weights)
        fits = fits.with_some(left, after)
        change = np.abs(after.coef - before.coef).sum(axis=0)
        moved = change > ROUND_TOL * (1.0 + np.abs(after.coef).sum(axis=0))
        left, pi = left[moved], (found.pi / found.pi.sum(axis=0))[:, moved]
        if not left.size:
            break
    return fits


def _held(sets: Sets, before: Fits, after: Fits, eta: Matrix, weights: Matrix) -> Fits:
    """Return the fits no farther than `LONGEST` from those before, in the linear predictor of any row."""
    moved = np.where(weights > 0.0, sets.eta(after.coef, after.intercept) - eta, 0.0)
    share = LONGEST / np.maximum(np.abs(moved).max(axis=0), LONGEST)
    coef = before.coef + share * (after.coef - before.coef)
    return after._replace(
        coef=coef, intercept=before.intercept + share * (after.intercept - before.intercept)
    )


def _with_intercepts(sets: Sets, targets: Matrix, weights: Matrix, found: Any, begin: Fits) -> Fits:
    intercept: Vector = np.zeros(found.sigma2.size)
    if sets.center:
        left = targets - sets.columns.matvec(found.coef)
        intercept = np.einsum("it,it->t", weights, left) / weights.sum(axis=0)
    sigma2 = np.maximum(found.sigma2, SIGMA2_FLOOR) if sets.family.has_dispersion else begin.sigma2
    return Fits(found.coef, intercept, sigma2, found.inclusion, begin.families)


COMPONENTS: dict[str, Component] = {
    "null": Component("{nothing}", _mean),
    "ridge": Component("ridge, averaged over its penalty by cross-validation", _ridge, prior=2.0),
    "horseshoe": Component(
        "horseshoe mode in lambda power {lambda_power:g}, from the ridge of largest evidence", _mode
    ),
    "elastic_net": Component("elastic net, averaged over its penalty by cross-validation", _net, prior=0.5),
    "mixture_horseshoe": Component("normal mixture started at the mode", _mixture("horseshoe"), prior=2.0),
    "mixture_forward": Component(
        "normal mixture started at forward selection or the lasso", _mixture(None), prior=2.0
    ),
}
"""Ridge counts twice beforehand, for effects in all columns, and so does each mixture, for effects of any
size in some. The net lies between, and counts half."""
GENERAL = ("null", "ridge", "horseshoe", "mixture_horseshoe", "mixture_forward")
PLAIN = ("null", "ridge", "elastic_net", "mixture_horseshoe", "mixture_forward")
"""The components of any average, and those of a Gaussian response without groups."""
NET_ROWS = 2.0
"""So many rows for each column, and the net is left out."""


def chosen_components(
    names: tuple[str, ...] | None, plain: bool, rows: float = 0.0, columns: int = 0
) -> tuple[str, ...]:
    """Return the names of the components: those asked for, or what is best of such data.

    ``plain`` says whether there is one Gaussian response, and no groups of columns; a row of weight 2
    is two of ``rows``.

    Examples
    --------
    >>> chosen_components(None, plain=False)
    ('null', 'ridge', 'horseshoe', 'mixture_horseshoe', 'mixture_forward')
    >>> chosen_components(None, True, 100, 10)
    ('null', 'ridge', 'mixture_horseshoe', 'mixture_forward')
    >>> chosen_components(("elastic_net",), plain=False)
    Traceback (most recent call last):
    ...
    ValueError: components has 'elastic_net', which is for one Gaussian response without groups of columns: \
leave it out
    """
    if names is None:
        few = ("elastic_net",) if rows >= NET_ROWS * columns else ()
        return tuple(name for name in PLAIN if name not in few) if plain else GENERAL
    if "elastic_net" in names and not plain:
        raise ValueError(
            "components has 'elastic_net', which is for one Gaussian response without groups of columns: "
            "leave it out"
        )
    return names


def prior_of(names: tuple[str, ...]) -> Vector:
    """Return what components count before a look at the data.

    Examples
    --------
    >>> prior_of(("null", "ridge"))
    array([1., 2.])
    """
    return np.array([COMPONENTS[name].prior for name in names])

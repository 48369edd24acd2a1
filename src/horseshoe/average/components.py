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

Several responses are fitted to the null model and by ridge one at a time. The mode has one local scale a
column for all of them, the mixtures are on rows of coefficients, and forward selection adds a column for
all.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from horseshoe._lazy import lazy
from horseshoe._types import Matrix, Vector
from horseshoe.average.batch import Batch
from horseshoe.average.checkpoint import load_fits, save_fits
from horseshoe.average.elastic_net import elastic_net
from horseshoe.average.forward import forward
from horseshoe.average.lasso import lasso
from horseshoe.average.mixture import Mixture, fit_mixture
from horseshoe.average.modes import find_modes
from horseshoe.average.ridge import ridge_paths
from horseshoe.average.ridge_path import (
    Normal,
    Path,
    Start,
    blended,
    over_penalties,
    ridge_start,
    training_normals,
)
from horseshoe.average.sets import Fits, Sets, fits_of, sizes
from horseshoe.average.softmax_ridge import softmax_ridge
from horseshoe.data.standardise import SIGMA2_FLOOR
from horseshoe.store.checkpoint import CheckpointSection

# The most sweeps of a mixture before it takes new weights, where these move.
SWEEPS = 6
# How far the linear predictor of a row goes between new weights, where a longer way may overshoot.
LONGEST = 2.0
# The relative change of the coefficients at which a mixture takes no more new weights.
ROUND_TOL = 1e-2
# The change at which sweeps of a mixture on several responses end, and the most of them: omega has a long
# tail, and with it the error of predictions does not change.
SEVERAL_TOL, SEVERAL_SWEEPS = 3e-3, 25
# With more columns than this for each row, and in all, forward selection is led astray by chance.
MANY_A_ROW, MANY = 20, 1000


class Fitting:
    """The training sets with what components share: the paths of ridge regressions, and earlier components.

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
    def paths(self) -> tuple[Path, ...]:
        """The ridge regressions of each response."""
        return ridge_paths(self.sets.responses, self.normals)

    @lazy
    def softmax_ridge(self) -> tuple[Fits, Start]:
        """The averaged ridge of classes that are fitted together, and where their modes start."""
        sets: Any = self.sets
        return softmax_ridge(sets)

    def forget_paths(self) -> None:
        """Free the ridge regressions, by far the largest of many rows, once all is known of them."""
        if "ridge" in self._done:
            self.__dict__.pop("paths", None)

    @lazy
    def normals(self) -> tuple[tuple[Normal, ...], ...] | None:
        """The normal equations of each response in each set, where these do not change and are small."""
        n, p = self.sets.columns.shape
        return training_normals(self.sets.responses) if self.sets.family.constant_weights and p <= n else None

    @lazy
    def ridge_start(self) -> Start:
        """Where modes start: the ridge of largest evidence of each set."""
        if self.sets.softmax:
            return self.softmax_ridge[1]
        each = [ridge_start(one, path) for one, path in zip(self.sets.responses, self.paths, strict=True)]
        if len(each) == 1:
            return each[0]
        values = [np.stack(values) for values in zip(*(one[:4] for one in each), strict=True)]
        return Start._make((*values, each[0].families, None))


class Component(NamedTuple):
    """A way to fit every training set: what it is, in a few words, how, and what it counts beforehand."""

    what: str
    fit: Callable[[Fitting], Fits]
    prior: float = 1.0


def _mean(fitting: Fitting) -> Fits:
    """Fit the intercepts: of other families than the Gaussian, the largest penalty is next to that."""
    sets = fitting.sets
    shape = (sets.columns.shape[1], sets.n_sets)
    if sets.softmax:
        level, free = sets.null
        none = np.zeros((len(level), *shape))
        return Fits(none, level, np.ones(sets.n_sets), none[0], sets.families, free)
    points = [path.points[0] for path in fitting.paths]
    found = [
        Fits(np.zeros(shape), one.intercept, one.sigma2, np.zeros(shape), one.families) for one in points
    ]
    fits = fits_of(found)
    if sets.family.constant_weights and sets.center:
        return fits._replace(intercept=sets.null[0])
    return fits


def _ridge(fitting: Fitting) -> Fits:
    """Average over the penalties, by cross-validation."""
    if fitting.sets.softmax:
        return fitting.softmax_ridge[0]
    each = zip(fitting.sets.responses, fitting.paths, strict=True)
    return fits_of([_ridge_of(sets, path) for sets, path in each])


def _ridge_of(sets: Sets, path: Path) -> Fits:
    """Average the path of one response."""
    points, (size, times) = path.points, sizes(sets)
    if sets.family.constant_weights:
        rows, folds = sets.tested
        left = [float(sets.counts[rows] @ (sets.y[rows] - point.eta[rows, folds]) ** 2) for point in points]
        losses = 0.5 * size * np.log(np.maximum(left, 1e-300))
    else:
        each = [sets.cross_validated(point.eta, point.sigma2, point.families) for point in points]
        losses = size / times * np.array(each)
    p = max(sets.columns.shape[1], 1)
    weights = over_penalties(losses, np.array([point.penalty for point in points]) / p)
    coef = path.coef(sets, blended(weights, [point.solution for point in points]))
    intercept = blended(weights, [point.intercept for point in points])
    best = points[int(np.argmax(weights))]
    known = not sets.family.has_dispersion
    sigma2 = best.sigma2 if known else blended(weights, [point.sigma2 for point in points])
    return Fits(coef, intercept, sigma2, np.full_like(coef, np.nan), best.families)


def _mode(fitting: Fitting) -> Fits:
    sets, start = fitting.sets, fitting.ridge_start
    if sets.softmax and not sets.columns.shape[1]:
        return fitting.component("null")
    fitting.forget_paths()
    found = find_modes(sets, start, fitting.n_jobs, fitting.normals, fitting.checkpoint)
    fitting.normals = None  # no component needs them any more, and they may be large
    return found


def _net(fitting: Fitting) -> Fits:
    return elastic_net(fitting.sets)


def _mixture(start: str | None) -> Callable[[Fitting], Fits]:
    def fit(fitting: Fitting) -> Fits:
        begin = fitting.component("null" if start is None else start)
        if start is None:
            begin = _few(fitting.sets, begin)
        fit_from = _gaussian_mixture if fitting.sets.family.constant_weights else _moving_mixture
        return fit_from(fitting.sets, begin)

    return fit


def _few(sets: Sets, begin: Fits) -> Fits:
    """Return what forward selection finds near the null model; the lasso, of very many columns."""
    eta = sets.eta(begin.coef, begin.intercept, begin.free)
    targets, weights = sets.linearised(eta, begin.sigma2, begin.families)
    n, p = sets.columns.shape
    data = sets.batch(targets - sets.explained(begin.free), weights)
    select = lasso if p > max(MANY_A_ROW * n, MANY) and begin.coef.ndim == 2 else forward
    found = begin._replace(coef=select(data).reshape(begin.coef.shape))
    found = sets.with_levels(found, targets, weights)
    return found if sets.never_overshoots else _held(sets, begin, found, eta, weights)


def _gaussian_mixture(sets: Sets, begin: Fits) -> Fits:
    targets, weights = sets.linearised(np.empty(0), begin.sigma2, begin.families)
    data = sets.batch(targets, weights)
    several: dict[str, Any] = {"tol": SEVERAL_TOL, "max_sweeps": SEVERAL_SWEEPS}
    found = fit_mixture(data, begin.coef.reshape(data.shape), **(several if begin.coef.ndim == 3 else {}))
    return sets.with_levels(_fits(sets, begin, found), targets, weights)


def _fits(sets: Sets, begin: Fits, found: Mixture) -> Fits:
    """Return the fits of a mixture, in the shape of those that it began with."""
    sigma2 = begin.sigma2
    if sets.family.has_dispersion:
        sigma2 = np.maximum(found.sigma2, SIGMA2_FLOOR).reshape(sigma2.shape)
    inclusion = found.inclusion if begin.sigma2.ndim == 2 else found.inclusion[0]
    return begin._replace(coef=found.coef.reshape(begin.coef.shape), sigma2=sigma2, inclusion=inclusion)


@np.errstate(over="ignore", invalid="ignore")
def _moving_mixture(sets: Sets, begin: Fits) -> Fits:
    """Alternate between sweeps and new weights; a set that has converged stays as it is.

    Targets may be so far off that a set leads out of range: what is not finite is left out by the caller.
    """
    fits, mix, left = begin, None, np.arange(sets.n_sets)
    for _ in range(sets.rounds):
        # 1. Weights and targets at the linear predictor.
        eta = sets.eta(fits.coef, fits.intercept, fits.free)
        families = sets.updated(fits.families, eta, fits.sigma2)
        targets, weights = (each[..., left] for each in sets.linearised(eta, fits.sigma2, families))
        before = fits._replace(families=families).only(left)
        # 2. Sweeps, and the intercepts that go with the coefficients.
        share = np.array([family.noise_share for family in before.families])
        known = sets.explained(before.free)
        data = Batch(sets.columns, targets - known, weights, sets.total[left], sets.center, share)
        found = fit_mixture(
            data,
            before.coef.reshape(data.shape),
            np.broadcast_to(before.sigma2, (data.shape[0], left.size)),
            weights=mix,
            known_noise=not sets.family.has_dispersion,
            freedom=sets.freedom,
            tol=sets.sweep_tol,
            max_sweeps=SWEEPS,
        )
        after = sets.with_levels(_fits(sets, before, found), targets, weights)
        # 3. No farther than is safe.
        if not sets.never_overshoots:
            after = _held(sets, before, after, eta[..., left], weights)
        fits = fits.with_some(left, after)
        # 4. Sets that have converged leave.
        size = np.abs(after.coef).reshape(-1, left.size).sum(axis=0)
        change = np.abs(after.coef - before.coef).reshape(-1, left.size).sum(axis=0)
        moved = change > sets.step_share * ROUND_TOL * (1.0 + size)
        left, mix = left[moved], ((found.pi / found.pi.sum(axis=0))[:, moved], found.omega[moved])
        if not left.size:
            break
    return fits


def _held(sets: Sets, before: Fits, after: Fits, eta: Any, weights: Matrix) -> Fits:
    """Return the fits no farther than `LONGEST` from those before, in the linear predictor of any row."""
    moved = np.abs(sets.eta(after.coef, after.intercept, after.free) - eta)
    moved = np.where(weights > 0.0, moved.max(axis=0) if moved.ndim == 3 else moved, 0.0)
    share = np.minimum(sets.step_share, LONGEST / np.maximum(moved.max(axis=0), 1e-300))

    def part(old: Any, new: Any) -> Any:
        return old + share * (new - old)

    free = None if after.free is None else part(before.free, after.free)
    level = part(before.intercept, after.intercept)
    return after._replace(coef=part(before.coef, after.coef), intercept=level, free=free)


# Ridge counts twice beforehand, for effects in all columns, and so does each mixture, for effects of any size
# in some. The net lies between, and counts half.
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
# The components of any average, and those of a Gaussian response without groups.
GENERAL = ("null", "ridge", "horseshoe", "mixture_horseshoe", "mixture_forward")
PLAIN = ("null", "ridge", "elastic_net", "mixture_horseshoe", "mixture_forward")
# So many rows for each column, and the net is left out.
NET_ROWS = 2.0


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

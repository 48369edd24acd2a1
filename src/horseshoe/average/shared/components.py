"""The components of the average for several Gaussian responses that share their columns.

They are those of `horseshoe.average.components`. The mean and ridge share nothing, and are fitted one
response at a time. The mode has one local scale a column for all responses, the mixtures are on rows of
coefficients, and forward selection adds a column for all.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from horseshoe.average.checkpoint import load_fits, save_fits
from horseshoe.average.components import Fitting
from horseshoe.average.ridge import ridge_paths
from horseshoe.average.ridge_path import Normal, with_targets
from horseshoe.average.sets import Fits, Sets
from horseshoe.average.shared.batch import Cube, SharedBatch
from horseshoe.average.shared.forward import shared_forward
from horseshoe.average.shared.mixture import fit_shared_mixture
from horseshoe.average.shared.modes import find_shared_modes
from horseshoe.data.standardise import SIGMA2_FLOOR
from horseshoe.em.m_step import Hyper
from horseshoe.priors import FixedScale, Horseshoe
from horseshoe.store.checkpoint import CheckpointSection

TOL, SWEEPS = 3e-3, 25
"""The change at which sweeps of a mixture end, and the most of them: omega has a long tail, and with it the
error of predictions does not change."""


class SharedFitting:
    """The training sets of each response, which are the same but for y, and what components have in common.

    Examples
    --------
    >>> from horseshoe.data.dense import Dense
    >>> from horseshoe.families import Gaussian
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((40, 6))
    >>> X -= X.mean(axis=0)
    >>> folds = tuple((np.flatnonzero(np.arange(40) % 2 != f), np.arange(f, 40, 2)) for f in range(2))
    >>> each = tuple(Sets(Dense(X), y, np.zeros(40), np.ones(40), folds, Gaussian()) for y in X.T[:2])
    >>> [fits.coef[:2, 2].round(1).tolist() for fits in SharedFitting(each).component("horseshoe")]
    [[1.0, 0.0], [0.0, 1.0]]
    """

    def __init__(
        self, each: tuple[Sets, ...], n_jobs: int | None = None, checkpoint: CheckpointSection | None = None
    ) -> None:
        self.sets, self.n_jobs, self.checkpoint = each, n_jobs, checkpoint
        self.each = tuple(Fitting(sets, n_jobs) for sets in each)
        self._done: dict[str, tuple[Fits, ...]] = {}
        first = self.each[0].normals
        normals = None if first is None else tuple(with_targets(sets, first) for sets in each)
        for k, (fitting, path) in enumerate(zip(self.each, ridge_paths(each, normals), strict=True)):
            fitting.__dict__["path"] = path
            fitting.__dict__["normals"] = None if normals is None else normals[k]

    def component(self, name: str) -> tuple[Fits, ...]:
        """Return the fits of a component, to each response; each is fitted once, and kept by a checkpoint."""
        if name not in self._done:
            parts = self._parts(name)
            kept = [load_fits(part, sets.families) for part, sets in zip(parts, self.sets, strict=False)]
            found = tuple(one for one in kept if one is not None)
            if len(found) < len(self.sets):
                own = SHARED.get(name)
                found = own(self) if own else tuple(fitting.component(name) for fitting in self.each)
                for part, fits, sets in zip(parts, found, self.sets, strict=False):
                    save_fits(part, fits, sets.families)
            self._done[name] = found
        return self._done[name]

    def _parts(self, name: str) -> list[CheckpointSection]:
        """Return where the fits of a component are kept; nowhere without a checkpoint."""
        checkpoint = self.checkpoint
        return (
            [] if checkpoint is None else [checkpoint.section(f"{name} {k}") for k in range(len(self.sets))]
        )

    def stack(self) -> SharedBatch:
        """Return the targets of all responses in all sets."""
        sets = self.sets[0]
        y = np.column_stack([one.y for one in self.sets])
        return SharedBatch(
            sets.columns, np.repeat(y[:, None], sets.n_sets, axis=1), sets.weights, sets.total, sets.center
        )


def _mode(fitting: SharedFitting) -> tuple[Fits, ...]:
    starts = tuple(one.ridge_start for one in fitting.each)
    normals: list[tuple[Normal, ...]] = []
    for one in fitting.each:
        one.forget_path()
        if one.normals is not None:
            normals.append(one.normals)
    hyper = Hyper(Horseshoe(), fitting.sets[0].lambda_power, FixedScale(1.0), size=float(len(starts)))
    return find_shared_modes(fitting.sets, starts, hyper, fitting.n_jobs, tuple(normals) or None)


def _mixture(fitting: SharedFitting) -> tuple[Fits, ...]:
    coef = np.stack([fits.coef for fits in fitting.component("horseshoe")], axis=2)
    return _fitted(fitting, fitting.stack(), coef)


def _alone(fitting: SharedFitting) -> tuple[Fits, ...]:
    data = fitting.stack()
    return _fitted(fitting, data, shared_forward(data))


def _fitted(fitting: SharedFitting, data: SharedBatch, start: Cube) -> tuple[Fits, ...]:
    """Fit the mixture from a start, and give each response its intercepts."""
    data.begin(start)
    sigma2 = np.maximum(data.rss() / data.n[:, None], SIGMA2_FLOOR)
    found = fit_shared_mixture(data, start, sigma2, tol=TOL, max_sweeps=SWEEPS)
    fits = []
    for k, sets in enumerate(fitting.sets):
        coef, noise = found.coef[..., k], np.maximum(found.sigma2[:, k], SIGMA2_FLOOR)
        intercept = np.zeros(sets.n_sets)
        if sets.center:
            left = sets.y[:, None] - sets.columns.matvec(coef)
            intercept = np.einsum("it,it->t", sets.weights, left) / sets.total
        fits.append(Fits(coef, intercept, noise, found.reach[..., k], (sets.family,) * sets.n_sets))
    return tuple(fits)


SHARED: dict[str, Callable[[SharedFitting], tuple[Fits, ...]]] = {
    "horseshoe": _mode,
    "mixture_horseshoe": _mixture,
    "mixture_forward": _alone,
}

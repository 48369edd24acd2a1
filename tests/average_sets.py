"""Training sets of a cross-validation, on data of every family."""

import numpy as np

from horseshoe.average.cox_sets import sets_of
from horseshoe.data.dense import Dense
from horseshoe.families import resolve_family
from simulate import DRAWS

NAMES = {"Gaussian": "gaussian", "Binomial": "binomial", "Poisson": "poisson", "Laplace": "laplace"}
NAMES |= {"StudentT": "student_t", "NegativeBinomial": "negative_binomial", "Gamma": "gamma"}
NAMES |= {"Tweedie": "tweedie", "Quantile": "quantile", "Huber": "huber", "Ordinal": "ordinal"}


def _without(n, *out):
    return tuple((np.setdiff1d(np.arange(n), o), np.asarray(o)) for o in out)


def _series(n):
    """Return folds that learn from what was before, and have not seen what comes."""
    ends = (n // 3, n // 2, 3 * n // 4)
    return tuple((np.arange(end), np.arange(end, min(end + n // 4, n))) for end in ends)


FOLDS = {
    "unequal": lambda n: _without(n, [0, 7, 9], np.arange(1, n, 4), [n - 1]),
    "series": _series,
    "halves": lambda n: _without(n, np.arange(0, n, 2), np.arange(1, n, 2)),
    "one sees all": lambda n: ((np.arange(n), np.arange(3)), *_without(n, [1, 2, 3, 4])),
}


def make_sets(
    family, n, p, folds="unequal", *, center=True, counts=False, offset=False, y=None, seed=0, home=Dense
):
    """Return sets of n rows and p columns, two of which matter; without intercepts X is not centred."""
    rng = np.random.default_rng(seed)
    family = resolve_family(family)
    X = rng.standard_normal((n, p)) + rng.uniform(-1.0, 1.0, p)
    times = rng.integers(1, 4, n).astype(float) if counts else np.ones(n)
    if center:
        X = X - np.average(X, axis=0, weights=times)
        X = X / np.sqrt(np.average(X**2, axis=0, weights=times))
    known = 0.3 * rng.standard_normal(n) if offset else np.zeros(n)
    eta = X[:, 0] - 0.7 * X[:, min(1, p - 1)]
    drawn = DRAWS[NAMES[type(family).__name__]](rng, eta + known) + (0.3 if family.is_location else 0.0)
    y = drawn if y is None else y
    folds = FOLDS[folds](n) if isinstance(folds, str) else folds
    y = np.asarray(y, dtype=float)
    return sets_of(home(np.asfortranarray(X)), y, known, times, folds, family.learn(y), center)

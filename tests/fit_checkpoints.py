"""Fits of every engine that are broken off: in this process, or in one that is killed.

As a program, ``python fit_checkpoints.py FOLDER``, it forks a process for each case that ends itself by
SIGKILL in the middle of the fit, and leaves the checkpoints in the folder.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from horseshoe import (
    AdaptiveClassifier,
    AdaptiveRegressor,
    AdaptiveSurvival,
    HorseshoeClassifier,
    HorseshoeRegressor,
    HorseshoeSurvival,
    files,
)
from horseshoe.data.sources.parts import ArrayParts
from horseshoe.store import checkpoint as store

RNG = np.random.default_rng(5)
NARROW, WIDE, LARGE = (RNG.standard_normal(shape) for shape in ((90, 30), (60, 150), (60, 2000)))
TALL, BOTH = RNG.standard_normal((5200, 12)), RNG.standard_normal((100, 260))
PARTS = ArrayParts(RNG.standard_normal((5200, 12)), axis=0, step=700)
BLOCKS = ArrayParts(RNG.standard_normal((60, 400)), axis=1, step=70)
SPARSE = sparse.random(120, 300, 0.1, format="csc", random_state=1)


def signal_of(X: Any) -> Any:
    X = X._array if isinstance(X, ArrayParts) else X
    return np.asarray(2.0 * X[:, [0]].sum(axis=1) - 1.5 * X[:, [1]].sum(axis=1)).ravel()


def noisy(X: Any) -> Any:
    return signal_of(X) + RNG.standard_normal(X.shape[0])


def labels(X: Any, *edges: float) -> Any:
    return np.digitize(noisy(X), edges or (0.0,))


class Case(NamedTuple):
    """A fit; ``news`` is after how many callbacks it is broken off."""

    make: Callable[..., Any]
    X: Any
    y: Any
    news: int = 6
    fit: Any = MappingProxyType({})

    def model(self, **options: Any) -> Any:
        return self.make().set_params(**options)


def regressor(**options: Any) -> Callable[[], Any]:
    return lambda: HorseshoeRegressor(**options)


LIVES = np.column_stack([RNG.exponential(np.exp(-signal_of(NARROW) / 2.0)), RNG.random(90) < 0.8])
CASES: dict[str, Case] = {
    "dense": Case(HorseshoeRegressor, WIDE, noisy(WIDE), 12),
    "narrow": Case(HorseshoeRegressor, NARROW, noisy(NARROW), fit={"sample_weight": np.arange(90) % 3 + 0.5}),
    "columns that rest": Case(HorseshoeRegressor, LARGE, noisy(LARGE), 8),
    "sparse": Case(HorseshoeRegressor, SPARSE, noisy(SPARSE), 10),
    "tall": Case(HorseshoeRegressor, TALL, noisy(TALL)),
    "plain EM, approximate": Case(regressor(expectation="approximate"), WIDE, noisy(WIDE), 14),
    "stochastic": Case(regressor(expectation="stochastic", random_state=3), NARROW, noisy(NARROW), 40),
    "conjugate gradient": Case(
        regressor(expectation="conjugate_gradient", random_state=3), BOTH, noisy(BOTH), 4
    ),
    "mixed": Case(regressor(prior="lasso"), WIDE, noisy(WIDE), 60),
    "groups, unpenalized": Case(
        regressor(feature_groups=np.repeat(range(15), 2), unpenalized=[4, 5]), NARROW, noisy(NARROW)
    ),
    "exact noise": Case(regressor(tau=0.1, slab=3.0), NARROW, noisy(NARROW)),
    "t": Case(regressor(family="student_t"), WIDE, noisy(WIDE), 15),
    "negative binomial": Case(
        regressor(family="negative_binomial"), WIDE, RNG.poisson(np.exp(0.5 * signal_of(WIDE))), 15
    ),
    "ordinal": Case(regressor(family="ordinal"), NARROW, labels(NARROW, -1.0, 1.0)),
    "several responses": Case(
        regressor(feature_groups=np.arange(150) // 3, unpenalized=[0, 1, 2]),
        WIDE,
        np.column_stack([noisy(WIDE), noisy(WIDE)]),
        10,
    ),
    "rows in parts": Case(HorseshoeRegressor, PARTS, noisy(PARTS)),
    "columns in parts": Case(HorseshoeRegressor, BLOCKS, noisy(BLOCKS), 10),
    "logistic, rows in parts": Case(HorseshoeClassifier, PARTS, labels(PARTS), 20),
    "t, rows in parts": Case(regressor(family="student_t"), PARTS, noisy(PARTS), 12),
    "logistic, columns in parts": Case(HorseshoeClassifier, BLOCKS, labels(BLOCKS), 30),
    "logistic": Case(HorseshoeClassifier, WIDE, labels(WIDE), 40),
    "logistic, columns that rest": Case(HorseshoeClassifier, LARGE, labels(LARGE), 25),
    "logistic, sparse": Case(HorseshoeClassifier, SPARSE, labels(SPARSE), 20),
    "logistic, tall": Case(HorseshoeClassifier, TALL, labels(TALL), 20),
    "one against the rest": Case(HorseshoeClassifier, NARROW, labels(NARROW, -1.0, 1.0), 60),
    "multinomial": Case(
        lambda: HorseshoeClassifier(multi_class="multinomial", feature_groups=np.arange(30) // 3),
        NARROW,
        labels(NARROW, -1.0, 1.0),
    ),
    "ties": Case(HorseshoeClassifier, np.hstack([NARROW, NARROW[:, :2]]), labels(NARROW), 20),
    "survival": Case(HorseshoeSurvival, NARROW, LIVES, 8),
    "average of survival": Case(lambda: AdaptiveSurvival(cv=3), NARROW, LIVES, 3),
    "average": Case(lambda: AdaptiveRegressor(cv=4), NARROW, noisy(NARROW), 3),
    "average of counts": Case(
        lambda: AdaptiveRegressor("poisson", cv=3), NARROW, RNG.poisson(np.exp(0.3 * signal_of(NARROW))), 3
    ),
    "average of several responses": Case(
        lambda: AdaptiveRegressor(cv=3), NARROW, np.column_stack([noisy(NARROW), noisy(NARROW)]), 3
    ),
    "average of classes together": Case(
        lambda: AdaptiveClassifier(cv=3, multi_class="multinomial"), NARROW, labels(NARROW, -1.0, 1.0), 3
    ),
    "average of classes": Case(
        lambda: AdaptiveClassifier(cv=3, n_jobs=2), NARROW, labels(NARROW, -1.0, 1.0), 7
    ),
}
ANSWERS = (
    "coef_",
    "intercept_",
    "coef_std_",
    "sigma2_",
    "n_iter_",
    "sparse_coef_",
    "inclusion_",
    "cv_error_",
)


class At:
    """A callback that does something when it is told so many news; ``news`` counts them."""

    def __init__(self, number: float, action: Callable[[], Any]) -> None:
        self.number, self.action, self.news = number, action, 0

    def __call__(self, news: Any) -> Any:
        self.news += 1
        return self.action() if self.news == self.number else None


def assert_same_fit(found: Any, wanted: Any) -> None:
    """Assert that two fits are the same, bit for bit."""
    assert found.status_ == wanted.status_
    for name in ANSWERS:
        if hasattr(wanted, name):
            assert np.array_equal(getattr(found, name), getattr(wanted, name)), name


def interrupt() -> None:
    raise KeyboardInterrupt


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def killed(case: Case, path: Path, writing: bool) -> None:
    """Fit, and die on the way; or while the checkpoint is written."""
    store.WRITE_INTERVAL, store.WRITE_SHARE = 0.0, np.inf  # at every round
    if writing:
        files.os.fsync = lambda _: At.__call__(written, None)  # type: ignore[assignment]
    written = At(min(case.news, 5), die)
    callback = At(np.inf if writing else case.news, die)
    case.model(callback=callback).fit(case.X, case.y, **case.fit, checkpoint=path)


def main(folder: Path) -> None:
    """Let a process for each case die; say how each ended."""
    for number, (name, case) in enumerate(CASES.items()):
        child = os.fork()
        if child == 0:
            try:
                killed(case, folder / f"{number}.npz", writing=number % 4 == 3)
            finally:
                os._exit(1)
        print(f"{name}: {os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])}", flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))

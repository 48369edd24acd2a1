"""Regressions that share their columns, beside the cross-validated peers that have them.

``python -m benchmarks.together`` prints the tables of docs/several.md: error, selection and CPU seconds over
``--replicates`` data sets, several responses beside scikit-learn's MultiTaskLassoCV, several classes beside
glmnet's multinomial lasso (python-glmnet's LogitNet), all with ten folds and one thread. Every method is
timed in the same process, in turns. ``--only responses`` or ``classes`` prints one of them.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.special import logsumexp

from benchmarks.selection import f1
from horseshoe import AdaptiveClassifier, AdaptiveRegressor, HorseshoeClassifier, HorseshoeRegressor

FOLDS, CORRELATION = 10, 0.5


class Setting(NamedTuple):
    """Rows, columns, responses or classes, columns with an effect, and the spread of the effects.

    They are the same for all responses or classes; without ``shared`` each response has so many of its own.
    """

    n: int
    p: int
    q: int
    signals: int
    size: float
    shared: bool = True

    def __str__(self) -> str:
        each = "" if self.shared else " each"
        return f"{self.n} x {self.p}, {self.q} of them, {self.signals} effects of sd {self.size:g}{each}"


class Score(NamedTuple):
    """Of one fit; the error is that of the means of new rows, or their log loss."""

    error: float
    found: int
    false: int
    f1: float
    seconds: float


RESPONSES = (
    Setting(100, 200, 5, 10, 1.0),
    Setting(100, 200, 5, 10, 0.3),
    Setting(300, 50, 4, 5, 0.5),
    Setting(100, 200, 5, 5, 1.0, shared=False),
)
CLASSES = (Setting(300, 50, 4, 5, 1.0), Setting(200, 300, 3, 5, 1.5), Setting(500, 30, 5, 8, 0.5))
Method = Callable[[], Any]


def columns(setting: Setting, n: int, rng: np.random.Generator) -> Any:
    """Return rows of correlated columns, AR(1)."""
    noise = rng.standard_normal((n, setting.p))
    out = noise.copy()
    for j in range(1, setting.p):
        out[:, j] = CORRELATION * out[:, j - 1] + np.sqrt(1.0 - CORRELATION**2) * noise[:, j]
    return out


def truth(setting: Setting, rng: np.random.Generator) -> Any:
    """Return effects of some of the columns on all responses or classes."""
    coef = np.zeros((setting.p, setting.q))
    if setting.shared:
        chosen = rng.choice(setting.p, setting.signals, replace=False)
        coef[chosen] = setting.size * rng.standard_normal((setting.signals, setting.q))
        return coef
    for own in coef.T:
        own[rng.choice(setting.p, setting.signals, replace=False)] = setting.size * rng.standard_normal(
            setting.signals
        )
    return coef


def responses(setting: Setting, seed: int) -> dict[str, Score]:
    """Fit every method to one data set with several responses."""
    from sklearn.linear_model import MultiTaskLassoCV

    rng = np.random.default_rng([seed, setting.n, setting.p])
    X, new, coef = columns(setting, setting.n, rng), columns(setting, 2000, rng), truth(setting, rng)
    Y = X @ coef + rng.standard_normal((setting.n, setting.q))
    methods: dict[str, Method] = {
        "HorseshoeRegressor": HorseshoeRegressor,
        "HorseshoeRegressor, each alone": lambda: Alone(HorseshoeRegressor),
        "AdaptiveRegressor": lambda: AdaptiveRegressor(cv=FOLDS),
        "AdaptiveRegressor, each alone": lambda: Alone(lambda: AdaptiveRegressor(cv=FOLDS)),
        "MultiTaskLassoCV": lambda: MultiTaskLassoCV(cv=FOLDS),
    }
    if setting.shared:
        del methods["AdaptiveRegressor, each alone"]

    def score(model: Any, seconds: float) -> Score:
        error = float(((model.predict(new) - new @ coef) ** 2).mean())
        sparse = getattr(model, "sparse_coef_", model.coef_)
        return Score(error, *_selection(np.any(sparse != 0.0, axis=0), coef), seconds)

    return {name: score(*_timed(make, X, Y)) for name, make in methods.items()}


class Alone:
    """Each response by itself."""

    def __init__(self, make: Method) -> None:
        self._make = make

    def fit(self, X: Any, Y: Any) -> Alone:
        """Fit one estimator to each column of Y."""
        self._models = [self._make().fit(X, y) for y in Y.T]
        self.coef_ = np.array([getattr(model, "sparse_coef_", model.coef_) for model in self._models])
        return self

    def predict(self, X: Any) -> Any:
        """Return the predictions side by side."""
        return np.column_stack([model.predict(X) for model in self._models])


def classes(setting: Setting, seed: int) -> dict[str, Score]:
    """Fit every method to one data set with several classes."""
    rng = np.random.default_rng([seed, setting.n, setting.p])
    X, new, coef = columns(setting, setting.n, rng), columns(setting, 2000, rng), truth(setting, rng)
    y = (X @ coef + rng.gumbel(size=(setting.n, setting.q))).argmax(axis=1)
    y[: setting.q] = np.arange(setting.q)
    eta = new @ coef
    share = np.exp(eta - logsumexp(eta, axis=1, keepdims=True))
    methods: dict[str, Method] = {
        "HorseshoeClassifier, multinomial": lambda: HorseshoeClassifier(multi_class="multinomial"),
        "HorseshoeClassifier, one against the rest": HorseshoeClassifier,
        "AdaptiveClassifier, multinomial": lambda: AdaptiveClassifier(cv=FOLDS, multi_class="multinomial"),
        "AdaptiveClassifier": lambda: AdaptiveClassifier(cv=FOLDS),
        "glmnet multinomial": Glmnet,
    }

    def score(model: Any, seconds: float) -> Score:
        seen = np.clip(model.predict_proba(new), 1e-300, None)
        error = float(-(share * np.log(seen)).sum(axis=1).mean())
        sparse = np.atleast_2d(getattr(model, "sparse_coef_", model.coef_))
        return Score(error, *_selection(np.any(sparse != 0.0, axis=0), coef), seconds)

    return {name: score(*_timed(make, X, y)) for name, make in methods.items()}


class Glmnet:
    """glmnet's multinomial lasso at the penalty with the best cross-validated log loss.

    The folds are ours, for the package scores classes by another loss; and so is the softmax, for it takes
    the logistic function of each class instead.
    """

    def fit(self, X: Any, y: Any) -> Glmnet:
        """Fit the path to all rows and without each fold."""
        from glmnet import LogitNet  # type: ignore[import-untyped]
        from sklearn.model_selection import StratifiedKFold

        def path(rows: Any, penalties: Any = None) -> Any:
            return LogitNet(alpha=1, n_splits=0, lambda_path=penalties).fit(X[rows], y[rows])

        whole = path(np.arange(len(y)))
        penalties, losses = whole.lambda_path_, []
        for rows, left in StratifiedKFold(FOLDS, shuffle=True, random_state=0).split(X, y):
            found = path(rows, penalties)
            eta = np.einsum("ij,kjl->ikl", X[left], found.coef_path_) + found.intercept_path_
            own = eta[np.arange(left.size), y[left]] - logsumexp(eta, axis=1)
            losses.append(-own.sum(axis=0))
        common = min(one.size for one in losses)  # a path may end early
        best = int(np.argmin(sum(one[:common] for one in losses)))
        self.coef_, self.intercept_ = whole.coef_path_[..., best], whole.intercept_path_[..., best]
        return self

    def predict_proba(self, X: Any) -> Any:
        """Return the probabilities of the classes."""
        eta = X @ self.coef_.T + self.intercept_
        return np.exp(eta - logsumexp(eta, axis=1, keepdims=True))


def _timed(make: Method, X: Any, y: Any) -> tuple[Any, float]:
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = make().fit(X, y)
    return model, time.process_time() - start


def _selection(chosen: Any, coef: Any) -> tuple[int, int, float]:
    real = coef.any(axis=1)
    found, false = int((chosen & real).sum()), int((chosen & ~real).sum())
    return found, false, f1(found, false, int(real.sum()))


def table(run: Callable[[Setting, int], dict[str, Score]], setting: Setting, replicates: int) -> str:
    """Return the rows of one setting: means, and the difference in error to the peer in standard errors."""
    found = [run(setting, seed) for seed in range(replicates)]
    peer = np.array([one[list(one)[-1]].error for one in found])
    lines = []
    for name in found[0]:
        scores = np.array([one[name] for one in found])
        error, hits, false, share, seconds = scores.mean(axis=0)
        gap = scores[:, 0] - peer
        z = gap.mean() / (gap.std(ddof=1) / np.sqrt(replicates)) if gap.any() else 0.0
        lines.append(
            f"| {setting} | {name} | {error:.4f} | {z:+.1f} | {hits:.1f} | {false:.1f} | {share:.2f} | "
            f"{seconds:.3f} |"
        )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--replicates", type=int, default=50)
    parser.add_argument("--only", choices=("responses", "classes"))
    chosen = parser.parse_args()
    kinds = {"responses": (responses, RESPONSES, "model error"), "classes": (classes, CLASSES, "log loss")}
    for kind, (run, settings, error) in kinds.items():
        if chosen.only in (None, kind):
            print(f"\n| {kind} | method | {error} | z | found | false | F1 | CPU s |\n{'|---' * 8}|")
            for setting in settings:
                print(table(run, setting, chosen.replicates), flush=True)


if __name__ == "__main__":
    main()

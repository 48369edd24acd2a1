"""What is known of variables and rows, for every estimator and the sampler, and one response or several.

Six estimators and the sampler, times the kinds of response that each explains, times feature groups,
unpenalised variables, prior scales, a slab, sparse X, weights, and a fit that is interrupted and resumed.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from functools import partial
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from benchmarks.answers.cases import DRAWN, SHORT, Named, Options, Record
from benchmarks.answers.library import LIBRARY

SHAPES = {"small": (90, 12), "wide": (48, 96)}
AMOUNTS = ("gamma", "tweedie", "quantile", "huber", "student_t", "laplace", "poisson", "negative_binomial")
RESPONSES = {
    "Regressor": ("gaussian", *AMOUNTS, "ordinal", "several"),
    "Classifier": ("two", "one_vs_rest", "multinomial"),
    "Survival": ("one stratum", "strata"),
}
SAMPLED = ("gaussian", "several", "gamma", "quantile", "ordinal", "binomial", "multinomial", "survival")
STRUCTURES = ("plain", "groups", "unpenalized", "prior scale", "slab", "sparse", "weights", "resumed")
ASKED = (
    *(
        "coef",
        "intercept",
        "coef_std",
        "lambda2",
        "tau2",
        "sigma2",
        "support",
        "kappa",
        "thresholds",
        "n_iter",
    ),
    *("sparse_coef", "sparse_intercept", "inclusion", "component_weights", "calibration_slope", "cv_error"),
    *("cv_prediction", "status"),
)
NOT_OF_AVERAGES, NOT_OF_MODES = ("kappa",), ("calibration_slope",)
BROKEN_OFF = 2
"""After so many callbacks a fit is interrupted."""


class Task(NamedTuple):
    """A kind of estimator, a response, a shape of X, and what is known."""

    estimator: str
    response: str
    shape: str
    structure: str

    @property
    def name(self) -> str:
        """All of it."""
        return "/".join(self).replace(" ", "_")


class Data(NamedTuple):
    """What a fit is given."""

    X: Any
    y: Any
    more: Options


def draw(task: Task) -> Data:
    """Draw X, y, and what else the fit needs."""
    rng = np.random.default_rng(zlib.crc32(f"{task.response}/{task.shape}".encode()))
    n, p = SHAPES[task.shape]
    X = rng.standard_normal((n, p)) + 0.5 * rng.standard_normal((n, 1))
    eta = X[:, 0] - 0.8 * X[:, 3] + 0.5 * X[:, 6]
    more: Options = {"strata": np.arange(n) % 3} if task.response == "strata" else {}
    if task.structure == "weights":
        more["sample_weight"] = rng.integers(0, 4, n).astype(float)
    if task.structure == "sparse":
        X = X * (rng.random((n, p)) < 0.4)
        eta = X[:, 0] - 0.8 * X[:, 3] + 0.5 * X[:, 6]
        return Data(sparse.csc_array(X), respond(task, eta, rng), more)
    return Data(X, respond(task, eta, rng), more)


def respond(task: Task, eta: Any, rng: np.random.Generator) -> Any:
    """Draw the response."""
    kind, n, mean = task.response, eta.size, np.exp(0.5 * eta)
    lives = np.column_stack([rng.exponential(1.0 / mean), rng.random(n) < 0.8])
    score = 1.5 * eta + rng.logistic(size=n)
    drawn = {
        "gamma": mean * rng.gamma(4.0, 0.25, n) + 1e-6,
        "tweedie": rng.poisson(mean) * mean * rng.gamma(2.0, 0.5, n),
        "poisson": rng.poisson(mean),
        "negative_binomial": rng.poisson(mean * rng.gamma(2.0, 0.5, n)),
        "ordinal": np.digitize(score, [-1.5, 0.0, 1.5]),
        "several": np.column_stack([eta, -eta, 0.3 * eta]) + rng.standard_normal((n, 3)),
        "two": np.where(score > 0.0, "yes", "no"),
        "binomial": np.where(score > 0.0, "yes", "no"),
    }
    drawn |= dict.fromkeys(("one_vs_rest", "multinomial"), np.digitize(score, [-1.0, 1.0]))
    drawn |= dict.fromkeys(("one stratum", "strata", "survival"), lives)
    return drawn.get(kind, eta + rng.standard_t(5.0, n))


def known(task: Task) -> Options:
    """Return the options that say what is known of the variables."""
    p = SHAPES[task.shape][1]
    options: dict[str, Options] = {
        "groups": {"feature_groups": np.arange(p) // 3},
        "unpenalized": {"unpenalized": [0, 4]},
        "prior scale": {"prior_scale": 1.0 + np.arange(p) % 3},
        "slab": {"slab": 2.0},
    }
    return options.get(task.structure, {})


def estimator(task: Task, **more: Any) -> Any:
    """Return the estimator of a task."""
    options = {**known(task), **more}
    if task.response in AMOUNTS or task.response == "ordinal":
        options["family"] = (
            LIBRARY.family("Quantile", level=0.7) if task.response == "quantile" else task.response
        )
    if task.response in ("one_vs_rest", "multinomial"):
        options["multi_class"] = task.response
    if task.estimator.startswith("Adaptive"):
        options["cv"] = 4
    else:
        options["max_iter"] = 300
    return LIBRARY.call(task.estimator, **options)


def interrupted(task: Task, data: Data) -> Any:
    """Return an estimator whose fit was interrupted, and resumed from its checkpoint."""
    news = iter(range(BROKEN_OFF))

    def interrupt(*_: Any) -> None:
        if next(news, None) is None:
            raise KeyboardInterrupt

    with TemporaryDirectory() as folder:
        place = Path(folder) / "fit.checkpoint"
        try:
            estimator(task, callback=interrupt).fit(data.X, data.y, **data.more, checkpoint=place)
        except KeyboardInterrupt:
            assert place.exists()
        return estimator(task).fit(data.X, data.y, **data.more, checkpoint=place)


def fit(task: Task) -> Record:
    """Return the answers of an estimator."""
    data = draw(task)
    model = interrupted(task, data) if task.structure == "resumed" else None
    model = estimator(task).fit(data.X, data.y, **data.more) if model is None else model
    none = NOT_OF_AVERAGES if task.estimator.startswith("Adaptive") else NOT_OF_MODES
    found = {name: LIBRARY.get(model, f"{name}_") for name in ASKED if name not in none}
    found["predict"] = model.predict(data.X[:5])
    if hasattr(model, "predict_proba"):
        found["probability"] = model.predict_proba(data.X[:5])
    if task.estimator.startswith("Adaptive"):
        found["coef_interval"] = model.coef_interval()
        if task.estimator == "AdaptiveRegressor":
            found["interval"] = model.predict_interval(data.X[:5])
    return {
        name: value for name, value in found.items() if value is not None and not isinstance(value, tuple)
    }


def sample(task: Task) -> Record:
    """Return the draws of a short run."""
    data = draw(task)
    if task.response in ("multinomial", "survival"):
        asked = task._replace(
            estimator="HorseshoeSurvival" if task.response == "survival" else "HorseshoeClassifier"
        )
        short = {key: value for key, value in SHORT.items() if key != "n_jobs"}
        run = estimator(asked).fit(data.X, data.y, **data.more).sample_posterior(**short)
    else:
        family = "gaussian" if task.response == "several" else task.response
        run = LIBRARY.call("sample_posterior", data.X, data.y, family, **SHORT, **known(task), **data.more)
    drawn = {name: LIBRARY.get(run, name) for name in DRAWN}
    return {name: value for name, value in drawn.items() if value is not None}


def takes(task: Task) -> bool:
    """Tell whether there is such a fit: an average has no slab, and a run is not broken off."""
    if task.estimator.startswith("Adaptive"):
        return task.structure != "slab"
    return task.estimator != "sampler" or task.structure != "resumed"


def structured_fits() -> Iterator[Named]:
    """Yield the name of each fit, and a function that makes it."""
    for (kind, responses), way in product(RESPONSES.items(), ("Horseshoe", "Adaptive")):
        tasks = (Task(f"{way}{kind}", *rest) for rest in product(responses, SHAPES, STRUCTURES))
        yield from ((f"fit/{task.name}", partial(fit, task)) for task in tasks if takes(task))


def structured_runs() -> Iterator[Named]:
    """Yield the name of each posterior run, and a function that makes it."""
    tasks = (Task("sampler", *rest) for rest in product(SAMPLED, SHAPES, STRUCTURES))
    return ((f"run/{task.name}", partial(sample, task)) for task in tasks if takes(task))

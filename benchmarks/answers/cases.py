"""Single modes and posterior runs of one response: every family, prior, shape, kind of rows and option."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from functools import partial
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from benchmarks.answers.library import LIBRARY

Record = dict[str, Any]
Options = dict[str, Any]
Named = tuple[str, Callable[[], Record]]

CLASSIFIERS = {"classes": "polya_gamma", "classes_irls": "irls", "three_classes": "polya_gamma"}
NOISY, COUNTS = ("gaussian", "student_t", "laplace"), ("poisson", "negative_binomial")
FAMILIES = (*NOISY, *COUNTS, "classes", "classes_irls")
SPARSE = ("horseshoe", "strawderman_berger", "horseshoe_like", "inverted_beta")
PRIORS = (*SPARSE, "lasso", "normal_gamma", "student_t", "ridge")
OBJECTS = {"inverted_beta": ("InvertedBeta", 0.4, 0.7), "inverse_gamma": ("InverseGammaGlobal", 2.0, 0.5)}
"""Priors that have no name of their own."""
SHAPES = {"small": (120, 12), "square": (60, 60), "wide": (50, 150)}
ALL_SHAPES = {**SHAPES, "wider": (70, 350), "widest": (80, 1500), "tall": (6000, 15)}
ROWS = ("plain", "fractional", "whole", "offset", "both")
CYCLES: tuple[tuple[int, tuple[int, ...], Options], ...] = (
    (7, (1, 3, 5), {"lambda_power": 1.5}),
    (11, (2, 6, 9), {"expectation": "approximate"}),
    (17, (4, 10), {"expectation": "stochastic", "random_state": 3, "max_iter": 100}),
    (13, (0, 4, 8, 11), {"tau": 0.05}),
    (19, (7, 13), {"fit_intercept": False}),
    (23, (9, 15), {"standardize": False}),
)
"""Options of the grid: which of so many cases in turn have them. The numbers share no factors."""
EDGES: dict[str, tuple[str, ...]]
EDGES = dict.fromkeys(("no_signal", "far_columns", "constant_columns"), FAMILIES)
EDGES |= {"constant_y": FAMILIES[:5], "zero_counts": COUNTS, "separable": FAMILIES[5:]}
SHORT: Options = {"n_chains": 2, "n_warmup": 60, "n_draws": 60, "random_state": 5, "n_jobs": 1}
FITTED = ("coef", "intercept", "coef_std", "lambda2", "tau2", "sigma2", "support", "kappa")
DRAWN = ("coef", "intercept", "tau2", "sigma2", "kappa", "lambda2", "nuisance", "acceptance")


class Case(NamedTuple):
    """One data set, and the options of what is fitted to it."""

    family: str
    prior: str = "horseshoe"
    shape: str = "small"
    rows: str = "plain"
    twist: str = "usual"
    options: Options = {}  # noqa: RUF012

    @property
    def name(self) -> str:
        """All of it in words; the seed of the data is made from it."""
        return "/".join([*self[:5], *(f"{key}={value}" for key, value in sorted(self.options.items()))])

    @property
    def arguments(self) -> Options:
        """The options, with objects for priors that have no name."""
        given = {**self.options, "prior": self.prior}
        return {k: LIBRARY.prior(*OBJECTS[v]) if v in OBJECTS else v for k, v in given.items()}


def make_data(case: Case) -> list[Any]:
    """Draw X, with correlated columns of which five have effects, y, weights and offset."""
    rng = np.random.default_rng(zlib.crc32(case.name.encode()))
    n, p = ALL_SHAPES[case.shape]
    X = rng.standard_normal((n, p)) + 0.5 * rng.standard_normal((n, 1))
    effects = np.zeros(p)
    effects[:: p // 5][:5] = [1.0, -0.8, 0.6, -0.4, 0.2]
    offset = rng.uniform(-0.5, 0.5, n) if case.rows in ("offset", "both") else None
    eta = 0.3 + X @ (effects * (case.twist != "no_signal")) + (0.0 if offset is None else offset)
    whole, fractions = rng.integers(0, 4, n).astype(float), rng.uniform(0.2, 2.0, n)
    weights = {"fractional": fractions, "both": fractions, "whole": whole}.get(case.rows)
    return [*twisted(X, draw_response(case.family, eta, rng), case.twist), weights, offset]


def draw_response(family: str, eta: Any, rng: np.random.Generator) -> Any:
    """Draw y of a family at the linear predictor ``eta``; labels for the classifiers."""
    n, mean = eta.size, np.exp(np.clip(0.7 * eta, -3.0, 3.0))
    if family in COUNTS:
        return rng.poisson(mean if family == "poisson" else mean * rng.gamma(2.0, 0.5, n))
    if family == "three_classes":
        return np.digitize(eta + rng.logistic(size=n), [-0.5, 1.0])
    if family in (*CLASSIFIERS, "binomial"):
        return np.where(2.0 * eta + rng.logistic(size=n) > 0.0, "yes", "no")
    heavy = {"student_t": rng.standard_t(3.0, n), "laplace": rng.laplace(size=n)}
    return eta + heavy.get(family, rng.standard_normal(n))


def twisted(X: Any, y: Any, twist: str) -> tuple[Any, Any]:
    """Return the data of the edge cases; any other as they are."""
    if twist in ("constant_y", "zero_counts"):
        y = np.full(y.shape, 3.0 if twist == "constant_y" else 0.0)
    if twist == "separable":
        y = np.where(X[:, 0] > 0.1, "yes", "no")
    if twist == "constant_columns":
        X[:, 1], X[:, -1] = 2.0, 0.0
    return (X + 1e6 if twist == "far_columns" else X), y


def grid() -> Iterator[Case]:
    """Every family with every prior on three shapes; rows and options in turn."""
    for i, (family, prior, shape) in enumerate(product(FAMILIES, PRIORS, SHAPES)):
        options: Options = {"max_iter": 300}
        for length, chosen, more in CYCLES:
            options |= more if i % length in chosen else {}
        yield Case(family, prior, shape, ROWS[i % len(ROWS)], options=options)


def special() -> Iterator[Case]:
    """Yield what the grid does not have: other shapes, starts and scales, and the edges."""
    for i, family in enumerate(FAMILIES):
        yield Case(family, options={"lambda_power": 1, "max_iter": 300})
        yield Case(family, shape="wider", rows=ROWS[(i + 1) % 5])
        yield Case(family, shape="tall")
        yield Case(family, SPARSE[i % 4], "tall", "both", options={"lambda_power": 1.5, "max_iter": 300})
        yield Case(family, rows=ROWS[i % 5], twist="warm")
        yield Case(family, SPARSE[i % 4], "wide", twist="warm")
        yield Case(family, "lasso", options={"tau_max": 0.1, "zero_threshold": 0.0, "tol": 1e-4})
        yield Case(family, "normal_gamma", options={"tau": "inverse_gamma", "max_iter": 60})
    for shape in SHAPES:
        yield from (Case(family, shape=shape, options={"sigma2": 0.8}) for family in NOISY)
        yield from (Case("gaussian", prior, shape, options={"start": "variance"}) for prior in SPARSE)
        yield Case("gaussian", "student_t", shape, options={"sigma2": "exact", "max_iter": 300})
        yield Case("three_classes", shape=shape, rows="fractional")
    yield Case("classes", rows="whole", options={"class_weight": "balanced"})
    for prior, rows in zip(SPARSE, ROWS, strict=False):
        yield Case("gaussian", prior, "widest", rows)
        yield Case("gaussian", prior, "wider", rows, options={"expectation": "approximate"})
    yield Case("gaussian", shape="widest", rows="both", options={"lambda_power": 1.5})
    yield from (Case(family, shape="widest", options={"max_iter": 100}) for family in FAMILIES[2:6])
    for twist, families in EDGES.items():
        yield from (Case(f, shape=s, twist=twist) for f, s in product(families, ("small", "wide")))


def fits() -> Iterator[Named]:
    """Yield the name of each fit, and a function that makes it."""
    choices: tuple[Options, ...] = ({}, {"sigma2": 1.0}, {"lambda_power": 1.5, "tau": 0.05})
    means = [Case("means", prior, "tall", options=options) for prior, options in product(PRIORS, choices)]
    for case in (*grid(), *special(), *means):
        yield f"fit/{case.name}", partial(fit_means if case.family == "means" else fit, case)


def fit_means(case: Case) -> Record:
    """Return the answers of `normal_means` to sparse means in unit noise."""
    y = make_data(case)[0][:200, 0] + np.where(np.arange(200) % 10 == 0, 5.0, 0.0)
    found = LIBRARY.call("normal_means", y, **case.arguments)
    answers = {name: getattr(found, name) for name in ("coef", "support", "n_iter", "status")}
    return {**answers, **found.scales._asdict(), "variance": found.moments.variance}


def fit(case: Case) -> Record:
    """Return the answers of an estimator; a warm one starts where two thirds of the rows led."""
    data, model = make_data(case), estimator(case)
    if case.twist == "warm":
        some = np.arange(len(data[1])) % 3 > 0
        model.set_params(start=estimator(case).fit(*(None if d is None else d[some] for d in data)))
    model.fit(*data)
    found = {name: LIBRARY.get(model, f"{name}_", 0.0) for name in (*FITTED, "n_iter", "status")}
    if found["sigma2"] > 0.0 or case.family in CLASSIFIERS:
        found["log_likelihood"] = model.log_likelihood(*data)
    return found | predictions(model, data[0][:5], None if data[3] is None else data[3][:5])


def estimator(case: Case) -> Any:
    if case.family in CLASSIFIERS:
        augmentation = CLASSIFIERS[case.family]
        return LIBRARY.call("HorseshoeClassifier", augmentation=augmentation, **case.arguments)
    return LIBRARY.call("HorseshoeRegressor", family=case.family, **case.arguments)


def predictions(model: Any, X: Any, offset: Any) -> Record:
    """Return what a fitted estimator says of a few rows; the standard deviations, or the probabilities."""
    found = {
        "predict": model.predict(X, offset=offset),
        "interval": model.predict_interval(X, offset=offset, method="mode"),
    }
    if hasattr(model, "predict_proba"):
        return found | {"probability": model.predict_proba(X, offset)}
    nuisance = [getattr(model.family_, name, 0.0) for name in ("size_", "df_")]
    return found | {"std": model.predict(X, return_std=True, offset=offset)[1], "nuisance": nuisance}


def runs() -> Iterator[Named]:
    """Yield the name of each posterior run, and a function that makes it."""
    families = (*NOISY, *COUNTS, "binomial")
    cases = [Case(family, shape=shape) for family, shape in product(families, ("small", "wide"))]
    cases += [Case("gaussian", prior, shape) for prior, shape in zip(PRIORS[1:], [*SHAPES] * 3, strict=False)]
    cases += [Case(family, "lasso", rows="whole") for family in families]
    cases += [Case(f, "normal_gamma", rows="both") for f in families if f not in NOISY[1:]]
    cases += [Case(family, rows="offset", options={"tau": 0.05}) for family in families]
    cases += [Case(family, shape="wide", options={"sigma2": 0.8, "tau_max": 1.0}) for family in NOISY]
    cases += [Case(family, shape="square", options={"fit_intercept": False}) for family in families]
    cases += [Case("gaussian", shape=s, options={"store_lambda2": True, "thin": 2}) for s in SHAPES]
    cases += [Case("poisson", options={"standardize": False, "tau": "inverse_gamma"})]
    return ((f"run/{case.name}", partial(run, case)) for case in cases)


def run(case: Case) -> Record:
    """Return the draws of a short run."""
    X, y, weights, offset = make_data(case)
    options = {**SHORT, **case.arguments, "sample_weight": weights, "offset": offset}
    found = LIBRARY.call("sample_posterior", X, y, case.family, **options)
    drawn = {name: LIBRARY.get(found, name) for name in DRAWN}
    return {name: value for name, value in drawn.items() if value is not None}

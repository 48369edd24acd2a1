"""Fitted models of every kind, what they answer, and a program that asks those in files.

    python saved_models.py FOLDER

loads every model of a folder and writes what it answers beside it, and

    python saved_models.py golden

writes the models of tests/golden/models.
"""

from __future__ import annotations

import pickle
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.model_selection import KFold

from horseshoe import (
    AdaptiveClassifier,
    AdaptiveRegressor,
    AdaptiveSurvival,
    HorseshoeClassifier,
    HorseshoeRegressor,
    HorseshoeSurvival,
    load_model,
)
from horseshoe.estimators.saving import save_model
from horseshoe.families import NegativeBinomial, Ordinal, Poisson, StudentT
from horseshoe.priors import Horseshoe, Slab
from horseshoe_reproduction.coverage import RESPONSES, SIZES
from registry import FAMILIES, GLOBAL_PRIORS, LOCAL_PRIORS
from survival_data import survival

NAMES = ["age", 'with "quotes" and \\', "größe <b>", "日本"]
LABELS: dict[str, Any] = {
    "ints": np.array([3, -7, 12]),
    "unsigned": np.array([3, 2**63 + 5, 9], dtype=np.uint64),
    "floats": np.array([1.0, 2.0, -3.0]),
    "words": np.array(["no", 'it\'s "so"', "naïve 日本 \\u0041"]),
    "objects": np.array(["<script>", "b", "c"], dtype=object),
}


def data(family: str, n: int = 50, p: int = 4, seed: int = 0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p)) * np.geomspace(0.01, 100.0, p) + 3.0
    signal = (X[:, 0] - 3.0) / 0.01 - (X[:, 1] - 3.0) / X[:, 1].std()
    return X, RESPONSES[family](SIZES[family] * signal, rng)  # type: ignore[index]


def frame(family: str) -> tuple[Any, Any]:
    X, y = data(family)
    return pd.DataFrame(X, columns=NAMES), y


def several(n: int = 50, p: int = 4) -> tuple[Any, Any]:
    X, y = data("gaussian", n, p)
    return X, np.column_stack([y, -2.0 * y + X[:, 2], 1e6 * X[:, 0]]) + np.cos(np.arange(3 * n)).reshape(n, 3)


def classes(labels: Any, p: int = 3) -> tuple[Any, Any]:
    rng = np.random.default_rng(1)
    X = rng.standard_normal((60, p))
    codes = np.digitize(X[:, 0] + 0.7 * rng.standard_normal(60), [-0.5, 0.5])
    return X, np.asarray(labels)[codes % len(labels)]


def fit(estimator: Any, X: Any, y: Any, **options: Any) -> tuple[Any, Any, Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return estimator.fit(X, y, **options), X, y


def tied(estimator: Any) -> tuple[Any, Any, Any]:
    X, y = frame("gaussian")
    return fit(estimator, X.assign(again=2.0 * X["age"] + 1.0, constant=1.0), y)


def started(cls: Any, X: Any, y: Any) -> tuple[Any, Any, Any]:
    return fit(cls(start=cls().fit(X, y), tau=0.5), X, y)


def weighted(estimator: Any, family: str) -> tuple[Any, Any, Any]:
    X, y = frame(family)
    n = len(y)
    return fit(estimator, X, y, sample_weight=np.arange(n) % 3, offset=np.linspace(-0.1, 0.1, n))


def lived(estimator: Any, **options: Any) -> tuple[Any, Any, Any]:
    data = survival()
    return fit(estimator, pd.DataFrame(data.X, columns=NAMES), data.y, **options)


Case = Callable[[], tuple[Any, Any, Any]]
MODES: dict[str, Case] = {
    **{f"{family}": lambda f=family: fit(HorseshoeRegressor(f), *frame(f)) for family in FAMILIES},
    **{
        f"prior {prior!r}": lambda p=prior: fit(HorseshoeRegressor(prior=p), *data("gaussian"))
        for prior, _ in LOCAL_PRIORS
    },
    **{
        f"tau {tau!r}": lambda t=tau: fit(HorseshoeRegressor(tau=t), *data("gaussian"))
        for tau in GLOBAL_PRIORS
    },
    "slab": lambda: fit(HorseshoeRegressor(prior=Slab(2.0, Horseshoe(a=0.4))), *data("gaussian")),
    "slab number": lambda: fit(HorseshoeRegressor("poisson", slab=np.float32(1.1)), *data("poisson")),
    "groups": lambda: fit(HorseshoeRegressor(feature_groups={"pair": ["age", NAMES[2]]}), *frame("gaussian")),
    "unpenalized": lambda: fit(HorseshoeRegressor("poisson", unpenalized=NAMES[1:3]), *frame("poisson")),
    "several unpenalized": lambda: fit(
        HorseshoeRegressor(unpenalized=[1], feature_groups=["a", "b", "a", "c"], prior_scale={3: 2.0}),
        *several(),
    ),
    "prior scale": lambda: fit(HorseshoeRegressor(prior_scale={0: 2.5}), *data("gaussian")),
    "unpenalized classes": lambda: fit(
        HorseshoeClassifier(unpenalized=[1], feature_groups=["a", "b", "a"]), *classes([1, 2, 3])
    ),
    "size": lambda: fit(HorseshoeRegressor(NegativeBinomial(size=2)), *data("negative_binomial")),
    "df": lambda: fit(HorseshoeRegressor(StudentT(df=5.5), prior=Horseshoe), *data("student_t")),
    "class": lambda: fit(HorseshoeRegressor(Poisson), *data("poisson")),
    "wide": lambda: fit(HorseshoeRegressor(), *data("gaussian", n=30, p=90)),
    "wide ridge": lambda: fit(HorseshoeRegressor(prior="ridge"), *data("gaussian", n=30, p=90)),
    "wide poisson": lambda: fit(HorseshoeRegressor("poisson"), *data("poisson", n=30, p=90)),
    "approximate": lambda: fit(HorseshoeRegressor(expectation="approximate"), *data("gaussian")),
    "long trace": lambda: fit(
        HorseshoeRegressor(expectation="stochastic", random_state=0, tol=1e-4), *data("gaussian")
    ),
    "max_iter": lambda: fit(HorseshoeRegressor(max_iter=2), *data("gaussian")),
    "plain": lambda: fit(HorseshoeRegressor(fit_intercept=False, standardize=False), *data("gaussian")),
    "nothing": lambda: fit(HorseshoeRegressor(), np.eye(5), np.ones(5)),
    "all zero": lambda: fit(HorseshoeRegressor("poisson"), np.eye(5), np.zeros(5)),
    "constant columns": lambda: fit(HorseshoeRegressor(), np.ones((6, 2)), np.arange(6.0)),
    "sparse": lambda: fit(HorseshoeRegressor(), sparse.csr_array(np.eye(40)[:, :5]), np.arange(40.0)),
    "ties": lambda: tied(HorseshoeRegressor()),
    "weights": lambda: weighted(HorseshoeRegressor("poisson", weight_type="precision"), "poisson"),
    "start": lambda: started(HorseshoeRegressor, *data("gaussian")),
    "random": lambda: fit(
        HorseshoeRegressor(random_state=np.random.default_rng(0), callback=lambda _: None), *data("gaussian")
    ),
    "several": lambda: fit(HorseshoeRegressor(), *several()),
    "several wide": lambda: fit(HorseshoeRegressor(prior="lasso", slab=2.0), *several(30, 90)),
    "start several": lambda: started(HorseshoeRegressor, *several()),
    "one of several constant": lambda: fit(
        HorseshoeRegressor(), np.eye(6)[:, :3], np.eye(6)[:, 2:] * [1, 2, 3, 0]
    ),
    **{f"classes {kind}": lambda v=v: fit(HorseshoeClassifier(), *classes(v)) for kind, v in LABELS.items()},
    **{f"two {kind}": lambda v=v: fit(HorseshoeClassifier(), *classes(v[:2])) for kind, v in LABELS.items()},
    "bools": lambda: fit(HorseshoeClassifier(augmentation="irls"), *classes([False, True])),
    "objects of bool": lambda: fit(HorseshoeClassifier(), *classes(np.array([False, True], dtype=object))),
    "class weights": lambda: fit(HorseshoeClassifier(class_weight={"a": 2, "b": 1.5}), *classes(["a", "b"])),
    "multinomial": lambda: fit(HorseshoeClassifier(multi_class="multinomial"), *classes(LABELS["words"])),
    "multinomial two": lambda: fit(HorseshoeClassifier(multi_class="multinomial"), *classes([False, True])),
    "multinomial groups": lambda: fit(
        HorseshoeClassifier(multi_class="multinomial", feature_groups=["a", "a", "b"], unpenalized=[2]),
        *classes(LABELS["words"]),
    ),
    "ordinal unpenalized": lambda: fit(HorseshoeRegressor("ordinal", unpenalized=[1]), *frame("ordinal")),
    "start classes": lambda: started(HorseshoeClassifier, *classes([1, 2, 3])),
    "survival": lambda: lived(HorseshoeSurvival()),
    "survival strata": lambda: lived(HorseshoeSurvival(ties="breslow"), strata=survival().strata),
    "survival unpenalized": lambda: lived(HorseshoeSurvival(unpenalized=[2], prior_scale={1: 2.0})),
    "survival nothing": lambda: fit(HorseshoeSurvival(), np.ones((6, 2)), np.arange(6.0)),
}
AVERAGES: dict[str, Case] = {
    **{f"cv {family}": lambda f=family: fit(AdaptiveRegressor(f, cv=4), *frame(f)) for family in FAMILIES},
    "cv levels": lambda: fit(
        AdaptiveRegressor(Ordinal(levels=("low", "mid", "high")), cv=3), *classes(["high", "low", "mid"])
    ),
    "cv survival": lambda: lived(AdaptiveSurvival(cv=4)),
    "cv survival strata": lambda: lived(
        AdaptiveSurvival(cv=3, ties="breslow", feature_groups=[0, 0, 1, 2]), strata=survival().strata
    ),
    "cv survival nothing": lambda: fit(AdaptiveSurvival(cv=2), np.ones((6, 2)), np.arange(6.0)),
    "cv several": lambda: fit(AdaptiveRegressor(cv=3), *several()),
    "cv multinomial": lambda: fit(
        AdaptiveClassifier(cv=3, multi_class="multinomial"), *classes(LABELS["words"])
    ),
    "cv components": lambda: fit(
        AdaptiveRegressor(components=["horseshoe", "ridge"], cv=3), *data("gaussian")
    ),
    "cv splitter": lambda: fit(AdaptiveRegressor(cv=KFold(4), selection="paired"), *data("gaussian")),
    "cv wide": lambda: fit(AdaptiveRegressor(cv=3), *data("gaussian", n=30, p=90)),
    "cv mode": lambda: fit(AdaptiveRegressor(components="horseshoe", cv=3), *data("gaussian", n=30, p=90)),
    "cv weights": lambda: weighted(AdaptiveRegressor("poisson", cv=4), "poisson"),
    "cv structure": lambda: fit(
        AdaptiveRegressor(cv=3, unpenalized=[3], feature_groups=[0, 0, 1, 2], prior_scale={1: 2}),
        *data("poisson"),
    ),
    "cv nothing": lambda: fit(AdaptiveRegressor(cv=2), np.eye(5), np.ones(5)),
    "cv all zero": lambda: fit(AdaptiveRegressor("poisson", cv=2), np.eye(5), np.zeros(5)),
    "cv constant": lambda: tied(AdaptiveRegressor(cv=3)),
    "cv constant columns": lambda: fit(AdaptiveRegressor(cv=3), np.ones((9, 2)), np.arange(9.0)),
    "cv plain": lambda: fit(AdaptiveRegressor(cv=3, fit_intercept=False), *data("laplace")),
    "cv classes": lambda: fit(AdaptiveClassifier(cv=3), *classes(LABELS["words"])),
    "cv two": lambda: fit(AdaptiveClassifier(cv=3, class_weight="balanced"), *classes(["ä", 'b"'])),
    "cv bools": lambda: fit(AdaptiveClassifier(cv=3, random_state=7), *classes([False, True])),
}
CASES = {**MODES, **AVERAGES}


def answers(model: Any, X: Any, y: Any) -> dict[str, Any]:
    """Return all that a model says without its data, by name."""
    adaptive, classifier = hasattr(model, "cv_error_"), hasattr(model, "decision_function")
    by_mode = {} if adaptive else {"method": "mode"}
    found = {name: value for name, value in vars(model).items() if name.endswith("_") and name != "recipe_"}
    for name in ("estimators_", "cv_prediction_"):  # the latter is of the rows, which no file holds
        found.pop(name, None)
    found["trace_"] = None  # its ends are kept: see test_saving
    found |= {
        "predict": model.predict(X),
        "transform": model.transform(X),
        "score": model.score(X, y),
        "log_likelihood": _try(model.log_likelihood, X, y),
        "coef_interval": model.coef_interval(0.9, **by_mode),
        "summary": model.summary(0.8, **by_mode).to_dict("list"),
        "names": model.get_feature_names_out(),
        "statistics": [_try(part.statistics) for part in getattr(model, "estimators_", [model])],
    }
    if not adaptive:
        found["expected_by_chance"] = model.expected_by_chance_
    if hasattr(model, "predict_interval") and not (adaptive and classifier):
        found["predict_interval"] = model.predict_interval(X, level=0.5, **by_mode)
    if classifier:
        found |= {"proba": model.predict_proba(X), "decision": model.decision_function(X)}
    elif not adaptive:
        found["predict_std"] = model.predict(X, return_std=True)
    return {name: comparable(value) for name, value in found.items()}


def _try(call: Callable[..., Any], *args: Any) -> Any:
    try:
        return call(*args)
    except ValueError as error:  # a constant y has no density
        return str(error)


def comparable(value: Any) -> Any:
    """Return a value in which every bit counts: arrays as their bytes, floats in hexadecimals."""
    if isinstance(value, np.ndarray) and value.dtype != object:
        return (value.dtype.str, value.shape, value.tobytes())
    if sparse.issparse(value):
        return comparable(value.toarray())
    if isinstance(value, pd.DataFrame):
        return comparable(value.to_dict("list"))
    if isinstance(value, float):
        return float(value).hex()
    if isinstance(value, dict):
        return {key: comparable(one) for key, one in value.items()}
    if isinstance(value, list | tuple | np.ndarray):
        return [comparable(one) for one in value]
    return value.item() if isinstance(value, np.generic) else value


def main(folder: Path) -> None:
    for path in sorted(folder.glob("*.json")):
        X, y = pickle.loads(path.with_suffix(".data").read_bytes())
        path.with_suffix(".answers").write_bytes(pickle.dumps(answers(load_model(path), X, y)))


GOLDEN = Path(__file__).parent / "golden" / "models"
GOLDEN_CASES = {
    "regressor": "ties",
    "slab": "slab",
    "classifier": "classes words",
    "regressor_cv": "cv poisson",
    "classifier_cv": "cv classes",
}


def write_golden() -> None:
    """Write models with five rows and what is said of them: only when there is a new schema."""
    for name, case in GOLDEN_CASES.items():
        model, X, _ = CASES[case]()
        X = X.iloc[:5] if isinstance(X, pd.DataFrame) else X[:5]
        interval = model.coef_interval(**({} if name.endswith("cv") else {"method": "mode"}))
        said = {"X": X, "predicted": model.predict(X), "coef_interval": interval}
        recipe = {what: np.asarray(value).tolist() for what, value in said.items()}
        save_model(model, GOLDEN / f"{name}.json", recipe=recipe)


if __name__ == "__main__":
    write_golden() if sys.argv[1] == "golden" else main(Path(sys.argv[1]))

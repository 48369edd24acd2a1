"""The calls of the public API that a case makes, and the numbers that they return."""

from __future__ import annotations

import pickle
import tempfile
from typing import Any

import numpy as np
from sklearn.base import clone

from fuzz.cases import SEEDED, Case, resolve, structure
from fuzz.data import Data, wrap_lives, wrap_x, wrap_y
from fuzz.flaws import spoil_vector, spoil_x
from fuzz.kept import MOST, ONE_IN, differs
from horseshoe import (
    AdaptiveClassifier,
    AdaptiveRegressor,
    AdaptiveSurvival,
    HorseshoeClassifier,
    HorseshoeRegressor,
    HorseshoeSurvival,
    load_model,
    normal_means,
    sample_posterior,
)
from horseshoe.posterior.several import SeveralPosterior

Values = dict[str, Any]

ESTIMATORS = {
    "regressor": HorseshoeRegressor,
    "classifier": HorseshoeClassifier,
    "regressor cv": AdaptiveRegressor,
    "classifier cv": AdaptiveClassifier,
    "survival": HorseshoeSurvival,
    "survival cv": AdaptiveSurvival,
}
FITTED = ("coef_", "coef_std_", "intercept_", "tau2_", "lambda2_", "kappa_")
AVERAGED = (
    "coef_",
    "intercept_",
    "sparse_coef_",
    "sparse_intercept_",
    "inclusion_",
    "calibration_slope_",
    "cv_error_",
)
RUN = {"n_draws": 6, "n_warmup": 4, "n_chains": 2, "random_state": 1, "n_jobs": 1}
ARRAYS = ("X", "y", "sample_weight", "offset", "exposure", "entry", "strata", "event", "new", "level")
"""The flaws that are not options."""


class ContradictionError(AssertionError):
    """An answer that contradicts itself."""


def call(case: Case, data: Data) -> Values:
    """Return the numbers that horseshoe answers, in the user's units; raise what it raises."""
    X, y = _given(case, data)
    before = _copies(X, y)
    values = CALLS[case.call](case, data, X, y)
    _unmodified(before, (X, y))
    return values


def _given(case: Case, data: Data) -> tuple[Any, Any]:
    where, way = case.flaw or ("", "")
    X = wrap_x(case, data.X)
    y = _lives(case, data) if case.is_survival else wrap_y(case, data.y)
    if where == "X":
        X = spoil_x(way, data.X)
    if where == "y":
        y = spoil_vector(way, np.asarray(wrap_y(case.but(y_container="array"), data.y)))
    elif case.outputs > 1:  # the others have something to do with the first, and something of their own
        first = np.asarray(wrap_y(case.but(y_container="array"), data.y), dtype=float)
        own = [np.cos(k * (first / data.unit) + k) for k in range(1, case.outputs)]
        y = np.column_stack([first, *(data.unit * one - k * first for k, one in enumerate(own, 1))])
    return X, y


def _lives(case: Case, data: Data) -> Any:
    """Return times and events, or what a mistake makes of the latter."""
    if not case.flaw or case.flaw[0] != "event":
        return wrap_lives(case, data.y, data.event)
    event = spoil_vector(case.flaw[1], data.event.astype(float))
    fits = event.shape == data.event.shape
    return wrap_lives(case.but(y_container="object"), data.y, event) if fits else event


def _copies(*arrays: Any) -> list[Any]:
    return [a.copy() if type(a) is np.ndarray and a.dtype != object else None for a in arrays]


def _unmodified(before: list[Any], after: tuple[Any, Any]) -> None:
    for name, old, new in zip(("X", "y"), before, after, strict=True):
        if old is not None and old.tobytes() != new.tobytes():
            raise ContradictionError(f"{name} was modified")


def _rows(case: Case, data: Data) -> dict[str, Any]:
    """Return the arguments that have one value for each row."""
    names = ("offset", "exposure", "entry", "strata")
    found = {"sample_weight": data.weights, **{name: getattr(data, name) for name in names}}
    where, way = case.flaw or ("", "")
    if where in found:
        found[where] = spoil_vector(way, np.ones(case.n))
    if where == "X":  # another number of rows, perhaps
        found = {}
    return {name: value for name, value in found.items() if value is not None}


def _known(rows: dict[str, Any]) -> dict[str, Any]:
    """Return what of them is asked for new rows as well."""
    return {name: rows[name] for name in ("offset", "exposure") if name in rows}


def _options(case: Case, data: Data) -> dict[str, Any]:
    options = resolve(structure(case.options, data.X.shape[1]))
    if options.get("expectation") in SEEDED:
        options.setdefault("random_state", 0)
    if isinstance(options.get("sigma2"), float):
        options["sigma2"] *= data.unit**2
    where, value = case.flaw or ("", "")
    if where and where not in ARRAYS:
        options[where] = value
    return options


def _level(case: Case) -> Any:
    return case.flaw[1] if case.flaw and case.flaw[0] == "level" else 0.95


def _fit(case: Case, data: Data, X: Any, y: Any) -> Values:
    kind, options, rows = ESTIMATORS[case.call], _options(case, data), _rows(case, data)
    start = options.get("start")
    if start == "unfitted":
        options["start"] = kind()
    elif start == "other columns":
        options["start"] = kind().fit(np.hstack([data.X, data.X[:, :1]]), y)
    elif isinstance(start, str) and start.startswith("earlier"):
        prior = start.removeprefix("earlier").strip() or "horseshoe"
        shared = {name: options[name] for name in ("family", "max_iter") if name in options}
        options["start"] = kind(**shared, prior=prior).fit(X, y, **rows)
    model = kind(**options)
    if case.flaw == ("new", "unfitted"):
        return {"predict": model.predict(X)}
    model.fit(X, y, **rows)
    quick = np.max(getattr(model, "n_iter_", 0)) < MOST
    if case.flaw is None and case.seed % ONE_IN == 0 and quick:
        names = AVERAGED if case.averages else FITTED
        other = differs(lambda: kind(**options), X, y, rows, model, names, case.seed // ONE_IN)
        if other is not None:
            raise ContradictionError(f"{other} is another after the fit was broken off and taken up")
    if options.get("warm_start"):
        model.fit(X, y, **rows)
    return _ask(case, model, X, y, rows)


def _ask(case: Case, model: Any, X: Any, y: Any, rows: dict[str, Any]) -> Values:
    """Return the fit, and what was asked of it."""
    several = case.is_classifier and len(model.classes_) > 2
    offset = {} if several or case.flaw == ("new", "no rows") else _known(rows)
    new = _new(case, X)
    values = {name: getattr(model, name) for name in (AVERAGED if case.averages else FITTED)}
    if "unpenalized" in case.options and not case.averages:  # what is not shrunk has no finite scale
        values["lambda2_"] = np.where(np.isinf(model.lambda2_), 0.0, model.lambda2_)
    if not case.is_classifier:
        values["sigma2_"] = model.sigma2_
    kept = model.sparse_coef_ if case.averages else model.coef_
    there = np.not_equal(kept, 0.0)
    if not np.array_equal(model.support_, there if there.ndim == model.support_.ndim else there.any(axis=0)):
        raise ContradictionError("support_ is not where coefficients are not zero")
    values["status"] = str(model.status_)
    values["eta"] = (model.decision_function if case.is_classifier else model.linear_predictor)(new, **offset)
    if case.averages:
        return values | ASKED_OF_AVERAGES[case.ask](case, model, new, y, offset, rows)
    return values | ASKED[case.ask](case, model, new, y, offset, rows)


def _new(case: Case, X: Any) -> Any:
    """Return the rows to predict: those of the fit, or spoiled ones."""
    where, way = case.flaw or ("", "")
    if where != "new":
        return X
    plain = wrap_x(case.but(container="pandas", dtype="float64"), np.ones((case.n, case.p)))
    spoiled = {
        "fewer columns": plain.iloc[:, 1:],
        "nan": plain * np.nan,
        "other names": plain.add_prefix("other"),
        "reversed names": plain.iloc[:, ::-1],
        "no rows": plain.iloc[:0],
        "1d": np.ones(case.p),
        "huge": plain * 1e150,
        "unfitted": X,  # of a sampler, which is never without its draws
    }
    return spoiled[way]


def _predict(case: Case, model: Any, X: Any, y: Any, offset: Any, rows: Any) -> Values:
    if case.is_classifier:
        proba = model.predict_proba(X, **offset)
        if not np.allclose(proba.sum(axis=1), 1.0):
            raise ContradictionError("predict_proba does not add up to 1")
        if not np.isin(model.predict(X, **offset), model.classes_).all():
            raise ContradictionError("predict returns other labels than classes_")
        return {"predict_proba": proba, "predict_log_proba": model.predict_log_proba(X, **offset)}
    if case.is_survival:
        return _survival(case, model, X, offset, rows)
    if case.averages:
        return {"predict": model.predict(X, **offset)}
    mean, std = model.predict(X, return_std=True, **offset)
    heavy = case.family == "StudentT(1.5)"  # has no variance
    return {"predict": mean} if heavy else {"predict": mean, "predictive std": std}


def _survival(case: Case, model: Any, X: Any, offset: Any, rows: Any) -> Values:
    """Return the risk, and how it goes on from there."""
    values = {"predict": model.predict(X, **offset)}
    if not case.averages:
        _, values["predictive std"] = model.predict(X, return_std=True, **offset)
    strata = {"strata": rows["strata"]} if "strata" in rows else {}
    chance = model.predict_survival_function(X, return_array=True, **offset, **strata)
    if np.any(np.diff(chance, axis=1) > 0.0):
        raise ContradictionError("a survival function rises")
    return values | {"survival": chance}


def _interval(case: Case, model: Any, X: Any, y: Any, offset: Any, rows: Any) -> Values:
    return {
        "predict_interval": _ordered(
            "predict_interval", model.predict_interval(X, _level(case), **offset, method="mode")
        )
    }


def _coef_interval(case: Case, model: Any, *_: Any) -> Values:
    return {"coef_interval": _ordered("coef_interval", model.coef_interval(_level(case), method="mode"))}


def _columns_of(table: Any) -> Any:
    """Leave out intercept and thresholds, which move with the units of the columns."""
    return table[~(table["feature"] == "(Intercept)") & ~table["feature"].str.contains(" | ", regex=False)]


def _summary(case: Case, model: Any, *_: Any) -> Values:
    table = _columns_of(model.summary(level=_level(case), method="mode"))
    return {"summary": table[["coef", "std", "lower", "upper", "shrinkage"]].to_numpy(float)}


def _cv_plus(case: Case, model: Any, X: Any, y: Any, offset: Any, rows: Any) -> Values:
    if case.is_classifier or case.is_survival:
        return _averaged_coef_interval(case, model)
    found = model.predict_interval(X, _level(case), **offset)
    return {"predict_interval": _ordered("predict_interval", found)}


def _averaged_coef_interval(case: Case, model: Any, *_: Any) -> Values:
    return {"coef_interval": _ordered("coef_interval", model.coef_interval(_level(case)))}


def _averaged_summary(case: Case, model: Any, *_: Any) -> Values:
    table = _columns_of(model.summary(level=_level(case)))
    return {"summary": table[["coef", "lower", "upper", "inclusion", "sparse_coef"]].to_numpy(float)}


def _score(case: Case, model: Any, X: Any, y: Any, offset: Any, rows: Any) -> Values:
    if len(y) < 2 or (case.flaw and case.flaw[0] == "new"):  # R^2 of a single row is not defined
        return {}
    scores = {"log_likelihood": model.log_likelihood(X, y, **rows)}
    rows = {name: value for name, value in rows.items() if name != "entry"}  # pairs know of none
    return scores if case.y == "constant" else scores | {"score": model.score(X, y, **rows)}


def _copy(case: Case, model: Any, X: Any, y: Any, offset: Any, rows: Any) -> Values:
    clone(model)
    with tempfile.TemporaryDirectory() as folder:
        model.save(path := f"{folder}/model.json")
        copies = pickle.loads(pickle.dumps(model)), load_model(path)
    for again in copies:
        if not np.array_equal(again.predict(X, **offset), model.predict(X, **offset)):
            raise ContradictionError("a copy predicts something else")
    return {}


def _posterior(case: Case, model: Any, X: Any, y: Any, offset: Any, rows: Any) -> Values:
    if case.is_classifier and len(model.estimators_) > 1:
        model = model.estimators_[0]
    return _drawn(case, model.sample_posterior(**RUN), X, offset)


def _drawn(case: Case, posterior: Any, X: Any, offset: Any) -> Values:
    """Return the draws, and what is said of them; of several responses, as two columns of y are, less is."""
    if isinstance(posterior, SeveralPosterior):
        if not np.isfinite(posterior.coef).all():
            raise ContradictionError("draws of several responses are not finite")
        return {}
    values = {
        f"draws of {name}": getattr(posterior, name) for name in ("coef", "intercept", "tau2", "sigma2")
    }
    level = _level(case)
    values["posterior shrinkage"] = posterior.kappa
    values["posterior interval"] = _ordered("interval", posterior.interval(level))
    values["posterior predict"], std = posterior.predict(X, return_std=True, **offset)
    if case.family != "StudentT(1.5)":
        values["posterior std"] = std
    kind = "credible" if case.seed % 2 else "predictive"
    found = posterior.predict_interval(X, level, kind=kind, **offset)
    values["posterior predict_interval"] = _ordered("predict_interval", found)
    values["posterior summary"] = posterior.summary(level)[["mode", "mean", "median", "std"]].to_numpy(float)
    if not case.is_survival:  # whose rows have no likelihood, and whose times no distribution
        values["posterior log_likelihood"] = posterior.log_likelihood()
        values["posterior simulate"] = posterior.simulate(n_draws=3)
    posterior.select("decoupled" if case.seed % 4 == 0 else "credible", 0.9)
    return values


def _sample(case: Case, data: Data, X: Any, y: Any) -> Values:
    rows = _rows(case, data)
    posterior = sample_posterior(X, y, **{**RUN, **_options(case, data), **rows})
    offset = {} if case.flaw and case.flaw[0] == "new" else _known(rows)
    return _drawn(case, posterior, _new(case, X), offset)


def _means(case: Case, data: Data, X: Any, y: Any) -> Values:
    result = normal_means(y, **_options(case, data))
    str(result.status)
    return {
        "coef_": result.coef,
        "tau2_": result.scales.tau2,
        "lambda2_": result.scales.lambda2,
        "sigma2_": result.scales.sigma2,
        "eta": result.coef,
        "coef_std_": np.sqrt(result.moments.variance),
    }


def _ordered(name: str, interval: Any) -> Any:
    if np.any(interval[..., 0] > interval[..., 1]):
        raise ContradictionError(f"{name} has a lower end above its upper end")
    return interval


CALLS = {**dict.fromkeys(ESTIMATORS, _fit), "sampler": _sample, "means": _means}
ASKED = {
    "predict": _predict,
    "interval": _interval,
    "coef_interval": _coef_interval,
    "summary": _summary,
    "score": _score,
    "copy": _copy,
    "posterior": _posterior,
}
ASKED_OF_AVERAGES = ASKED | {
    "interval": _cv_plus,
    "coef_interval": _averaged_coef_interval,
    "summary": _averaged_summary,
    "posterior": _averaged_coef_interval,
}

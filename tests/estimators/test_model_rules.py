"""Models whose digest fits and whose numbers do not: refused, with the field and the fault."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from horseshoe import HorseshoeClassifier, HorseshoeRegressor, load_model
from horseshoe.average.result import AverageFit
from horseshoe.data.fitted import Fitted
from horseshoe.estimators.baseline_hazard import Baseline
from horseshoe.estimators.model_rules import AVERAGE, BASELINE, ESTIMATED, KEPT, MODE
from horseshoe.estimators.model_schema import CHOICES, CODEC
from horseshoe.estimators.training import Kept
from horseshoe.families import Family
from horseshoe.priors import HalfCauchy
from horseshoe.store.codec import dtype_of, is_record, origin_of, parts_of
from mutations.models import signed
from mutations.numbers import CHANGES, numbers_of, plain
from saved_models import CASES, classes, fit

MODELS = (
    *(
        "gaussian",
        "ties",
        "groups",
        "prior scale",
        "unpenalized",
        "wide ridge",
        "slab number",
        "several",
        "start",
    ),
    *("start several", "negative_binomial", "student_t", "laplace", "quantile", "huber", "gamma", "tweedie"),
    *("ordinal", "binomial", "poisson", "classes words", "multinomial", "survival strata", "slab"),
    *("cv gaussian", "cv several", "cv poisson", "cv negative_binomial", "cv student_t", "cv quantile"),
    *("cv ordinal", "cv levels", "cv classes", "cv multinomial", "cv survival strata", "cv structure"),
    *("cv constant", "cv two", "cv tweedie", "cv laplace", "cv nothing"),
    *(name for name in CASES if name.startswith(("prior ", "tau ")) and name != "prior scale"),
)
FREE = {
    "M.regressions.*.lambda2": ("Infinity",),  # of columns that are not shrunk
    "M.regressions.*.result.scales.lambda2": ("Infinity",),
    "M.regressions.*.hyper.slab2": ("Infinity",),  # no slab
    "M.regressions.*.result.scales.slab2": ("Infinity",),
    "M.regressions.*.hyper.tau<HalfCauchy>.tau_max": ("Infinity",),  # no bound
    "M.regressions.*.result.scales.tau2": ("Infinity",),
    "M.regressions.*.result.trace.*.tau2": ("Infinity",),
    "M.regressions.*.covariance.factor": ("longer", "shorter"),  # any number of rows
    "M.regressions.*.result.trace.*.change": ("NaN", "Infinity", "-Infinity"),
    "M.regressions.*.result.trace.*.objective": ("NaN", "Infinity", "-Infinity"),
    "M.regressions.*.family<Ordinal>.thresholds_std_": ("Infinity",),  # no row tells a threshold
    "M.regressions.*.result.family<Ordinal>.thresholds_std_": ("Infinity",),
    "M.baseline.hazard": ("Infinity",),  # after the last event of a fit without a maximum
    "A.baseline.hazard": ("Infinity",),
    "A.regressions.*.average.judged.*.sigma2": ("Infinity",),  # of a component that diverges
    "A.regressions.*.fold_errors.errors": ("Infinity",),  # of a mean beyond all floats
    **dict.fromkeys(
        (
            *(f"M.kept.*.deviance.{name}" for name in ("left", "total")),
            *(f"A.regressions.*.record.deviance.{name}" for name in ("left", "total")),
            *(f"A.regressions.*.record.cv_deviance.{name}" for name in ("left", "total")),
            *(f"A.regressions.*.average.judged.*.{name}" for name in ("error", "loss")),
            *("A.regressions.*.average.evidence", "A.regressions.*.components.*.error"),
            "A.regressions.*.cv_error",
        ),
        ("Infinity", "-Infinity"),
    ),
}
"""What a fit may write: no prediction is made of it, or it is infinite by right."""


@pytest.fixture(scope="module")
def contents(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    path = tmp_path_factory.mktemp("models") / "model.json"
    found = {}
    for name in MODELS:
        CASES[name]()[0].save(path)
        found[name] = json.loads(path.read_text("utf-8"), object_hook=as_list)
    return found


def as_list(content: dict[str, Any]) -> Any:
    """Return a vector of mostly one value as a list, so that each of its numbers can be changed."""
    if content.keys() != {"size", "fill", "places", "values"}:
        return content
    others = dict(zip(content["places"], content["values"], strict=True))
    return [others.get(place, content["fill"]) for place in range(content["size"])]


def why_refused(content: Any, path: Path) -> str | None:
    """Return why a model is refused, None if it is not; any other error is raised."""
    path.write_bytes(signed(content))
    try:
        load_model(path)
    except ValueError as error:
        text = str(error)
        assert text.startswith(f"the model file {str(path)!r} cannot be loaded: "), text
        assert text.endswith("; save the model again"), text
        return text.partition("cannot be loaded: ")[2].removesuffix("; save the model again")
    return None


def places(contents: dict[str, Any]) -> Iterator[tuple[str, str, int]]:
    """Yield each number of each kind of model once: the model, the path, and which of its numbers it is."""
    seen = set()
    for name, content in contents.items():
        root = "A" if content["kind"].startswith("Adaptive") else "M"
        for number, one in enumerate(numbers_of(content["fitted"])):
            path = root + one.path
            if path not in seen and ".classes." not in path and ".strata." not in path:
                seen.add(path)
                yield name, path, number


def test_every_number_that_is_none_and_every_wrong_length_is_refused(
    contents: dict[str, Any], tmp_path: Path
) -> None:
    path, wrong, count = tmp_path / "model.json", [], 0
    for name, place, number in places(contents):
        for change, make in CHANGES.items():
            content = copy.deepcopy(contents[name])
            one = list(numbers_of(content["fitted"]))[number]
            value = make(one.value)
            if value is None or value == one.value:
                continue
            one.holder[one.key] = value
            why, count = why_refused(content, path), count + 1
            if (why is None) != (change in FREE.get(place, ())):
                wrong.append((name, place, change, why))
    assert not wrong, wrong
    assert count > 500


def test_what_may_be_infinite_leaves_predictions_finite(contents: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "model.json"
    for name, place, number in places(contents):
        for change in FREE.get(place, ()):
            content = copy.deepcopy(contents[name])
            one = list(numbers_of(content["fitted"]))[number]
            one.holder[one.key] = CHANGES[change](one.value)
            path.write_bytes(signed(content))
            model, (_, X, _) = load_model(path), CASES[name]()
            found = model.predict(X)
            assert found.dtype.kind not in "f" or np.isfinite(found).all(), (name, place, change)
            model.coef_interval(**({} if hasattr(model, "cv_error_") else {"method": "mode"}))


def numbers_in(kind: Any, path: str = "") -> Iterator[str]:
    """Yield the paths to all numbers and arrays that are in a record, but for families and priors."""
    if kind in CHOICES:
        return
    if parts_of(kind) != (kind,):
        for part in parts_of(kind):
            yield from numbers_in(part, path)
    elif is_record(kind):
        for name, hint in CODEC.fields_of(kind).items():
            yield from numbers_in(hint, f"{path}.{name}" if path else name)
    elif origin_of(kind) is tuple:
        items = kind.__args__
        several = len(items) == 2 and items[1] is Ellipsis
        for number, one in enumerate(items[:1] if several else items):
            yield from numbers_in(one, f"{path}.*" if several else f"{path}.{number}")
    elif kind in (int, float) or dtype_of(kind) is not None:
        yield path


@pytest.mark.parametrize(
    ("record", "rules"), [(Fitted, MODE), (AverageFit, AVERAGE), (Baseline, BASELINE), (Kept, KEPT)]
)
def test_every_number_has_a_rule(record: Any, rules: Any) -> None:
    without = {"result.covariance.diagonal", "result.covariance.factor", "result.covariance.sign"}
    assert set(numbers_in(record)) - without <= set(rules)  # the covariance on that scale is never written


def test_every_number_that_a_family_estimates_has_a_rule() -> None:
    for family in CHOICES[Family]:
        hints = CODEC.fields_of(family)
        own = {name for name, hint in hints.items() if name.endswith("_") and list(numbers_in(hint))}
        assert own <= set(ESTIMATED.get(family, ())), family


def _set(*path: Any, to: Any) -> Callable[[Any], None]:
    def change(content: Any) -> None:
        for name in path[:-1]:
            content = content[name]
        content[path[-1]] = to(content[path[-1]]) if callable(to) else to

    return change


def _entries(to: Callable[[list[Any]], list[Any]]) -> Callable[[Any], Any]:
    def change(value: Any) -> Any:
        found = plain(value)
        return {**found, "values": to(found["values"])}

    return change


def last(value: Any) -> Any:
    """Return what puts another entry at the end of an array."""
    return _entries(lambda entries: [*entries[:-1], value])


def _poisson(content: Any) -> None:
    for one in content["fitted"]["regressions"]:
        one["family"] = one["result"]["family"] = {"class": "Poisson"}


FIT = ("fitted", "regressions", 0)
REVERSED = _entries(lambda entries: entries[::-1])
MEANINGLESS: list[tuple[str, Callable[[Any], None], str]] = [
    ("gaussian", _set(*FIT, "sigma2", to=-1.0), "fitted.regressions[0].sigma2 has the number -1, where 0 or"),
    ("gaussian", _set(*FIT, "std", to=last(-1.0)), "regressions[0].std has the number -1"),
    ("gaussian", _set(*FIT, "kappa", to=last(1.5)), "kappa has the number 1.5, where 0 to 1 belongs"),
    ("gaussian", _set(*FIT, "scale", to=last(-2.0)), "scale has the number -2"),
    ("gaussian", _set(*FIT, "intercept_variance", to=-1e-9), "intercept_variance has the number -1e-09"),
    ("gaussian", _set(*FIT, "covariance", "sign", to=0.5), "covariance.sign has the number 0.5"),
    (
        "gaussian",
        _set(*FIT, "result", "scales", "tau2", to=0.0),
        "result.scales.tau2 has the number 0",
    ),
    ("gaussian", _set(*FIT, "result", "n_iter", to=-3), "result.n_iter has the number -3"),
    (
        "gaussian",
        _set(*FIT, "hyper", "lambda_power", to=3.0),
        "hyper.lambda_power has the number 3, where more",
    ),
    ("gaussian", _set("fitted", "kept", 0, "n", to=0), "fitted.kept[0].n has the number 0"),
    ("gaussian", _set("fitted", "n_features", to=0), "fitted.n_features: 0 columns are none"),
    ("gaussian", _set("parameters", "tol", to="NaN"), "parameters.tol is not a number"),
    ("gaussian", _set(*FIT, "family", to={"class": "Cox", "ties": "efron"}), "family is Cox, which a Horse"),
    ("ties", _set(*FIT, "aliases", to=[[0, [4, 4]]]), "aliases has a number twice"),
    (
        "groups",
        _set(*FIT, "structure", "feature_groups", to=[0, 1, 0, 5]),
        "feature_groups has the number 5, where 0 to 2",
    ),
    (
        "groups",
        _set(*FIT, "structure", "feature_groups", to=[0, 1, 0]),
        "structure.feature_groups has the shape (3,)",
    ),
    (
        "groups",
        _set(*FIT, "structure", "feature_groups", to=None),
        "structure.names has 3 names for 0 groups",
    ),
    (
        "groups",
        _set("parameters", "feature_groups", to=[0, 1, 0]),
        "parameters.feature_groups has 3 entries for 4 columns",
    ),
    (
        "unpenalized",
        _set(*FIT, "structure", "unpenalized", to=[True]),
        "structure.unpenalized has the shape (1,)",
    ),
    (
        "unpenalized",
        _set("parameters", "unpenalized", to=[1, 9]),
        "parameters.unpenalized has the number 9, where 0 to 3",
    ),
    ("prior scale", _set(*FIT, "structure", "prior_scale", to=[1.0, 2.0]), "structure.prior_scale has the"),
    ("prior scale", _set(*FIT, "structure", "prior_scale", to=last(0.0)), "prior_scale has the number 0"),
    ("prior scale", _set("parameters", "prior_scale", to=[1.0]), "parameters.prior_scale has 1 entries"),
    ("start", _set("parameters", "start", "coef", to=[1.0]), "parameters.start.coef has the shape (1,)"),
    ("start", _set("parameters", "start", "sigma2", to="NaN"), "parameters.start.sigma2 is not finite"),
    ("ordinal", _set(*FIT, "family", "thresholds_", to=REVERSED), "thresholds_ has the number"),
    ("ordinal", _set(*FIT, "family", "points_", to=REVERSED), "family.points_ has the number"),
    ("ordinal", _set(*FIT, "result", "family", "thresholds_", to=REVERSED), "result.family.thresholds_ has"),
    ("negative_binomial", _set(*FIT, "family", "size_", to=0.0), "family.size_ has the number 0, where more"),
    ("student_t", _set(*FIT, "family", "df_", to=-4.0), "family.df_ has the number -4"),
    ("tweedie", _set(*FIT, "family", "unit_", to=-1.0), "family.unit_ has the number -1"),
    ("poisson", _set(*FIT, "result", "family", to={"class": "Gaussian"}), "result.family is another than"),
    ("classes words", _poisson, "family is Poisson, which a Horseshoe"),
    (
        "survival strata",
        _set("fitted", "baseline", "hazard", to=REVERSED),
        "fitted.baseline.hazard has",
    ),
    ("survival strata", _set("fitted", "baseline", "times", to=REVERSED), "fitted.baseline.times has"),
    ("survival strata", _set("fitted", "baseline", "ends", to=REVERSED), "fitted.baseline.ends has the num"),
    ("survival strata", _set("fitted", "baseline", "n_events", to=-1.0), "baseline.n_events has the number"),
    ("cv gaussian", _set(*FIT, "average", "weights", to=last(0.9)), "average.weights add up to"),
    ("cv gaussian", _set(*FIT, "average", "weights", to=last(-0.1)), "average.weights has the number -0.1"),
    ("cv gaussian", _set(*FIT, "average", "slope", to=2.0), "average.slope has the number 2, where 0 to 1"),
    ("cv gaussian", _set(*FIT, "inclusion", to=last(1.5)), "inclusion has the number 1.5"),
    ("cv gaussian", _set(*FIT, "units", "scale", to=last(0.0)), "units.scale has the number 0, where more"),
    ("cv gaussian", _set(*FIT, "units", "unit", to=-1.0), "units.unit has the number -1"),
    ("cv gaussian", _set(*FIT, "fold_errors", "errors", to=last(-1.0)), "fold_errors.errors has the number"),
    ("cv gaussian", _set(*FIT, "fold_errors", "counts", to=last(0.0)), "fold_errors.counts has the number 0"),
    ("cv gaussian", _set(*FIT, "sparser", "order", to=[0, 0]), "sparser.order has a number twice"),
    ("cv gaussian", _set(*FIT, "corrected", "std", to=last(-1.0)), "corrected.std has the number -1"),
    ("cv gaussian", _set(*FIT, "record", "n", to=0), "record.n has the number 0"),
    ("cv ordinal", _set(*FIT, "family", "thresholds_", to=REVERSED), "family.thresholds_ has the number"),
    (
        "cv structure",
        _set(*FIT, "unpenalized", "places", to=[False] * 4),
        "unpenalized.coef has the shape (1,), where",
    ),
    (
        "cv survival strata",
        _set("fitted", "baseline", "level", to=[0.0]),
        "baseline.level has the shape",
    ),
]


def test_meaningless_numbers_are_refused(contents: dict[str, Any], tmp_path: Path) -> None:
    for name, change, sentence in MEANINGLESS:
        content = copy.deepcopy(contents[name])
        assert why_refused(content, tmp_path / "model.json") is None, name
        change(content)
        assert sentence in (why_refused(content, tmp_path / "model.json") or ""), sentence


def fits_that_end_badly() -> dict[str, Callable[[], Any]]:
    rng = np.random.default_rng(0)
    X, noise = rng.standard_normal((40, 4)), rng.standard_normal(40)
    wide, unbounded = rng.standard_normal((30, 120)), HalfCauchy(tau_max=np.inf)
    apart = np.array(["a", "b"])[(X[:, 0] > 0.0).astype(int)]
    return {
        "SEPARATED": lambda: fit(HorseshoeClassifier(), X, apart),
        "MAX_ITER": lambda: fit(HorseshoeRegressor(max_iter=1), X, noise),
        "CONSTANT_RESPONSE": lambda: fit(HorseshoeRegressor(tau=unbounded), X, np.ones(40)),
        "BOUNDARY": lambda: fit(HorseshoeRegressor("poisson"), X, np.zeros(40)),
        "NO_COLUMNS": lambda: fit(HorseshoeRegressor(), np.zeros((40, 2)), noise),
        "NO_NOISE": lambda: fit(HorseshoeRegressor(prior="lasso", lambda_power=1.0), wide, noise[:30]),
        "CONVERGED": lambda: fit(HorseshoeRegressor(), 1e200 * X, 1e140 * (X[:, 0] + noise)),
    }


@pytest.mark.parametrize("status", fits_that_end_badly())
def test_no_model_that_a_fit_writes_is_refused(status: str, tmp_path: Path) -> None:
    model, X, _ = fits_that_end_badly()[status]()
    assert model.status_.name == status
    assert np.isfinite(model.kappa_).all()
    model.save(tmp_path / "model.json")
    np.testing.assert_array_equal(load_model(tmp_path / "model.json").predict(X), model.predict(X))


@pytest.mark.parametrize("labels", [["NaN", "b"], ["Infinity", "-Infinity", "NaN"]])
def test_labels_that_read_as_numbers_come_back(labels: list[str], tmp_path: Path) -> None:
    model, X, _ = fit(HorseshoeClassifier(), *classes(np.array(labels)))
    model.save(tmp_path / "model.json")
    again = load_model(tmp_path / "model.json")
    assert again.classes_.tolist() == sorted(labels)
    np.testing.assert_array_equal(again.predict(X), model.predict(X))

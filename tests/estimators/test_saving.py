"""Models that are saved and loaded answer the same, bit for bit, in another process too."""

from __future__ import annotations

import copy
import json
import pickle
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import saved_models
from horseshoe import AdaptiveRegressor, HorseshoeClassifier, HorseshoeRegressor, load_model
from horseshoe.estimators.model_schema import CODEC, PARAMETERS, TRACE_ENDS, SavedAverages, SavedModes
from horseshoe.estimators.saving import KINDS, STRUCTURE, estimator_class, save_model
from horseshoe.store.codec import is_record, parts_of
from registry import ESTIMATORS
from saved_models import CASES, GOLDEN, GOLDEN_CASES, answers, data, fit


@pytest.fixture(scope="module")
def models() -> dict[str, Any]:
    return {name: make() for name, make in CASES.items()}


def saved(model: Any, folder: Path) -> Any:
    path = folder / "model.json"
    model.save(path)
    return load_model(path)


def test_every_model_says_the_same_in_a_new_process(models: dict[str, Any], tmp_path: Path) -> None:
    for number, (model, X, y) in enumerate(models.values()):
        model.save(tmp_path / f"{number:03}.json")
        (tmp_path / f"{number:03}.data").write_bytes(pickle.dumps((X, y)))
    subprocess.run([sys.executable, saved_models.__file__, tmp_path], check=True)
    for number, (name, (model, X, y)) in enumerate(models.items()):
        found = pickle.loads((tmp_path / f"{number:03}.answers").read_bytes())
        expected = answers(model, X, y)
        assert found.keys() == expected.keys(), name
        for what, value in expected.items():
            assert found[what] == value, (name, what)


def test_a_loaded_model_has_all_that_the_saved_one_had(models: dict[str, Any], tmp_path: Path) -> None:
    data_of_the_fit, kept = {"_training", "_sampled", "_rows", "cv_prediction_"}, {"recipe_", "_kept"}
    for name, (model, _, _) in models.items():
        again = saved(model, tmp_path)
        assert type(again) is type(model), name
        assert set(vars(again)) - kept == set(vars(model)) - data_of_the_fit, name
        for one, other in zip(
            getattr(model, "estimators_", []), getattr(again, "estimators_", []), strict=True
        ):
            assert set(vars(other)) - kept == set(vars(one)) - data_of_the_fit - kept, name


def test_parameters_come_back(models: dict[str, Any], tmp_path: Path) -> None:
    other_than_saved = {
        "df": "prior",  # a class is saved as its object
        "class": "family",
        "start": "start",
        "start classes": "start",
        "start several": "start",
        "random": "random_state",
        "cv splitter": "cv",
        "cv components": "components",
        "slab number": "slab",
    }
    for name, (model, _, _) in models.items():
        again, expected = saved(model, tmp_path).get_params(deep=False), model.get_params(deep=False)
        expected["callback"] = None
        for parameter, value in expected.items():
            if parameter in STRUCTURE:  # by the numbers of the columns, however it was given
                assert (again[parameter] is None) == (value is None), (name, parameter)
            elif other_than_saved.get(name) != parameter:
                assert again[parameter] == value, (name, parameter)
                assert type(again[parameter]) is type(value), (name, parameter)
    loaded = {name: saved(models[name][0], tmp_path) for name in other_than_saved}
    assert repr(loaded["class"].family) == "Poisson()"
    assert loaded["random"].random_state is None
    assert loaded["cv splitter"].cv is None
    assert loaded["cv components"].components == ("horseshoe", "ridge")
    assert loaded["slab number"].slab == float(np.float32(1.1))


STRUCTURED = ["groups", "unpenalized", "prior scale", "unpenalized classes", "cv structure"]


@pytest.mark.parametrize(
    "name", ["start", "start classes", "weights", "cv components", "class weights", *STRUCTURED]
)
def test_a_loaded_model_can_be_fitted_again(models: dict[str, Any], tmp_path: Path, name: str) -> None:
    model, X, y = models[name]
    again, before = fit(clone(saved(model, tmp_path)), X, y)[0], fit(copy.deepcopy(model), X, y)[0]
    np.testing.assert_array_equal(again.coef_, before.coef_)


def test_every_parameter_of_every_estimator_has_a_type() -> None:
    names = {name for kind in KINDS for name in estimator_class(kind)().get_params()}
    assert names == set(PARAMETERS)
    assert {type(estimator).__name__ for estimator in ESTIMATORS} == set(KINDS)


def test_saved_twice_is_the_same_file(models: dict[str, Any], tmp_path: Path) -> None:
    for name, (model, _, _) in models.items():
        first, second = tmp_path / "first.json", tmp_path / "second.json"
        model.save(first)
        load_model(first).save(second)
        assert first.read_bytes() == second.read_bytes(), name


def test_a_long_trace_is_kept_at_both_ends(models: dict[str, Any], tmp_path: Path) -> None:
    model = models["long trace"][0]
    assert model.n_iter_ == len(model.trace_) > 2 * TRACE_ENDS
    again = saved(model, tmp_path)
    assert again.n_iter_ == model.n_iter_
    assert again.trace_ == model.trace_[:TRACE_ENDS] + model.trace_[-TRACE_ENDS:]
    short = models["gaussian"][0]
    assert saved(short, tmp_path).trace_ == short.trace_


def test_no_row_of_the_data_is_in_the_file(tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    X, y = rng.standard_normal((40, 3)), rng.standard_normal(40)
    for model in (HorseshoeRegressor(prior="ridge"), AdaptiveRegressor(cv=4)):
        model.fit(X, y).save(tmp_path / "model.json")
        text = (tmp_path / "model.json").read_text("utf-8")
        assert not [
            value for value in [*X.ravel(), *y, *(y - y.mean()) / y.std()] if repr(float(value)) in text
        ]


@pytest.mark.parametrize("name", ["bools", "laplace"])
def test_draws_need_the_data(models: dict[str, Any], tmp_path: Path, name: str) -> None:
    model, X, _ = models[name]
    again = saved(model, tmp_path)
    with pytest.raises(ValueError, match=r"models from files, do not hold its data.*method='mode'"):
        again.predict_interval(X)
    with pytest.raises(ValueError, match="do not hold its data"):
        again.coef_interval(method="posterior")


def test_rows_left_out_are_not_in_the_file(models: dict[str, Any], tmp_path: Path) -> None:
    again = saved(models["cv gaussian"][0], tmp_path)
    assert not hasattr(again, "cv_prediction_")
    with pytest.raises(ValueError, match="do not hold the rows that were left out"):
        again.left_out()
    assert not hasattr(saved(models["cv classes"][0], tmp_path), "cv_prediction_")


@pytest.mark.parametrize("name", ["gaussian", "ties", "classes words", "cv gaussian", "cv classes"])
def test_other_copies_keep_working(models: dict[str, Any], tmp_path: Path, name: str) -> None:
    model, X, y = models[name]
    joblib.dump(model, tmp_path / "model.joblib")
    expected = answers(model, X, y)
    for source in (model, saved(model, tmp_path)):
        for again in (pickle.loads(pickle.dumps(source)), copy.deepcopy(source)):
            assert answers(again, X, y) == expected
        assert not hasattr(clone(source), "coef_")
    assert answers(joblib.load(tmp_path / "model.joblib"), X, y) == expected


def test_the_recipe_stays_with_the_model(tmp_path: Path) -> None:
    recipe = {"target": "y", "medians": {"größe": 0.1 + 0.2, "b": -0.0}, "levels": [["a", None], [True, 3]]}
    model, X, y = fit(HorseshoeRegressor(), *data("gaussian"))
    path = save_model(model, tmp_path / "model.json", recipe=recipe)
    again = load_model(path)
    assert again.recipe_ == recipe
    assert str(again.recipe_["medians"]["b"]) == "-0.0"
    assert list(again.recipe_) == list(recipe)
    again.save(path)
    assert load_model(path).recipe_ == recipe
    assert load_model(save_model(again, path, recipe={"other": 1})).recipe_ == {"other": 1}
    assert not hasattr(again.fit(X, y), "recipe_")
    assert saved(model, tmp_path).recipe_ is None


def test_people_can_read_it(tmp_path: Path) -> None:
    model = fit(HorseshoeRegressor("poisson"), *saved_models.frame("poisson"))[0]
    model.save(tmp_path / "model.json")
    text = (tmp_path / "model.json").read_text("utf-8")
    content = json.loads(text)
    assert list(content) == [
        "format",
        "schema",
        "library",
        "kind",
        "parameters",
        "fitted",
        "recipe",
        "digest",
    ]
    assert content["fitted"]["feature_names"] == saved_models.NAMES
    assert "größe <b>" in text
    regression = content["fitted"]["regressions"][0]
    assert regression["coef"] == model.coef_.tolist()
    assert regression["intercept"] == model.intercept_
    assert regression["family"] == {"class": "Poisson"}


def test_names_with_halves_of_characters(tmp_path: Path) -> None:
    X, y = saved_models.frame("gaussian")
    X.columns = pd.Index(["ab\udce9", "\x00", " ", "\u2028"], dtype=object)
    model = HorseshoeRegressor().fit(X, y)
    assert saved(model, tmp_path).feature_names_in_.tolist() == X.columns.tolist()


def test_a_file_of_many_columns_is_small_and_quick(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((50, 3000))
    model = HorseshoeRegressor().fit(X, X[:, 0] + X[:, 1])
    again = saved(model, tmp_path)
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    assert (tmp_path / "model.json").stat().st_size < 200 * 3000


def test_the_files_of_the_first_schema_are_there() -> None:
    assert {path.stem for path in GOLDEN.iterdir()} == set(GOLDEN_CASES)


@pytest.mark.parametrize("name", GOLDEN_CASES)
def test_the_first_schema_is_read_for_ever(name: str) -> None:
    """These files are not written again once they are released: a new schema has files of its own."""
    path = GOLDEN / f"{name}.json"
    model = load_model(path)
    recipe = model.recipe_
    names = getattr(model, "feature_names_in_", None)
    X = np.array(recipe["X"]) if names is None else pd.DataFrame(recipe["X"], columns=names)
    predicted = model.predict(X)
    if hasattr(model, "classes_"):
        assert predicted.tolist() == recipe["predicted"]
    else:
        np.testing.assert_allclose(predicted, recipe["predicted"], rtol=1e-13)
    how = {} if name.endswith("cv") else {"method": "mode"}
    np.testing.assert_allclose(model.coef_interval(**how), recipe["coef_interval"], rtol=1e-12)
    assert json.loads(path.read_text("utf-8"))["schema"] == 1


def test_classifier_with_subclass_is_refused(tmp_path: Path) -> None:
    class HorseshoeClassifierPlus(HorseshoeClassifier):
        pass

    with pytest.raises(TypeError, match="HorseshoeClassifierPlus cannot be saved"):
        HorseshoeClassifierPlus().save(tmp_path / "model.json")


def records_in(kind: Any) -> Iterator[Any]:
    """Yield the classes that are in a file, but for families and priors."""
    for part in parts_of(kind):
        if is_record(part) and part not in CODEC.choices:
            yield part
            for hint in CODEC.fields_of(part).values():
                yield from records_in(hint)
        for inside in get_args(part):
            yield from records_in(inside)


def test_the_docs_name_every_field() -> None:
    text = (Path(saved_models.__file__).parents[1] / "docs" / "models_on_disk.md").read_text("utf-8")
    named = set(re.findall(r"`(\w+)`", text))
    for saved_type in (SavedModes, SavedAverages):
        for cls in set(records_in(saved_type)):
            assert set(CODEC.fields_of(cls)) <= named, cls
            assert Any not in CODEC.fields_of(cls).values(), cls

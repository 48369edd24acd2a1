"""What cannot be saved, and which files with a digest that fits are refused: the sentence says why."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import Ridge

from horseshoe import AdaptiveRegressor, HorseshoeClassifier, HorseshoeRegressor, load_model
from horseshoe.estimators.saving import save_model
from horseshoe.families import Gaussian
from horseshoe.priors import Horseshoe, Slab
from mutations.models import signed
from saved_models import CASES, data


class OwnFamily(Gaussian):
    """A family of a user's."""


class OwnPrior(Horseshoe):
    """A prior of a user's."""


class OwnGlobal:
    """A global prior of a user's."""

    bounds = (1e-20, 1.0)

    def neg_log_density(self, tau2: float) -> float:
        return 0.0

    def slope(self, tau2: float) -> float:
        return 0.0


@pytest.mark.parametrize(
    ("estimator", "culprit"),
    [
        (HorseshoeRegressor(OwnFamily()), "family=OwnFamily()"),
        (HorseshoeRegressor(OwnFamily), "family=OwnFamily()"),
        (HorseshoeRegressor(prior=OwnPrior()), "prior=OwnPrior(a=0.5, b=0.5)"),
        (HorseshoeRegressor(prior=Slab(2.0, OwnPrior())), "prior.prior=OwnPrior(a=0.5, b=0.5)"),
        (HorseshoeRegressor(tau=OwnGlobal()), "tau=<"),
        (AdaptiveRegressor(OwnFamily(), cv=3), "family=OwnFamily()"),
    ],
)
def test_what_is_not_ours_is_not_saved(estimator: Any, culprit: str, tmp_path: Path) -> None:
    model = estimator.fit(*data("gaussian"))
    with pytest.raises(TypeError) as caught:
        model.save(tmp_path / "model.json")
    assert str(caught.value).startswith(culprit)
    assert "a model file holds data, never code: keep such a model as a pickle" in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_other_things_that_are_not_saved(tmp_path: Path) -> None:
    path = tmp_path / "model.json"
    with pytest.raises(NotFittedError):
        HorseshoeRegressor().save(path)
    with pytest.raises(TypeError, match="a Ridge cannot be saved: HorseshoeRegressor"):
        save_model(Ridge(), path)
    model = HorseshoeRegressor().fit(*data("gaussian"))
    for recipe in ([], "x", 3):
        with pytest.raises(TypeError, match="must be a dict or None"):
            save_model(model, path, recipe=recipe)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"recipe=.*'levels': \(1, 2\).*a model file takes"):
        save_model(model, path, recipe={"levels": (1, 2)})
    X = np.random.default_rng(0).standard_normal((20, 2))
    days = np.array(["2020-01-01", "2020-01-02"], dtype="M8[D]")[(X[:, 0] > 0).astype(int)]
    with pytest.raises(TypeError, match=r"cannot be saved: a model file takes booleans, numbers and text"):
        HorseshoeClassifier().fit(X, days).save(path)
    assert not path.exists()


def _set(*path: Any, to: Any) -> Callable[[Any], None]:
    def change(content: Any) -> None:
        for name in path[:-1]:
            content = content[name]
        content[path[-1]] = to

    return change


FIT = ("fitted", "regressions", 0)
REFUSED: list[tuple[str, Callable[[Any], None], str]] = [
    (
        "gaussian",
        _set("kind", to="Pipeline"),
        "it is a 'Pipeline', which is not known here: HorseshoeRegressor,",
    ),
    ("gaussian", _set("kind", to="AdaptiveRegressor"), "parameters: the field 'components' is missing"),
    ("gaussian", _set("extra", to=1), "the model: the field 'extra' is not known"),
    ("gaussian", lambda content: content.pop("recipe"), "the model: the field 'recipe' is missing"),
    ("gaussian", _set("recipe", to=[]), "recipe is neither an object nor null"),
    ("gaussian", _set("library", to=None), "it does not say which schema it has"),
    ("gaussian", _set("parameters", to=[]), r"parameters: \[\] is not an object"),
    ("gaussian", _set("parameters", "tol", to="x"), "parameters.tol: 'x' is not a number"),
    ("gaussian", _set("parameters", "max_iter", to=1.5), "parameters.max_iter: 1.5 is not whole number"),
    (
        "gaussian",
        _set("parameters", "callback", to="os.system"),
        "parameters.callback: 'os.system' is not nothing",
    ),
    (
        "gaussian",
        _set("parameters", "family", to={"class": "Popen"}),
        "the class 'Popen' is not known here: Gaussian",
    ),
    (
        "gaussian",
        _set("parameters", "family", to={"class": "Horseshoe", "a": 0.5}),
        "the class 'Horseshoe' is not",
    ),
    (
        "gaussian",
        _set("parameters", "prior", to={"class": "Lasso", "shape": -1.0, "rate": 1.0}),
        "shape=-1.0",
    ),
    (
        "gaussian",
        _set("parameters", "prior", to={"class": "Lasso", "shape": 1.0}),
        "the field 'rate' is missing",
    ),
    (
        "gaussian",
        _set(*FIT, "coef", to=[1.0]),
        r"regressions\[0\].coef has the shape \(1,\), where \(4\) belongs",
    ),
    ("gaussian", _set(*FIT, "coef", to=["NaN"] * 4), "coef is not finite"),
    ("gaussian", _set(*FIT, "coef", to=[1.0, 2.0, 3.0, 4.0]), "covariance.diagonal has the shape"),
    ("gaussian", _set(*FIT, "intercept", to="Infinity"), "intercept is not finite"),
    ("gaussian", _set(*FIT, "result", "status", to="FINE"), "'FINE' is none of CONVERGED, MAX_ITER"),
    ("gaussian", _set(*FIT, "result", "status", to=["CONVERGED"]), "is none of CONVERGED"),
    ("gaussian", _set(*FIT, "powers", to=[[1, 2, 3, 4]]), "1 values are there, where 2 belong"),
    ("gaussian", _set(*FIT, "powers", to=[[2**40, 2, 3, 4], 1]), "beyond the range of int32"),
    ("gaussian", _set(*FIT, "family", to=None), "None is not a Family"),
    ("gaussian", _set("fitted", "feature_names", to=["a"]), "1 names for 4 columns"),
    ("gaussian", _set("fitted", "feature_names", to=[1, 2, 3, 4]), "1 is not text"),
    ("gaussian", _set("fitted", "classes", to={"dtype": "O", "values": ["a", "b"]}), "has classes: True"),
    ("gaussian", _set("fitted", "n_features", to=True), "True is not whole number"),
    ("ties", _set(*FIT, "aliases", to=[[0, [99]]]), "aliases has the number 99, where 0 to 5 belong"),
    ("ties", _set(*FIT, "aliases", to=[[0, [4]], [0, [4]]]), "a key stands twice"),
    ("classes words", _set("fitted", "classes", to=None), "a HorseshoeClassifier has classes: False"),
    ("classes words", _set("fitted", "classes", "values", to=["a", "b"]), "3 are there, where 1 belong"),
    ("classes words", _set("fitted", "classes", "values", to=["a", "b", "b"]), "not different ones"),
    ("classes words", _set("fitted", "classes", "dtype", to="<i8"), "are not of type|not different ones"),
    ("classes words", _set("fitted", "classes", "dtype", to="V8"), "3 labels of type 'V8' are no classes"),
    ("classes ints", _set("fitted", "classes", "dtype", to="|i1|O"), "are no classes"),
    ("classes ints", _set("fitted", "classes", "values", to=[1, 2, 2**63]), "are not of type"),
    ("bools", _set("fitted", "classes", "dtype", to="<i8"), "are not different ones of type"),
    ("bools", _set("parameters", "augmentation", to="magic"), "augmentation='magic' is not known"),
    (
        "cv gaussian",
        _set(*FIT, "fold_errors", "folds", 3, to=5),
        "fold_errors.folds has the number 5, where 0 to 4 belong",
    ),
    ("cv gaussian", _set(*FIT, "fold_errors", "errors", to=[1.0]), "errors has the shape"),
    (
        "cv gaussian",
        _set(*FIT, "fold_errors", to=None),
        "has some of average, sparser, fold_errors and corrected",
    ),
    ("cv gaussian", _set(*FIT, "sparser", "order", to=[0, 77]), "order has the number 77"),
    ("cv gaussian", _set(*FIT, "components", to=[]), "average.judged has the shape"),
    ("cv gaussian", _set(*FIT, "sets", to=None), "the field 'sets' is not known"),
    ("cv gaussian", _set(*FIT, "units", "kept", to=[1, 1, 1, 1]), "1 is in an array of bool"),
    ("cv gaussian", _set(*FIT, "units", "kept", to=[True] * 3 + [False]), "where .* belongs"),
]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    path = tmp_path_factory.mktemp("models") / "model.json"
    found = {}
    for name in {name for name, _, _ in REFUSED}:
        CASES[name]()[0].save(path)
        found[name] = path.read_text("utf-8")
    return found


def test_refused_content(files: dict[str, str], tmp_path: Path) -> None:
    path = tmp_path / "model.json"
    for name, change, sentence in REFUSED:
        content = json.loads(files[name])
        path.write_bytes(signed(content))
        load_model(path)
        change(content)
        path.write_bytes(signed(content))
        with pytest.raises(ValueError, match=sentence) as caught:
            load_model(path)
        assert str(caught.value).startswith(f"the model file {str(path)!r} cannot be loaded: "), sentence

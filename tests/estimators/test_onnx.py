"""ONNX says what predict and predict_proba say, as onnxruntime computes it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnxruntime import InferenceSession
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from horseshoe import HorseshoeClassifier, HorseshoeRegressor, load_model
from horseshoe.estimators.onnx import register_converters, to_onnx
from horseshoe.families import Gaussian
from registry import AVERAGED
from saved_models import CASES, LABELS, classes, data


def run(content: Any, X: Any, dtype: Any = np.float64) -> list[Any]:
    session = InferenceSession(content.SerializeToString(), providers=["CPUExecutionProvider"])
    return list(session.run(None, {session.get_inputs()[0].name: np.asarray(X, dtype=dtype)}))


@pytest.mark.parametrize("family", AVERAGED)
@pytest.mark.parametrize("which", ["", "cv "])
def test_regressors(family: str, which: str) -> None:
    model, X, _ = CASES[which + family]()
    (found,) = run(to_onnx(model), X)
    assert found.dtype == np.float64
    np.testing.assert_allclose(found[:, 0], model.predict(X), rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("name", ["wide poisson", "sparse", "nothing", "all zero", "cv wide", "cv all zero"])
def test_other_regressors(name: str) -> None:
    model, X, _ = CASES[name]()
    X = X.toarray() if hasattr(X, "toarray") else X
    (found,) = run(to_onnx(model), X)
    np.testing.assert_allclose(found[:, 0], model.predict(X), rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize(
    "name",
    [
        *(f"{how} {kind}" for how in ("two", "classes") for kind in ("ints", "words", "objects")),
        "bools",
        "cv classes",
        "cv two",
    ],
)
def test_classifiers(name: str) -> None:
    model, X, _ = CASES[name]()
    labels, proba = run(to_onnx(model), X)
    assert np.asarray(labels).tolist() == model.predict(X).tolist()
    np.testing.assert_allclose(proba, model.predict_proba(X), rtol=1e-10, atol=1e-14)


def test_far_rows() -> None:
    X, y = classes(LABELS["ints"])
    model = HorseshoeClassifier().fit(X, y)
    far = np.array([[1e5, 0.0, 0.0], [-1e5, 0.0, 0.0], [0.0, 1e5, -1e5]])
    labels, proba = run(to_onnx(model), far)
    np.testing.assert_array_equal(labels, model.predict(far))
    np.testing.assert_allclose(proba, model.predict_proba(far), atol=1e-12)
    counts, _, _ = CASES["class"]()
    (found,) = run(to_onnx(counts), np.full((1, 4), 1e9))
    np.testing.assert_allclose(found[:, 0], counts.predict(np.full((1, 4), 1e9)), rtol=1e-9)


def test_a_loaded_model_can_be_converted_and_written(tmp_path: Path) -> None:
    model, X, _ = CASES["gaussian"]()
    model.save(tmp_path / "model.json")
    written = to_onnx(load_model(tmp_path / "model.json"), tmp_path / "model.onnx")
    assert (tmp_path / "model.onnx").read_bytes() == written.SerializeToString()
    session = InferenceSession(tmp_path / "model.onnx")
    found = session.run(None, {"X": X.to_numpy()})[0]
    np.testing.assert_allclose(found[:, 0], model.predict(X), rtol=1e-12)
    with pytest.raises(ValueError, match="it looks like a model in ONNX"):
        load_model(tmp_path / "model.onnx")


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_in_a_pipeline(dtype: Any) -> None:
    from skl2onnx import to_onnx as convert

    register_converters()
    X, y = data("poisson")
    steps = make_pipeline(StandardScaler(), HorseshoeRegressor("poisson")).fit(X, y)
    (found,) = run(convert(steps, X[:1].astype(dtype)), X, dtype)
    tolerance = 1e-10 if dtype is np.float64 else 1e-3
    np.testing.assert_allclose(found[:, 0], steps.predict(X), rtol=tolerance)
    X, y = classes(LABELS["words"])
    steps = make_pipeline(StandardScaler(), HorseshoeClassifier()).fit(X, y)
    labels, proba = run(convert(steps, X[:1].astype(dtype), options={"zipmap": False}), X, dtype)
    np.testing.assert_allclose(proba, steps.predict_proba(X), rtol=1e-4, atol=1e-5)
    assert np.mean(labels == steps.predict(X)) == 1.0


class Own(Gaussian):
    is_location = False


def test_refused() -> None:
    with pytest.raises(NotFittedError):
        to_onnx(HorseshoeRegressor())
    with pytest.raises(TypeError, match="a Ridge cannot be written as ONNX"):
        to_onnx(Ridge())
    model = HorseshoeRegressor().fit(*data("gaussian"))
    model.family_ = Own()
    with pytest.raises(TypeError, match="has a link that is not known"):
        to_onnx(model)
    for kind in ("floats", "unsigned"):
        with pytest.raises(TypeError, match="neither text nor whole numbers"):
            to_onnx(CASES[f"two {kind}"]()[0])

"""Predictors in ONNX, for programs that have no Python: what `predict` and `predict_proba` compute."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np

from horseshoe._extras import require
from horseshoe.estimators.saving import KINDS, check_kind, estimator_class
from horseshoe.families import Family
from horseshoe.files import write_file

# The linear predictor is held within it before an exponential, as in the families of counts.
EXTREME = 700.0


def to_onnx(model: Any, path: str | os.PathLike[str] | None = None) -> Any:
    """Return a fitted model as ONNX, and write it to a file if one is named.

    Needs skl2onnx, which the extra ``horseshoe[onnx]`` installs. The input "X" has a row of 64-bit floats for
    each prediction. A regressor has one output, "variable" of shape (m, 1): the mean of y without offset, at
    an exposure of 1. A classifier has two, "label" and "probabilities". Intervals are not in it.

    Parameters
    ----------
    model : estimator
        A fitted regressor or classifier, adaptive or a single mode.
    path : str or path-like, optional
        Where to write it.

    Returns
    -------
    onnx.ModelProto

    Examples
    --------
    >>> from onnxruntime import InferenceSession
    >>> from horseshoe import HorseshoeRegressor
    >>> x = np.arange(20.0)[:, None]
    >>> model = HorseshoeRegressor("poisson").fit(x, np.arange(20))
    >>> session = InferenceSession(to_onnx(model).SerializeToString())
    >>> found = session.run(None, {"X": np.array([[5.0]])})[0]
    >>> bool(abs(found[0, 0] - model.predict([[5.0]])[0]) < 1e-12)
    True
    """
    skl2onnx = require("skl2onnx", extra="onnx")
    check_kind(model, "written as ONNX")
    _link(model.family_)
    register_converters()
    double = require("skl2onnx.common.data_types", extra="onnx").DoubleTensorType
    found = skl2onnx.convert_sklearn(
        model,
        initial_types=[("X", double([None, model.n_features_in_]))],
        options={id(model): {"zipmap": False}} if hasattr(model, "predict_proba") else None,
    )
    if path is not None:
        write_file(Path(path), lambda file: file.write(found.SerializeToString()))
    return found


def register_converters() -> None:
    """Let skl2onnx convert our estimators wherever they stand: at the end of a pipeline, for one.

    Examples
    --------
    >>> from skl2onnx import to_onnx as convert
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from horseshoe import HorseshoeRegressor
    >>> register_converters()
    >>> X = np.arange(20.0)[:, None]
    >>> steps = make_pipeline(StandardScaler(), HorseshoeRegressor()).fit(X, X[:, 0])
    >>> [node.op_type for node in convert(steps, X[:1]).graph.node]
    ['Sub', 'Div', 'MatMul', 'Add', 'Identity']
    """
    update = require("skl2onnx", extra="onnx").update_registered_converter
    for kind in KINDS:
        classifier = "Classifier" in kind
        update(
            estimator_class(kind),
            f"Horseshoe{kind}",
            _classifier_shapes if classifier else _regressor_shapes,
            _convert_classifier if classifier else _convert_regressor,
            overwrite=True,
            options={"zipmap": [True, False, "columns"]} if classifier else None,
        )


def _link(family: Family) -> str:
    """Return how the mean follows from the linear predictor."""
    for name, holds in (
        ("identity", family.is_location or not family.has_intercept),
        ("log", family.log_link),
        ("logit", family.is_binary),
    ):
        if holds:
            return name
    raise TypeError(f"{family!r:.100} has a link that is not known here: ONNX holds no code of Python")


def _labels(classes: Any) -> Any:
    """Return labels as ONNX has them: text, or whole numbers."""
    if classes.dtype.kind in "bi" or (classes.dtype.kind == "u" and classes.max() < 2**63):
        return classes.astype(np.int64)
    if all(isinstance(label, str) for label in classes.tolist()):
        return np.array(classes.tolist())
    raise TypeError(f"the labels {classes.tolist()!r:.100} are neither text nor whole numbers, as ONNX needs")


def _regressor_shapes(operator: Any) -> None:
    rows = operator.inputs[0].type
    operator.outputs[0].type = type(rows)([rows.shape[0], 1])


def _classifier_shapes(operator: Any) -> None:
    types = require("skl2onnx.common.data_types", extra="onnx")
    rows, classes = operator.inputs[0].type, _labels(operator.raw_operator.classes_)
    label = types.Int64TensorType if classes.dtype.kind == "i" else types.StringTensorType
    operator.outputs[0].type = label([rows.shape[0]])
    operator.outputs[1].type = type(rows)([rows.shape[0], classes.size])


def _predictor(operator: Any, container: Any) -> tuple[Any, Any, Any]:
    """Return the operators of ONNX with their version, the linear predictor (m, k), and the float type."""
    ops = require("skl2onnx.algebra.onnx_ops", extra="onnx")
    types = require("skl2onnx.common.data_types", extra="onnx")
    model, X = operator.raw_operator, operator.inputs[0]
    dtype = np.float64 if isinstance(X.type, types.DoubleTensorType) else np.float32
    version = container.target_opset

    class Ops:
        def __getattr__(self, name: str) -> Any:
            make = getattr(ops, f"Onnx{name}")
            return lambda *args, **options: make(*args, op_version=version, **options)

    parts = getattr(model, "estimators_", [model])
    coef = np.column_stack([part.coef_ for part in parts]).astype(dtype)
    intercept = np.array([part.intercept_ for part in parts], dtype=dtype)
    made = Ops()
    if not isinstance(X.type, types.DoubleTensorType | types.FloatTensorType):  # whole numbers
        X = made.Cast(X, to=1)
    return made, made.Add(made.MatMul(X, coef), intercept), dtype


def _convert_regressor(scope: Any, operator: Any, container: Any) -> None:
    make, eta, dtype = _predictor(operator, container)
    link, names = _link(operator.raw_operator.family_), operator.outputs[:1]
    if link == "log":
        bound = EXTREME if dtype is np.float64 else 80.0
        held = make.Clip(eta, np.array(-bound, dtype=dtype), np.array(bound, dtype=dtype))
        mean = make.Exp(held, output_names=names)
    elif link == "logit":
        mean = make.Sigmoid(eta, output_names=names)
    else:
        mean = make.Identity(eta, output_names=names)
    mean.add_to(scope, container)


def _convert_classifier(scope: Any, operator: Any, container: Any) -> None:
    make, eta, dtype = _predictor(operator, container)
    classes = _labels(operator.raw_operator.classes_)
    names = operator.outputs[1:2]
    if classes.size == 2:
        eta = make.Concat(make.Neg(eta), eta, axis=1)
        proba = make.Sigmoid(eta, output_names=names)
    else:  # softmax of the logarithms of the probabilities scales these to a sum of 1
        rest = make.Log(make.Add(make.Exp(make.Neg(make.Abs(eta))), np.ones(1, dtype=dtype)))
        log_proba = make.Sub(make.Min(eta, np.zeros(1, dtype=dtype)), rest)
        proba = make.Softmax(log_proba, axis=1, output_names=names)
    best = make.ArgMax(eta, axis=1, keepdims=0)
    label = make.Gather(classes, best, axis=0, output_names=operator.outputs[:1])
    label.add_to(scope, container)
    proba.add_to(scope, container)

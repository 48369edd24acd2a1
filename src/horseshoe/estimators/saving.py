"""Models to files and back: plain data that any program can read, and that no program executes."""

from __future__ import annotations

import os
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from horseshoe.estimators.base import Header

# The estimators that can be saved, and where they live.
KINDS = {
    "HorseshoeRegressor": "horseshoe.estimators.regressor",
    "HorseshoeClassifier": "horseshoe.estimators.classifier",
    "AdaptiveRegressor": "horseshoe.estimators.adaptive_regressor",
    "AdaptiveClassifier": "horseshoe.estimators.adaptive_classifier",
    "HorseshoeSurvival": "horseshoe.estimators.survival",
    "AdaptiveSurvival": "horseshoe.estimators.adaptive_survival",
}
# Parameters saved as None where they are not plain: functions, splitters, generators, numbers of 2^63 on.
SAVED_AS_NONE = ("callback", "cv", "random_state")
# Parameters saved by the numbers of the columns, however they were given.
STRUCTURE = ("feature_groups", "unpenalized", "prior_scale")


def save_model(model: Any, path: str | os.PathLike[str], recipe: dict[str, Any] | None = None) -> Path:
    """Write a fitted model to a file, with how its columns were made of a table, if that is known.

    Parameters
    ----------
    model : estimator
        A fitted regressor or classifier, adaptive or a single mode.
    path : str or path-like
        Where; the folder must be there.
    recipe : dict, optional
        Plain data (None, bool, int, float, str, list, dict) to be kept with the model, and found again as
        its ``recipe_``; the one that the model was loaded with if left out.

    Returns
    -------
    Path
        The file.

    Examples
    --------
    >>> import tempfile
    >>> from horseshoe import HorseshoeRegressor, load_model
    >>> model = HorseshoeRegressor().fit([[1.0], [2.0], [3.0]], [1.0, 2.0, 2.5])
    >>> path = save_model(model, Path(tempfile.mkdtemp()) / "model.json", recipe={"target": "y"})
    >>> load_model(path).recipe_
    {'target': 'y'}
    """
    from horseshoe.store.model_file import write_envelope
    from horseshoe.store.text import check_json

    kind = check_kind(model, "saved")
    recipe = getattr(model, "recipe_", None) if recipe is None else recipe
    check_json(recipe, "recipe")
    if not isinstance(recipe, dict | None):
        raise TypeError(f"recipe={recipe!r:.60} must be a dict or None")
    content = {"parameters": _encoded_parameters(model), "fitted": _encoded_fit(model), "recipe": recipe}
    return write_envelope(Path(path), {"kind": kind, **content})


def load_model(path: str | os.PathLike[str]) -> Any:
    """Read a model that was saved.

    Nothing in the file is executed: it is data, and only estimators, families and priors of horseshoe are
    made of it. A file that was changed after it was written, or that is not all there, is refused.

    Parameters
    ----------
    path : str or path-like
        The file.

    Returns
    -------
    estimator
        It answers what the saved one did, bit for bit, but for what needs the training data. ``recipe_`` is
        the dict that was saved with it, or None.

    Raises
    ------
    ValueError
        If the file holds no model that this version can read; the sentence says why.
    OSError
        If there is no such file, or it cannot be read.

    Examples
    --------
    >>> import tempfile
    >>> from horseshoe import HorseshoeRegressor, load_model
    >>> path = Path(tempfile.mkdtemp()) / "model.json"
    >>> HorseshoeRegressor(tau=0.5).fit([[1.0], [2.0], [3.0]], [1.0, 2.0, 2.5]).save(path)
    >>> load_model(path)
    HorseshoeRegressor(tau=0.5)
    """
    from horseshoe.store.model_file import read_envelope, refusal

    path = Path(path)
    content = read_envelope(path)
    kind = content["kind"]
    if not isinstance(kind, str) or kind not in KINDS:
        raise refusal(path, f"it is a {kind!r:.60}, which is not known here: {', '.join(KINDS)} are")
    try:
        return _decoded(content)
    except ValueError as error:
        raise refusal(path, f"{error}; save the model again") from None


def estimator_class(kind: str) -> Any:
    """Return the estimator of this name.

    Examples
    --------
    >>> estimator_class("HorseshoeRegressor")()
    HorseshoeRegressor()
    """
    return getattr(import_module(KINDS[kind]), kind)


def check_kind(model: Any, done: str) -> str:
    """Return the name of a fitted estimator of ours, or say that nothing else can be ``done``.

    Examples
    --------
    >>> check_kind("a model", "saved")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    TypeError: a str cannot be saved: HorseshoeRegressor, HorseshoeClassifier, ... can
    """
    kind = type(model).__name__
    if kind not in KINDS or type(model) is not estimator_class(kind):
        raise TypeError(f"a {kind} cannot be {done}: {', '.join(KINDS)} can")
    check_is_fitted(model)
    return kind


def _encoded_parameters(model: Any) -> dict[str, Any]:
    from horseshoe.estimators.model_schema import CODEC, PARAMETERS

    found = {}
    for name, value in model.get_params(deep=False).items():
        value = _saved_structure(model, name) if name in STRUCTURE else _saved_parameter(name, value)
        found[name] = CODEC.encode(value, PARAMETERS[name], name)
    return found


def _saved_structure(model: Any, name: str) -> Any:
    """Return what was known of the columns as it is saved."""
    structure = getattr(model, "estimators_", [model])[0]._fitted.structure
    value = None if structure is None else getattr(structure, name)
    if value is None:
        return None
    return tuple((np.flatnonzero(value) if name == "unpenalized" else value).tolist())


def _saved_parameter(name: str, value: Any) -> Any:
    """Return a parameter as it is saved: an earlier fit as what a fit starts from, a class as its object."""
    from horseshoe.estimators.mode import earlier_fits

    whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if name in SAVED_AS_NONE and not (whole and abs(int(value)) < 2**63):
        return None
    if name == "start" and not isinstance(value, str | tuple):
        starts = earlier_fits(value)
        return starts if hasattr(value, "estimators_") else starts[0]
    if name == "components" and not isinstance(value, str):
        return tuple(value)
    return value() if isinstance(value, type) else value


def _saved_type(kind: str) -> Any:
    """Return the class of what is saved of a fit."""
    from horseshoe.estimators.model_schema import SavedAverages, SavedModes

    return SavedAverages if kind.startswith("Adaptive") else SavedModes


def _encoded_fit(model: Any) -> Any:
    from horseshoe.estimators.labels import Labels
    from horseshoe.estimators.model_schema import CODEC, SavedModes, without_rows

    def labels(name: str) -> Labels | None:
        return Labels.of(getattr(model, name)) if hasattr(model, name) else None

    parts, saved = getattr(model, "estimators_", [model]), _saved_type(type(model).__name__)
    names = getattr(model, "feature_names_in_", None)
    fitted = saved(
        n_features=model.n_features_in_,
        feature_names=None if names is None else tuple(map(str, names)),
        classes=labels("classes_"),
        outputs=tuple(model.outputs_.tolist()) if hasattr(model, "outputs_") else None,
        baseline=getattr(model, "_baseline", None),
        strata=labels("strata_"),
        regressions=tuple(without_rows(part._fitted) for part in parts),
        **({"kept": tuple(part._keep() for part in parts)} if saved is SavedModes else {}),
    )
    return CODEC.encode(fitted, saved, "fitted")


def _decoded(content: dict[str, Any]) -> Any:
    """Return the model that is in a file."""
    from horseshoe.estimators.model_rules import check_model
    from horseshoe.estimators.model_schema import CODEC, PARAMETERS
    from horseshoe.store.codec import check_fields

    kind = content["kind"]
    model = estimator_class(kind)()
    check_fields(content["parameters"], tuple(model.get_params(deep=False)), "parameters")
    for name, value in content["parameters"].items():
        setattr(model, name, CODEC.decode(value, PARAMETERS[name], f"parameters.{name}"))
    fitted = CODEC.decode(content["fitted"], _saved_type(kind), "fitted")
    if not isinstance(content["recipe"], dict | None):
        raise ValueError("recipe is neither an object nor null")
    check_model(model, fitted)
    _restore(model, fitted)
    model.recipe_ = content["recipe"]
    return model


def _restore(model: Any, fitted: Any) -> None:
    """Give an estimator its fit back; to one for classes, that of each of its regressions."""
    names = None if fitted.feature_names is None else np.array(fitted.feature_names, dtype=object)
    header, labels = Header(fitted.n_features, names), {}
    if fitted.outputs is not None:
        labels["outputs_"] = np.array(fitted.outputs, dtype=object)
    if fitted.classes is not None:
        labels["classes_"] = fitted.classes.array()
    kept = getattr(fitted, "kept", (None,) * len(fitted.regressions))
    parts = [model._part() for _ in kept] if labels else [model]
    for part, one, known in zip(parts, fitted.regressions, kept, strict=True):
        part._keep_fit(header, one, kept=known)
    if labels:
        model._keep_parts(header, parts, **labels)
    if fitted.baseline is not None:
        model._keep_baseline(fitted.baseline, None if fitted.strata is None else fitted.strata.array())

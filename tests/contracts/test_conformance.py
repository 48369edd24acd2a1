"""scikit-learn's own checks of every estimator."""

import contextlib
import traceback
from unittest import SkipTest

import pytest
from sklearn.datasets import make_blobs
from sklearn.utils import estimator_checks, get_tags
from sklearn.utils.estimator_checks import estimator_checks_generator

from registry import ESTIMATORS

# what a check looks at here is the same whatever the options: seen once for each kind of estimator
OF_THE_CLASS = {
    "check_all_zero_sample_weights_error",
    "check_array_api_input",
    "check_complex_data",
    "check_dict_unchanged",
    "check_do_not_raise_errors_in_init_or_set_params",
    "check_dont_overwrite_parameters",
    "check_dtype_object",
    "check_estimator_cloneable",
    "check_estimator_repr",
    "check_estimator_sparse_array",
    "check_estimator_sparse_matrix",
    "check_estimator_sparse_tag",
    "check_estimator_tags_renamed",
    "check_estimators_empty_data_messages",
    "check_estimators_fit_returns_self",
    "check_estimators_nan_inf",
    "check_estimators_overwrite_params",
    "check_estimators_partial_fit_n_features",
    "check_estimators_unfitted",
    "check_f_contiguous_array_estimator",
    "check_fit1d",
    "check_fit2d_1sample",
    "check_fit2d_predict1d",
    "check_fit_check_is_fitted",
    "check_fit_score_takes_y",
    "check_get_params_invariance",
    "check_mixin_order",
    "check_n_features_in",
    "check_n_features_in_after_fitting",
    "check_no_attributes_set_in_init",
    "check_parameters_default_constructible",
    "check_positive_only_tag_during_fit",
    "check_readonly_memmap_input",
    "check_regressor_data_not_an_array",
    "check_regressors_no_decision_function",
    "check_requires_y_none",
    "check_sample_weights_list",
    "check_sample_weights_not_an_array",
    "check_sample_weights_not_overwritten",
    "check_sample_weights_pandas_series",
    "check_sample_weights_shape",
    "check_set_params",
    "check_supervised_y_2d",
    "check_supervised_y_no_nan",
    "check_valid_tag_types",
}


def kind(estimator):
    """Regressions with the Gaussian family, with another one, and classifiers."""
    kind = getattr(estimator, "multi_class", None)
    return type(estimator).__name__, getattr(estimator, "family", None) == "gaussian", kind


def is_first(estimator):
    """Tell whether an estimator is the first of its kind."""
    return next(other for other in ESTIMATORS if kind(other) == kind(estimator)) is estimator


def conform(estimator, of_the_class, monkeypatch):
    """Run the checks of an estimator: those of its class, or the others.

    All checks but those of transformers move y to where the tag "positive_only" says it must be.
    """
    positive = get_tags(estimator).target_tags.positive_only
    failed, run = [], 0
    for own, check in estimator_checks_generator(estimator):
        which = check.func.__name__
        if (which in OF_THE_CLASS) != of_the_class:
            continue
        with monkeypatch.context() as patched, contextlib.suppress(SkipTest):
            if positive and which.startswith("check_transformer"):
                patched.setattr(estimator_checks, "make_blobs", positive_blobs)
            try:
                check(own)
                run += 1
            except SkipTest:
                raise
            except Exception:
                failed.append(f"{which}:\n{traceback.format_exc(limit=-4)}")
    assert not failed, f"{len(failed)} checks of {estimator!r} fail\n\n" + "\n".join(failed)
    assert run > 5


unfinished = pytest.mark.filterwarnings("ignore:not converged:sklearn.exceptions.ConvergenceWarning")


@unfinished
@pytest.mark.parametrize("estimator", ESTIMATORS, ids=repr)
def test_scikit_learn_conformance(estimator, monkeypatch):
    conform(estimator, of_the_class=False, monkeypatch=monkeypatch)


@unfinished
@pytest.mark.parametrize(
    "estimator",
    [
        pytest.param(estimator, id=repr(estimator), marks=() if is_first(estimator) else pytest.mark.slow)
        for estimator in ESTIMATORS
    ],
)
def test_scikit_learn_conformance_of_the_class(estimator, monkeypatch):
    """What these checks look at is the same whatever the options: the first of each kind is not slow."""
    conform(estimator, of_the_class=True, monkeypatch=monkeypatch)


def positive_blobs(**options):
    """Return the labels of scikit-learn's blobs from 1, and not from 0."""
    X, labels = make_blobs(**options)
    return X, labels + 1

"""A fit that reaches max_iter warns, once, at the line that asked for it; no other fit does."""

import inspect
import warnings

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_iris
from sklearn.exceptions import ConvergenceWarning

from horseshoe import HorseshoeClassifier, HorseshoeRegressor, Status, normal_means, sample_posterior
from horseshoe.estimators import sample as sampling
from horseshoe.priors import Horseshoe

SHORT = {"n_draws": 40, "n_warmup": 40, "n_chains": 2, "random_state": 0}
X, Y = load_diabetes(return_X_y=True, scaled=False)


def caught(action):
    """Return the warnings of ``action``, all of them."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        action()
    return found


def assert_here(warning, line):
    assert warning.category is ConvergenceWarning
    assert warning.filename == __file__
    assert warning.lineno == line


def here():
    return inspect.currentframe().f_back.f_lineno


def test_a_regression_says_once_that_it_is_not_done():
    model = HorseshoeRegressor(max_iter=2)
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        model.fit(X, Y)
        line = here() - 1
    (warning,) = found
    assert_here(warning, line)
    assert model.status_ is Status.MAX_ITER
    assert "max_iter" in str(warning.message)
    assert len(caught(lambda: model.fit(X, Y))) == 1  # each fit again


def test_a_classifier_says_once_for_which_classes():
    rows, labels = load_iris(return_X_y=True)
    names = np.array(["a", "b", "c"])[labels]
    full = HorseshoeClassifier().fit(rows, names)
    most = int(np.sort(full.n_iter_)[1])  # enough for the quicker two, not for all
    model = HorseshoeClassifier(max_iter=most)
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        model.fit(rows, names)
        line = here() - 1
    (warning,) = found
    assert_here(warning, line)
    late = [name for name, status in zip("abc", model.status_, strict=True) if status is Status.MAX_ITER]
    assert 0 < len(late) < 3
    for name in "abc":
        assert (repr(name) in str(warning.message)) == (name in late)


def test_two_classes_and_means():
    (warning,) = caught(lambda: HorseshoeClassifier(max_iter=2).fit(X, Y > 150.0))
    assert_here(warning, here() - 1)
    (warning,) = caught(lambda: normal_means(Y - Y.mean(), max_iter=2))
    assert_here(warning, here() - 1)


def test_fits_that_are_done_are_quiet():
    for action in (
        lambda: HorseshoeRegressor().fit(X, Y),
        lambda: HorseshoeRegressor(tau=1e-9).fit(X, Y),  # selects nothing
        lambda: HorseshoeRegressor().fit(X, np.ones(len(X))),
        lambda: HorseshoeRegressor(callback=lambda step: False).fit(X, Y),  # whoever stops it knows
        lambda: HorseshoeRegressor(family="poisson").fit(X, Y),
        lambda: HorseshoeClassifier().fit(X, Y > 150.0),
        lambda: HorseshoeClassifier().fit(X, X[:, 2] > 26.0),  # separated
        lambda: normal_means(Y - Y.mean()),
    ):
        assert caught(action) == []


@pytest.mark.filterwarnings("ignore:R-hat")
def test_the_sampler_says_it_of_the_mode(monkeypatch):
    whole = sampling.fit
    few = HorseshoeRegressor(max_iter=2)
    monkeypatch.setattr(sampling, "fit", lambda spec, rows: whole(spec, rows, sampling_options(few)))
    found = caught(lambda: sample_posterior(X, Y, **SHORT))
    (warning,) = [one for one in found if one.category is ConvergenceWarning]
    assert_here(warning, here() - 2)
    assert "mode" in str(warning.message)


def sampling_options(model):
    from horseshoe.estimators.parameters import em_options

    return em_options(model)


def test_the_draws_of_an_unfinished_fit_do_not_repeat_the_warning():
    with pytest.warns(ConvergenceWarning):
        model = HorseshoeRegressor(max_iter=2, prior=Horseshoe()).fit(X, Y)
    found = caught(lambda: model.sample_posterior(**SHORT))
    assert not [one for one in found if one.category is ConvergenceWarning]

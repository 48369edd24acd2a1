"""Classes that share the scales of the columns, through the classifier."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss

from horseshoe import HorseshoeClassifier, Status
from horseshoe.plots import plot_coefficients
from horseshoe.report.summaries import summary_text

Q = 3


def data(n=200, p=6, seed=0, q=Q):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p)) * np.geomspace(0.1, 10.0, p) + 1.0
    coef = np.zeros((p, q))
    coef[[1, 3]] = 1.5 * rng.standard_normal((2, q))
    codes = ((X - 1.0) / X.std(axis=0) @ coef + rng.gumbel(size=(n, q))).argmax(axis=1)
    return X, np.array(["a", "b", "c", "d"])[codes]


def model(**options):
    return HorseshoeClassifier(multi_class="multinomial", **options)


def test_shapes_and_what_is_shared():
    X, y = data()
    fitted = model().fit(X, y)
    assert fitted.coef_.shape == fitted.coef_std_.shape == (Q, 6)
    assert fitted.intercept_.shape == (Q,)
    assert fitted.support_.shape == fitted.lambda2_.shape == (6,)
    np.testing.assert_allclose(fitted.coef_.sum(axis=0), 0.0, atol=1e-12)
    assert fitted.intercept_.sum() == pytest.approx(0.0, abs=1e-10)
    np.testing.assert_array_equal(fitted.coef_ != 0.0, np.tile(fitted.support_, (Q, 1)))
    assert fitted.support_[[1, 3]].all()
    eta = X @ fitted.coef_.T + fitted.intercept_
    np.testing.assert_allclose(fitted.decision_function(X), eta, rtol=1e-9, atol=1e-12)
    share = np.exp(eta) / np.exp(eta).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(fitted.predict_proba(X), share, rtol=1e-9)
    assert fitted.score(X, y) > 0.5
    assert fitted.log_likelihood(X, y) == pytest.approx(-log_loss(y, share, normalize=False))
    inside = fitted.predict_interval(X, method="mode")
    assert inside.shape == (200, Q, 2)
    assert ((inside[..., 0] < share) & (share < inside[..., 1])).all()
    assert fitted.coef_interval(method="mode").shape == (Q, 6, 2)


def test_at_fixed_scales_it_is_scikit_learns():
    X, y = data()
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    ours = model(prior="ridge", tau=0.7, tol=1e-12).fit(X, y)
    peer = LogisticRegression(C=0.49, tol=1e-12, max_iter=10_000, solver="newton-cholesky").fit(Z, y)
    np.testing.assert_allclose(ours.coef_ * X.std(axis=0), peer.coef_, atol=1e-9)
    np.testing.assert_allclose(ours.predict_proba(X), peer.predict_proba(Z), atol=1e-9)


def test_two_classes_are_a_pair():
    X, y = data(q=2)
    pair = model(prior="ridge", tau=0.5, tol=1e-12).fit(X, y)
    alone = HorseshoeClassifier(prior="ridge", tau=0.5 * np.sqrt(2.0), tol=1e-12).fit(X, y)
    np.testing.assert_allclose(pair.coef_[1], -pair.coef_[0], rtol=1e-9)
    np.testing.assert_allclose(2.0 * pair.coef_[1], alone.coef_, rtol=1e-7)
    np.testing.assert_allclose(pair.predict_proba(X), alone.predict_proba(X), rtol=1e-7)
    assert pair.decision_function(X).shape == (200,)
    np.testing.assert_allclose(
        pair.predict_interval(X, method="mode")[:, 1], alone.predict_interval(X, method="mode"), rtol=1e-6
    )


def test_weights_are_repeated_rows_and_classes_have_weights():
    X, y = data()
    counts = np.arange(200) % 3
    tight = model(tol=1e-12)
    weighted = clone(tight).fit(X, y, sample_weight=counts)
    repeated = clone(tight).fit(np.repeat(X, counts, axis=0), np.repeat(y, counts))
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, rtol=1e-7, atol=1e-12)
    given = clone(tight).set_params(class_weight={"a": 2.0}).fit(X, y)
    same = clone(tight).fit(X, y, sample_weight=1.0 + (y == "a"))
    np.testing.assert_allclose(given.coef_, same.coef_, rtol=1e-9, atol=1e-12)
    precise = clone(tight).set_params(weight_type="precision").fit(X, y, sample_weight=np.full(200, 7.0))
    np.testing.assert_allclose(precise.coef_, clone(tight).fit(X, y).coef_, rtol=1e-9, atol=1e-12)


def test_refusals():
    X, y = data()
    with pytest.raises(ValueError, match="offset does not go with multi_class='multinomial'"):
        model().fit(X, y, offset=np.ones(200))
    with pytest.raises(ValueError, match="multi_class='both'"):
        HorseshoeClassifier(multi_class="both").fit(X, y)
    with pytest.raises(
        ValueError, match="expectation='stochastic' does not go with multi_class='multinomial'"
    ):
        model(expectation="stochastic").fit(X, y)
    with pytest.raises(ValueError, match="has multi_class='one_vs_rest', not 'multinomial'"):
        model(start=HorseshoeClassifier().fit(X, y)).fit(X, y)
    with pytest.raises(ValueError, match="y has 2 columns, but a classifier explains one column of labels"):
        model().fit(X, np.column_stack([y, y]))
    with pytest.raises(ValueError, match="the model has 3 classes: draw one of them"):
        plot_coefficients(model().fit(X, y))


def test_reports_names_and_starts():
    X, y = data()
    frame = pd.DataFrame(X, columns=list("uvwxyz"))
    fitted = model().fit(frame, y)
    assert set(fitted.summary(method="mode")["class"]) == {"a", "b", "c"}
    assert "odds_ratio" in fitted.summary(exponentiate=True, method="mode")
    assert fitted.get_feature_names_out().tolist()[:2] == ["v", "x"]
    assert all(one in summary_text(fitted, method="mode") for one in ("a", "b", "c", "D^2"))
    assert "b" in fitted._repr_html_()
    null = np.unique(y, return_counts=True)[1] / 200
    total = -2.0 * float(np.log(null) @ (null * 200))
    assert fitted.statistics().explained == pytest.approx(1.0 + 2.0 * fitted.log_likelihood(frame, y) / total)
    again = model(start=fitted).fit(frame, y)
    np.testing.assert_allclose(again.coef_, fitted.coef_, atol=1e-3)
    assert not fitted.chance_selection(frame, y, n_permutations=3).is_noise
    near = model(expectation="approximate").fit(frame, y)
    np.testing.assert_allclose(near.predict_proba(frame), fitted.predict_proba(frame), atol=0.05)


def test_classes_that_are_told_apart_and_columns_that_say_nothing():
    x = np.linspace(0.0, 3.0, 60)
    apart = model().fit(np.column_stack([x, np.cos(40.0 * x)]), np.digitize(x, [1.0, 2.0]))
    assert apart.status_ is Status.SEPARATED
    assert np.isfinite(apart.coef_).all()
    none = model().fit(np.ones((9, 2)), list("abcabcabc"))
    assert none.status_ is Status.NO_COLUMNS
    np.testing.assert_allclose(none.predict_proba(np.ones((1, 2))), 1.0 / 3.0)


def test_without_intercepts():
    X, y = data()
    bare = model(fit_intercept=False).fit(X - X.mean(axis=0), y)
    np.testing.assert_array_equal(bare.intercept_, 0.0)
    assert ((bare.kappa_ > 0.0) & (bare.kappa_ <= 1.0)).all()
    assert bare.expected_by_chance_ < 1.0
    np.testing.assert_allclose(
        bare.predict_interval(np.zeros((1, 6)), method="mode"), np.full((1, Q, 2), 1.0 / Q), rtol=1e-12
    )


def test_draws_of_probabilities():
    X, y = data()
    fitted = model(random_state=0).fit(X, y)
    with pytest.warns(UserWarning, match="R-hat is not below 1.01"):  # few draws, for the test's sake
        draws = fitted.sample_posterior(n_draws=600, n_warmup=300)
    assert draws.coef.shape == (4, 600, Q, 6)
    np.testing.assert_allclose(draws.coef.sum(axis=2), 0.0, atol=1e-10)
    share = draws.predict(X)
    np.testing.assert_allclose(share.sum(axis=1), 1.0)
    assert np.abs(share - fitted.predict_proba(X)).mean() < 0.03
    inside = fitted.predict_interval(X[:5], n_draws=600, n_warmup=300)
    np.testing.assert_allclose(inside, draws.predict_interval(X[:5]))
    with pytest.raises(ValueError, match="these are classes"):
        draws.predict(X, return_std=True)

"""The average of classes that are fitted together: components, weights, and what no answer hangs on."""

import numpy as np
import pytest
from scipy.special import logsumexp, softmax
from sklearn.linear_model import LogisticRegression

from horseshoe import AdaptiveClassifier, HorseshoeClassifier, load_model
from horseshoe.average import modes
from horseshoe.average.components import GENERAL, Fitting
from horseshoe.average.ridge_path import Start
from horseshoe.average.softmax_sets import SoftmaxSets, softmax_and_weight
from horseshoe.average.weights import average, weigh
from horseshoe.data.dense import Dense
from horseshoe.families import Binomial

SHAPES = {"tall": (120, 6), "wide": (80, 120)}


def drawn(n, p, q=3, seed=0):
    """Return standardised columns, two of which matter, and classes."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((n, p))
    x = (x - x.mean(axis=0)) / x.std(axis=0)
    effects = np.zeros((p, q))
    effects[0, :2], effects[1, -2:] = [2.0, -2.0], [2.0, -2.0]
    codes = (x @ effects + rng.gumbel(size=(n, q))).argmax(axis=1)
    codes[: 4 * q] = np.tile(np.arange(q), 4)
    return x, codes


def sets_of(x, codes, counts=None, folds=None):
    n = len(x)
    counts = np.ones(n) if counts is None else counts
    folds = folds or tuple((np.flatnonzero(np.arange(n) % 4 != f), np.arange(f, n, 4)) for f in range(4))
    given = Dense(np.asfortranarray(x)), 1.0 * codes, np.zeros(n), counts, folds, Binomial()
    return SoftmaxSets(*given, chosen=np.eye(int(codes.max()) + 1)[:, codes])


def eta_of(sets, fits):
    return sets.eta(fits.coef, fits.intercept, fits.free)


@pytest.fixture(params=SHAPES)
def data(request):
    return drawn(*SHAPES[request.param])


def test_what_a_row_tells_is_the_mean_over_directions():
    eta = np.random.default_rng(0).standard_normal((5, 4))
    share, weight = softmax_and_weight(eta.T)
    np.testing.assert_allclose(share.T, softmax(eta, axis=1))
    for p, w in zip(share.T, weight, strict=True):
        information = np.diag(p) - np.outer(p, p)
        assert np.trace(information) / 3.0 == pytest.approx(w)


@pytest.mark.parametrize("shape", SHAPES)
def test_steps_at_fixed_scales_end_at_the_softmax_ridge(shape):
    x, codes = drawn(*SHAPES[shape])
    sets = sets_of(x, codes)
    none, level = np.zeros((3, x.shape[1], 5)), np.zeros((3, 5))
    start = Start(none, none, level, np.ones(5), sets.families, np.zeros((3, 0, 5)))
    state = modes._Softmax(sets, 4, start, x.shape[1])
    for _ in range(400):
        if state.step(np.full(x.shape[1], 0.05)) < 1e-12:
            break
    reference = LogisticRegression(C=0.05, tol=1e-12, max_iter=20_000).fit(x, codes)
    np.testing.assert_allclose(state.mean, reference.coef_.T, rtol=0, atol=1e-6)
    level = reference.intercept_ - reference.intercept_.mean()
    np.testing.assert_allclose(state.intercept - state.intercept.mean(), level, rtol=0, atol=1e-6)


def test_components_add_up_to_zero_and_are_better_than_the_mean(data):
    fitting = Fitting(sets_of(*data))
    n_sets, p = 5, data[0].shape[1]
    for name in GENERAL:
        fits = fitting.component(name)
        assert fits.coef.shape == (3, p, n_sets), name
        np.testing.assert_allclose(fits.coef.sum(axis=0), 0.0, atol=1e-9, err_msg=name)
        np.testing.assert_allclose(fits.intercept.sum(axis=0), 0.0, atol=1e-9, err_msg=name)
        assert np.isnan(fits.inclusion).all() == (name == "ridge")
        if name in ("horseshoe", "mixture_horseshoe", "mixture_forward"):
            assert fits.inclusion[:2].mean() > fits.inclusion[2:].mean() + 0.4, name
    losses = []
    for name in GENERAL:
        eta = eta_of(fitting.sets, fitting.component(name))
        losses.append(fitting.sets.left_out(fitting.sets.family, eta, 1.0) / len(data[1]))
    assert min(losses[0] - np.array(losses[1:])) > 0.05


def test_held_out_classes_never_matter(data):
    x, codes = data
    t, out = 1, np.arange(len(codes)) % 4 == 1
    other = np.where(out, (codes + 1) % 3, codes)
    ours, theirs = Fitting(sets_of(x, codes)), Fitting(sets_of(x, other))
    for name in GENERAL:
        if name == "ridge":  # which asks them for its penalty, and for nothing else
            continue
        a, b = ours.component(name), theirs.component(name)
        np.testing.assert_allclose(b.coef[..., t], a.coef[..., t], rtol=0, atol=1e-8, err_msg=name)
        np.testing.assert_allclose(b.inclusion[:, t], a.inclusion[:, t], rtol=0, atol=1e-8, err_msg=name)


def test_the_names_of_classes_and_the_order_of_columns_do_not_matter(data):
    x, codes = data
    renamed, turned = np.array([2, 0, 1]), np.random.default_rng(1).permutation(x.shape[1])
    ours = Fitting(sets_of(x, codes))
    theirs = Fitting(sets_of(x[:, turned], renamed[codes]))
    for name in GENERAL:
        a, b = ours.component(name).coef, theirs.component(name).coef
        np.testing.assert_allclose(b[renamed], a[:, turned], rtol=0, atol=1e-6, err_msg=name)


def test_a_weight_of_two_is_two_rows():
    x, codes = drawn(60, 5)
    counts = 1.0 + np.arange(60) % 2
    twice = np.repeat(np.arange(60), counts.astype(int))
    folds = tuple((np.flatnonzero(np.arange(60) % 3 != f), np.arange(f, 60, 3)) for f in range(3))
    copied = tuple(
        (np.flatnonzero(np.isin(twice, train)), np.flatnonzero(np.isin(twice, test))) for train, test in folds
    )
    ours = Fitting(sets_of(x, codes, counts, folds))
    theirs = Fitting(sets_of(x[twice], codes[twice], None, copied))
    for name in GENERAL:
        a, b = ours.component(name).coef, theirs.component(name).coef
        np.testing.assert_allclose(b, a, rtol=0, atol=1e-6, err_msg=name)


def gained(one, other, codes):
    """Return what the midpoint of two components gains on rows left out, of which each is one."""

    def lost(eta):
        return sum(logsumexp(row) - row[code] for row, code in zip(eta, codes, strict=True))

    return 0.5 * (lost(one) + lost(other)) - lost(0.5 * (one + other))


def test_the_average_is_weighed_by_the_softmax_likelihood(data):
    sets = sets_of(*data)
    fitting = Fitting(sets)
    prior = np.array([1.0, 2.0, 1.0, 0.5, 1.0])
    components = tuple(fitting.component(name) for name in GENERAL)
    (found,), (uneven,) = average(sets, components), average(sets, components, prior)
    rows, folds = sets.tested
    said = [eta_of(sets, fits)[:, rows, folds].T for fits in components]
    together = np.array([[gained(one, other, data[1][rows]) for other in said] for one in said])
    assert together[np.triu_indices(5, 1)].max() > 0.1
    losses = np.array([one.loss for one in found.judged])
    np.testing.assert_allclose(found.weights, weigh(losses, together), rtol=0, atol=1e-9)
    np.testing.assert_allclose(uneven.weights, weigh(losses, together, prior), rtol=0, atol=1e-9)
    eta = sets.fit(found.fold_coef) + found.fold_intercept[:, None]
    for i in (0, 7, 20):
        assert found.predicted[:, i] == pytest.approx(eta[:, rows[i], folds[i]])
    fits = fitting.component("mixture_horseshoe")
    mine = eta_of(sets, fits)[:, rows, folds].T
    loss = logsumexp(mine, axis=1) - mine[np.arange(rows.size), data[1][rows]]
    assert found.judged[3].error == pytest.approx(2.0 * loss.mean())
    assert 0.5 < found.slope <= 1.0


# --- the estimator -----------------------------------------------------------------------------------------


def words(codes):
    return np.array(["oak", "ash", "elm", "yew"])[codes]


def test_the_estimator_says_what_all_classes_share(tmp_path):
    x, codes = drawn(150, 8)
    model = AdaptiveClassifier(cv=4, multi_class="multinomial").fit(x, words(codes))
    assert model.coef_.shape == model.sparse_coef_.shape == (3, 8)
    assert model.support_.shape == model.inclusion_.shape == (8,)
    assert np.flatnonzero(model.support_).tolist() == [0, 1]
    np.testing.assert_allclose(model.coef_.sum(axis=0), 0.0, atol=1e-9)
    np.testing.assert_allclose(model.predict_proba(x).sum(axis=1), 1.0)
    np.testing.assert_allclose(model.cv_prediction_.sum(axis=1), 1.0)
    assert model.coef_interval().shape == (3, 8, 2)
    assert np.isfinite(model.coef_interval()).all()
    assert [row.name for row in model.components_] == list(GENERAL)
    assert set(model.summary()["class"]) == {"ash", "elm", "oak"}
    left = -2.0 * np.log(model.cv_prediction_[np.arange(150), np.searchsorted(model.classes_, words(codes))])
    assert model.cv_error_ == pytest.approx(left.mean())
    assert model.statistics().n_selected == 2
    model.save(tmp_path / "model.json")
    again = load_model(tmp_path / "model.json")
    assert np.array_equal(again.predict_proba(x), model.predict_proba(x))
    assert np.array_equal(again.inclusion_, model.inclusion_)
    assert again.cv_error_ == model.cv_error_


def test_two_classes_are_a_pair_of_opposites():
    x, codes = drawn(100, 5, q=2)
    model = AdaptiveClassifier(cv=4, multi_class="multinomial").fit(x, codes)
    np.testing.assert_allclose(model.coef_[0], -model.coef_[1], atol=1e-9)
    alone = AdaptiveClassifier(cv=4).fit(x, codes)
    assert np.abs(model.predict_proba(x) - alone.predict_proba(x)).max() < 0.05


def test_probabilities_of_new_rows_are_calibrated_and_better_than_one_against_the_rest():
    rng = np.random.default_rng(4)
    effects = np.zeros((30, 4))
    effects[:4] = 1.5 * rng.standard_normal((4, 4))
    x, new = rng.standard_normal((250, 30)), rng.standard_normal((4000, 30))
    codes = (x @ effects + rng.gumbel(size=(250, 4))).argmax(axis=1)
    truth = softmax(new @ effects, axis=1)
    models = [
        AdaptiveClassifier(cv=5, multi_class=kind).fit(x, codes) for kind in ("multinomial", "one_vs_rest")
    ]
    losses = [-(truth * model.predict_log_proba(new)).sum(axis=1).mean() for model in models]
    assert losses[0] < losses[1]
    said = models[0].predict_proba(new)
    for low in (0.1, 0.3, 0.5, 0.7):
        among = (said > low) & (said < low + 0.2)
        assert truth[among].mean() == pytest.approx(said[among].mean(), abs=0.06)


def test_threads_and_sparse_columns_change_nothing():
    from scipy.sparse import csr_array

    x, codes = drawn(80, 6)
    x = np.where(np.abs(x) > 0.5, x, 0.0)
    make = AdaptiveClassifier(cv=3, multi_class="multinomial")
    plain = make.fit(x, codes).coef_
    assert np.array_equal(
        AdaptiveClassifier(cv=3, multi_class="multinomial", n_jobs=2).fit(x, codes).coef_, plain
    )
    np.testing.assert_allclose(make.fit(csr_array(x), codes).coef_, plain, atol=1e-7)


def test_constant_columns_and_groups():
    x, codes = drawn(80, 6)
    with_constant = np.column_stack([x, np.ones(80)])
    make = AdaptiveClassifier(cv=3, multi_class="multinomial")
    model = make.fit(with_constant, codes)
    assert not model.coef_[:, 6].any()
    assert not make.fit(np.ones((80, 2)), codes).coef_.any()
    grouped = AdaptiveClassifier(cv=3, multi_class="multinomial", feature_groups=list("aabbcc")).fit(x, codes)
    assert grouped.support_.reshape(3, 2).all(axis=1).tolist() == [True, False, False]
    assert grouped.support_.sum() == 2


def test_refusals():
    x, codes = drawn(60, 4)
    with pytest.raises(ValueError, match="offset does not go with multi_class='multinomial'"):
        AdaptiveClassifier(multi_class="multinomial").fit(x, codes, offset=np.ones(60))
    with pytest.raises(ValueError, match="multi_class='softmax'"):
        AdaptiveClassifier(multi_class="softmax").fit(x, codes)


def test_nothing_to_find_is_the_shares_of_the_classes():
    rng = np.random.default_rng(8)
    x, codes = rng.standard_normal((120, 20)), rng.integers(0, 3, 120)
    model = AdaptiveClassifier(cv=5, multi_class="multinomial").fit(x, codes)
    assert not model.support_.any()
    share = np.bincount(codes) / 120.0
    assert np.abs(model.predict_proba(x) - share).max() < 0.15
    assert HorseshoeClassifier(multi_class="multinomial").fit(x, codes).coef_.shape == model.coef_.shape

"""Folds of our own, which neither order nor units nor copies change; any splitter; refusals."""

import numpy as np
import pytest
from sklearn.model_selection import (
    GroupKFold,
    GroupShuffleSplit,
    KFold,
    LeaveOneGroupOut,
    LeaveOneOut,
    PredefinedSplit,
    RepeatedKFold,
    RepeatedStratifiedKFold,
    ShuffleSplit,
    StratifiedGroupKFold,
    StratifiedKFold,
    TimeSeriesSplit,
)

from horseshoe import AdaptiveClassifier, AdaptiveRegressor
from horseshoe.average.folds import check_folds, given_folds, own_folds
from horseshoe.data.dense import Dense
from horseshoe.data.rows import Rows, known_rows

N, P, K = 40, 6, 5


def data(n=N, p=P, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p))
    return X, X[:, 0] + 0.5 * rng.standard_normal(n)


def folds_of(X, y, k=K, weights=None, seed=0):
    """Return our folds as the fold of each row, of columns standardised as a fit does."""
    counts = np.ones(len(y)) if weights is None else weights
    Z = X - np.average(X, axis=0, weights=counts)
    Z = Z / np.sqrt(np.average(Z**2, axis=0, weights=counts))
    rows = Rows(Dense(np.asfortranarray(X)), y, weights, np.zeros(len(y)))
    fold = np.full(len(y), -1)
    for number, (train, test) in enumerate(own_folds(rows, Dense(np.asfortranarray(Z)), k, seed)):
        assert np.array_equal(np.sort(np.r_[train, test]), np.arange(len(y)))
        assert (fold[test] == -1).all()
        fold[test] = number
    assert (fold >= 0).all()
    return fold


@pytest.mark.parametrize("k", [2, 3, 5, 10, N])
def test_every_row_is_left_out_once_in_folds_of_equal_size(k):
    sizes = np.bincount(folds_of(*data(), k), minlength=k)
    assert sizes.sum() == N
    assert np.ptp(sizes) <= 1


def test_the_response_is_spread_evenly():
    X, y = data()
    fold = folds_of(X, y)
    ordered = fold[np.argsort(y)].reshape(-1, K)
    assert all(set(block) == set(range(K)) for block in ordered.tolist())


def test_another_seed_is_other_folds_and_the_same_is_the_same():
    X, y = data()
    assert np.array_equal(folds_of(X, y, seed=3), folds_of(X, y, seed=3))
    assert not np.array_equal(folds_of(X, y, seed=3), folds_of(X, y, seed=4))


@pytest.mark.parametrize("kind", ["continuous", "binary", "counts"])
@pytest.mark.parametrize("seed", range(5))
def test_order_and_units_do_not_matter(kind, seed):
    X, y = data()
    if kind == "binary":
        y = (y > 0.0).astype(float)
    elif kind == "counts":
        y = np.floor(np.exp(y))
    fold, rng = folds_of(X, y), np.random.default_rng(seed)
    rows, columns = rng.permutation(N), rng.permutation(P)
    assert np.array_equal(folds_of(X[rows], y[rows]), fold[rows])
    assert np.array_equal(folds_of(X[:, columns], y), fold)
    units, shift = 10.0 ** rng.uniform(-3, 3, P) * rng.choice([-1.0, 1.0], P), rng.uniform(-9, 9, P)
    assert np.array_equal(folds_of(X * units + shift, y), fold)
    assert np.array_equal(folds_of(X, 7.3 * y + 2.0), fold)


def test_copies_of_a_row_stay_together_and_a_weight_is_so_many_copies():
    X, y = data()
    times = np.random.default_rng(1).integers(1, 4, N)
    weighted = folds_of(X, y, weights=times.astype(float))
    copies = folds_of(np.repeat(X, times, axis=0), np.repeat(y, times))
    assert np.array_equal(copies, np.repeat(weighted, times))


def test_few_kinds_of_rows_with_many_copies_are_in_several_folds():
    """Else a fold would lack whole patterns of such a table."""
    X = np.repeat(np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]), 25, axis=0)
    fold = folds_of(X, X[:, 0] + X[:, 1], k=5)
    for kind in range(4):
        assert set(fold[25 * kind : 25 * (kind + 1)]) == set(range(5))


@pytest.mark.parametrize("rare", [5, 7, 12])
def test_classes_are_in_equal_shares(rare):
    X, _ = data()
    y = (np.arange(N) < rare).astype(float)
    shares = np.bincount(folds_of(X, y)[:rare], minlength=K)
    assert np.ptp(shares) <= 2
    assert (shares > 0).sum() >= min(K - 1, rare)


def test_more_classes_than_two_are_spread():
    X, _ = data(60)
    y = np.arange(60) % 3 * 1.0
    fold = folds_of(X, y)
    for label in range(3):
        assert np.ptp(np.bincount(fold[y == label], minlength=K)) <= 2


def test_a_response_that_no_column_tells_apart_has_folds_still():
    y = np.repeat([0.0, 1.0], 20)
    sizes = np.bincount(folds_of(np.tile([[1.0], [-1.0]], (20, 1)), y, k=4), minlength=4)
    assert np.ptp(sizes) <= 1


# --- splitters ----------------------------------------------------------------------------------------------

GROUPS = np.arange(N) // 5
SPLITTERS = {
    "KFold": KFold(4),
    "shuffled KFold": KFold(4, shuffle=True, random_state=1),
    "StratifiedKFold": StratifiedKFold(4),
    "GroupKFold": GroupKFold(4),
    "StratifiedGroupKFold": StratifiedGroupKFold(4),
    "GroupShuffleSplit": GroupShuffleSplit(3, random_state=0),
    "TimeSeriesSplit": TimeSeriesSplit(4),
    "RepeatedKFold": RepeatedKFold(n_splits=3, n_repeats=2, random_state=0),
    "RepeatedStratifiedKFold": RepeatedStratifiedKFold(n_splits=3, n_repeats=2, random_state=0),
    "ShuffleSplit": ShuffleSplit(4, test_size=0.2, random_state=0),
    "LeaveOneGroupOut": LeaveOneGroupOut(),
    "LeaveOneOut": LeaveOneOut(),
    "PredefinedSplit": PredefinedSplit(np.arange(N) % 3),
}


def labels_of(splitter, y):
    return (y > 0).astype(int) if "Stratified" in type(splitter).__name__ else y


@pytest.mark.parametrize("name", SPLITTERS)
def test_any_splitter_of_scikit_learn(name):
    X, y = data()
    splitter = SPLITTERS[name]
    labels = labels_of(splitter, y)
    groups = GROUPS if "Group" in name else None
    rows = Rows(Dense(np.asfortranarray(X)), labels, None, np.zeros(N))
    ours = given_folds(splitter, rows, X, labels, groups)
    for (train, test), (their_train, their_test) in zip(ours, splitter.split(X, labels, groups), strict=True):
        assert np.array_equal(train, their_train)
        assert np.array_equal(test, their_test)


@pytest.mark.parametrize("name", SPLITTERS)
def test_fits_with_any_splitter(name):
    X, y = data()
    splitter = SPLITTERS[name]
    groups = GROUPS if "Group" in name else None
    if "Stratified" in type(splitter).__name__:
        model = AdaptiveClassifier(cv=splitter).fit(X, labels_of(splitter, y), groups=groups)
    else:
        model = AdaptiveRegressor(cv=splitter).fit(X, y, groups=groups)
        assert np.isfinite(model.predict_interval(X, 0.8)).all()
    assert np.abs(model.coef_).argmax() == 0
    assert np.isfinite(model.coef_interval()).all()


@pytest.mark.parametrize("as_mask", [False, True])
def test_pairs_are_rows_or_masks(as_mask):
    X, y = data()
    pairs = list(KFold(4).split(X))
    given = [tuple(np.isin(np.arange(N), part) for part in pair) for pair in pairs] if as_mask else pairs
    want = AdaptiveRegressor(cv=KFold(4)).fit(X, y)
    for kind in (list, tuple, iter):
        got = AdaptiveRegressor(cv=kind(given)).fit(X, y)
        np.testing.assert_array_equal(got.coef_, want.coef_)
    lists = [tuple(part.tolist() for part in pair) for pair in given]
    np.testing.assert_array_equal(AdaptiveRegressor(cv=lists).fit(X, y).coef_, want.coef_)


def test_rows_without_weight_are_taken_out_of_the_folds():
    X, y = data()
    weights = np.ones(N)
    weights[[0, 3, 17]] = 0.0
    kept = np.flatnonzero(weights)
    rows = known_rows(Dense(np.asfortranarray(X)), y, weights, 0.0)
    pairs = list(KFold(4).split(X))
    for (train, test), (their_train, their_test) in zip(
        given_folds(KFold(4), rows, X, y, None), pairs, strict=True
    ):
        assert np.array_equal(kept[train], np.intersect1d(their_train, kept))
        assert np.array_equal(kept[test], np.intersect1d(their_test, kept))
    place = np.cumsum(weights).astype(int) - 1
    shorter = [tuple(place[np.intersect1d(part, kept)] for part in pair) for pair in pairs]
    one = AdaptiveRegressor(cv=KFold(4)).fit(X, y, sample_weight=weights)
    two = AdaptiveRegressor(cv=shorter).fit(X[kept], y[kept])
    np.testing.assert_allclose(one.coef_, two.coef_, rtol=1e-8)


def test_rows_that_are_never_predicted_are_learned_from():
    """As those before the first fold of a time series."""
    X, y = data()
    model = AdaptiveRegressor(cv=TimeSeriesSplit(3)).fit(X, y)
    other = y.copy()
    other[0] += 3.0
    assert not np.array_equal(AdaptiveRegressor(cv=TimeSeriesSplit(3)).fit(X, other).coef_, model.coef_)


# --- refusals -----------------------------------------------------------------------------------------------

EVERY = np.arange(N)
REFUSED = {
    "more folds than rows": ({"cv": 41}, {}, "cv=41 is more than the 40 rows: ask for at most 40 folds"),
    "one fold": ({"cv": 1}, {}, "cv=1 must be at least 2"),
    "no fold": ({"cv": 0}, {}, "cv=0 must be at least 2"),
    "a word": ({"cv": "ten"}, {}, "cv='ten' is neither a number of folds"),
    "a fraction": ({"cv": 2.5}, {}, "cv=2.5 is neither a number of folds"),
    "a truth": ({"cv": True}, {}, "cv=True is neither a number of folds"),
    "nothing": ({"cv": None}, {}, "cv=None is neither a number of folds"),
    "rows alone": ({"cv": [1, 2, 3]}, {}, r"cv=\[1, 2, 3\] is neither a number of folds"),
    "no pairs": ({"cv": []}, {}, "cv has 0 folds: at least two"),
    "one pair": ({"cv": [(EVERY[5:], EVERY[:5])]}, {}, "cv has 1 fold: at least two"),
    "groups without a splitter": ({}, {"groups": GROUPS}, "groups go with a splitter"),
    "a splitter without groups": (
        {"cv": GroupKFold(3)},
        {},
        "'groups' parameter should not be None",
    ),
    "groups of one label": (
        {"cv": GroupKFold(3)},
        {"groups": np.zeros(N)},
        "groups has one label only.*give two or more",
    ),
    "fewer groups than folds": (
        {"cv": GroupKFold(9)},
        {"groups": GROUPS},
        "n_splits=9.*number of groups: 8",
    ),
    "no row to predict": (
        {"cv": [(EVERY[5:], EVERY[:5]), (EVERY, EVERY[:0])]},
        {},
        "fold 1 of cv has no row to predict",
    ),
    "a row of both": (
        {"cv": [(EVERY[5:], EVERY[:5]), (EVERY[3:], EVERY[:5])]},
        {},
        "fold 1 of cv learns from row 3, which it is to predict",
    ),
    "a row beyond": (
        {"cv": [(EVERY[5:], EVERY[:5]), (EVERY[:5], [40])]},
        {},
        "fold 1 of cv has a row beyond the 40 rows of X",
    ),
    "one row to learn from": (
        {"cv": [(EVERY[5:], EVERY[:5]), (EVERY[:1], EVERY[1:])]},
        {},
        "fold 1 of cv leaves 1 row to learn from",
    ),
    "words for rows": (
        {"cv": [(["a", "b"], ["c"]), (EVERY[5:], EVERY[:5])]},
        {},
        "fold 0 of cv must have row numbers or masks",
    ),
    "a short mask": (
        {"cv": [(np.ones(3, dtype=bool), EVERY[5:]), (EVERY[5:], EVERY[:5])]},
        {},
        "fold 0 of cv has a mask of 3 rows, but X has 40",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name):
    options, rows, sentence = REFUSED[name]
    X, y = data()
    with pytest.raises((TypeError, ValueError), match=sentence):
        AdaptiveRegressor(**options).fit(X, y, **rows)


def test_a_fold_that_leaves_a_constant_response_is_named():
    X, _ = data()
    y = np.where(EVERY < 5, 1.0, 0.0)
    pairs = [(np.delete(EVERY, [20, 21]), [20, 21]), (EVERY[5:], EVERY[:5])]
    for model in (AdaptiveRegressor(cv=pairs), AdaptiveRegressor(family="poisson", cv=pairs)):
        with pytest.raises(ValueError, match="without fold 1 of cv all rows have the same response"):
            model.fit(X, y)


def test_a_fold_that_leaves_one_class_is_named():
    X, _ = data()
    labels = np.where(EVERY < 5, "a", "b")
    pairs = [(np.delete(EVERY, [20, 21]), [20, 21]), (EVERY[5:], EVERY[:5])]
    with pytest.raises(ValueError, match=r"without fold 1 of cv.*StratifiedKFold"):
        AdaptiveClassifier(cv=pairs).fit(X, labels)


def test_a_class_of_one_row_is_told_of():
    """Its fold learns from none of the class, however the folds are made."""
    X, _ = data()
    labels = np.where(EVERY == 7, "rare", "usual")
    with pytest.raises(ValueError, match=r"of cv.*(one row|same response|class)"):
        AdaptiveClassifier().fit(X, labels)


def test_folds_are_checked_whoever_made_them():
    check_folds(((EVERY[5:], EVERY[:5]), (EVERY[:5], EVERY[5:])), np.arange(40.0), varies=True)
    check_folds(((EVERY[5:], EVERY[:5]), (EVERY[:5], EVERY[5:])), np.zeros(40), varies=False)

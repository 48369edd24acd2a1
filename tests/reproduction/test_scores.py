"""Ranks, coverage and bins against slow counts."""

import numpy as np
import pytest

from horseshoe_reproduction.experiment import Fit
from horseshoe_reproduction.scores import log_loss, means, selection


def test_the_auc_is_the_share_of_pairs_in_the_right_order():
    rng = np.random.default_rng(0)
    for _ in range(20):
        true = rng.random(40) < 0.3
        true[:2] = True, False
        score = np.round(rng.random(40) + 0.3 * true, 1)  # with ties
        apart = np.subtract.outer(score[true], score[~true])
        share = np.mean((apart > 0.0) + 0.5 * (apart == 0.0))
        found = selection(Fit(np.zeros(40), inclusion=score), true.astype(float))
        assert found["AUC"] == pytest.approx(share)


def test_every_column_is_in_one_bin():
    rng = np.random.default_rng(1)
    inclusion = np.append(rng.random(500), [0.0, 0.1, 1.0])
    coef = np.where(rng.random(503) < inclusion, 1.0, 0.0)
    found = selection(Fit(coef, inclusion=inclusion), coef)
    sums = {
        what: sum(v for k, v in found.items() if k.startswith(f"{what} ")) for what in ("columns", "true")
    }
    assert sums == {"columns": 503.0, "true": np.count_nonzero(coef)}
    for k in range(10):
        inside = (inclusion >= k / 10) & (inclusion < (k + 1) / 10 if k < 9 else inclusion <= 1.0)
        assert found[f"columns {k}"] == inside.sum()
        assert found[f"inclusion {k}"] == pytest.approx(inclusion[inside].sum())
        assert found[f"true {k}"] == np.count_nonzero(coef[inside])


def test_the_support_counts_where_there_is_one():
    coef, truth = np.array([0.1, 2.0, 0.0, 0.3]), np.array([0.0, 1.0, 1.0, 0.0])
    found = selection(Fit(coef), truth)
    assert (found["True"], found["False"], found["Empty"]) == (1.0, 2.0, 0.0)
    found = selection(Fit(coef, support=np.array([False, True, False, False])), truth)
    assert (found["True"], found["False"], found["Empty"]) == (1.0, 0.0, 0.0)
    found = selection(Fit(coef, support=np.zeros(4, dtype=bool)), truth)
    assert (found["True"], found["False"], found["Empty"]) == (0.0, 0.0, 1.0)


@pytest.mark.parametrize("truth", [np.zeros(3), np.ones(3)])
def test_where_nothing_can_be_ranked_there_is_no_auc(truth):
    found = selection(Fit(truth, inclusion=np.array([0.1, 0.2, 0.3])), truth)
    assert "AUC" not in found


def test_the_effects_that_are_not_zero_are_covered():
    interval = np.array([[0.0, 1.0], [0.0, 1.0], [5.0, 6.0]])
    found = selection(Fit(np.zeros(3), intervals=(interval, interval)), np.array([0.5, 2.0, 0.0]))
    assert found["Effects covered"] == 0.5


def test_what_a_method_predicts_counts_before_its_coefficients():
    X = np.array([[0.0], [3.0]])
    assert means(Fit(np.ones(1), predicted=np.array([0.2, 0.3])), "binomial", X).tolist() == [0.2, 0.3]
    assert means(Fit(np.array([1e4])), "poisson", X)[1] == pytest.approx(np.exp(30.0))


def test_no_probability_counts_as_zero():
    assert log_loss(np.array([1.0]), np.array([0.0])) == pytest.approx(-np.log(1e-10))

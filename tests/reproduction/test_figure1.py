"""Figure 1: the lasso translates, the horseshoe leaves zero without a jump, the horseshoe-like jumps."""

import numpy as np
import pytest

from horseshoe_reproduction import figure1, shrinkage
from horseshoe_reproduction.figure1 import THRESHOLD
from horseshoe_reproduction.shrinkage import horseshoe, horseshoe_like, horseshoe_threshold

CURVES = ["lasso", "horseshoe", "horseshoe_lambda2", "horseshoe_like"]
MATCHED = ["lasso", "horseshoe", "horseshoe_like"]


@pytest.fixture(scope="module")
def curves():
    return figure1.profiles()


def spacing(curves):
    return curves.b_ls[1] - curves.b_ls[0]


def leap(curves, name):
    """Return the b_LS of the first estimate that is not zero, and that estimate."""
    curve = getattr(curves, name)
    first = np.flatnonzero((curves.b_ls > 0) & (curve != 0.0))[0]
    return curves.b_ls[first], curve[first]


def far(curves, name, start=THRESHOLD + 0.1):
    """Return how far the estimate is from the identity, beyond the threshold."""
    beyond = curves.b_ls > start
    return (curves.b_ls - getattr(curves, name))[beyond]


# --- what all share --------------------------------------------------------------


@pytest.mark.parametrize("name", CURVES)
def test_curves_are_odd(curves, name):
    curve = getattr(curves, name)
    np.testing.assert_allclose(curve, -curve[::-1], atol=1e-9)


@pytest.mark.parametrize("name", CURVES)
def test_curves_rise_and_stay_between_zero_and_the_identity(curves, name):
    curve = getattr(curves, name)
    assert (np.diff(curve) >= -1e-9).all()
    assert (np.abs(curve) <= np.abs(curves.b_ls)).all()


@pytest.mark.parametrize("name", MATCHED)
def test_all_are_zero_up_to_the_same_threshold(curves, name):
    curve = getattr(curves, name)
    assert (curve[np.abs(curves.b_ls) < THRESHOLD - 1e-6] == 0.0).all()
    assert leap(curves, name)[0] < THRESHOLD + 2.5 * spacing(curves)


# --- what sets them apart --------------------------------------------------------


def test_the_lasso_translates(curves):
    np.testing.assert_allclose(far(curves, "lasso"), THRESHOLD, rtol=1e-9)


def test_the_horseshoe_leaves_zero_without_a_jump(curves):
    """0.036 is seen: two points of the grid are within `NEGLIGIBLE` of zero, and the slope is below 2."""
    assert leap(curves, "horseshoe")[1] < 4 * spacing(curves)
    assert np.abs(np.diff(curves.horseshoe)).max() < 4 * spacing(curves)


def test_the_horseshoe_is_the_root_of_its_quadratic(curves):
    """In lambda power 1 EM stands still where 3 d^2 + (5 + t - y^2) d + 2 + t - t y^2 = 0, t = tau2."""
    t, y = curves.tau["horseshoe"] ** 2, curves.b_ls
    linear, constant = 5 + t - y**2, 2 + t - t * y**2
    d = np.maximum((-linear + np.sqrt(np.maximum(linear**2 - 12 * constant, 0.0))) / 6, 0.0)
    np.testing.assert_allclose(curves.horseshoe, y * d / (1 + d), atol=shrinkage.NEGLIGIBLE)
    clear = np.abs(y) > THRESHOLD + 0.1
    np.testing.assert_allclose(curves.horseshoe[clear], (y * d / (1 + d))[clear], rtol=1e-6)


def test_the_horseshoe_like_jumps(curves):
    where, size = shrinkage.horseshoe_like_jump(curves.tau["horseshoe_like"])
    assert where == pytest.approx(THRESHOLD, rel=1e-9)
    assert size == pytest.approx(0.444, abs=1e-3)
    assert leap(curves, "horseshoe_like")[1] >= size
    assert np.diff(curves.horseshoe_like).max() > 0.4


def test_large_estimates_are_left_alone_but_by_the_lasso(curves):
    """The gap falls like 3 / b_LS under the horseshoe, and a little faster under the horseshoe-like."""
    for name in ("horseshoe", "horseshoe_lambda2", "horseshoe_like"):
        start = leap(curves, name)[0]
        assert (np.diff(far(curves, name, start + 0.1)) < 0).all()
    y = np.array([100.0])
    assert y - horseshoe(y, curves.tau["horseshoe"], 1.0) == pytest.approx(0.03, rel=0.05)
    assert y - horseshoe_like(y, curves.tau["horseshoe_like"]) == pytest.approx(0.02, rel=0.1)


def test_the_horseshoe_like_is_a_minimum_of_its_penalised_likelihood(curves):
    a = curves.tau["horseshoe_like"] ** 2
    for y in (1.2, 2.0, 4.0):
        b = np.linspace(0.5 * y, y, 200_001)
        objective = 0.5 * (b - y) ** 2 - np.log(np.log1p(a / b**2))
        found = horseshoe_like(np.array([y]), curves.tau["horseshoe_like"])[0]
        assert found == pytest.approx(b[objective.argmin()], abs=1e-5)


# --- the paper's lambda power ------------------------------------------------------


def test_equation_16_jumps_and_no_tau_brings_it_to_one(curves):
    where, size = leap(curves, "horseshoe_lambda2")
    expected = horseshoe_threshold(curves.tau["horseshoe"], lambda_power=2.0)
    assert expected < where < expected + 1.5 * spacing(curves)
    assert 0.97 < size < 1.1  # 0.98 at the threshold itself
    thresholds = [horseshoe_threshold(tau, lambda_power=2.0) for tau in np.geomspace(1e-3, 1e6, 50)]
    assert (np.diff(thresholds) < 1e-9).all()
    assert thresholds[-1] == pytest.approx(1 + np.sqrt(2))
    assert thresholds[0] == pytest.approx(2 + np.sqrt(3), rel=1e-5)
    with pytest.raises(ValueError, match=r"no tau gives a threshold of 1\.0.*from 2\.414 to 3\.732"):
        shrinkage.solve_tau(lambda tau: horseshoe_threshold(tau, lambda_power=2.0), 1.0)


@pytest.mark.parametrize(
    ("lambda_power", "tau"), [(2.0, 0.3), (2.0, 1.0), (2.0, 5.0), (1.5, 1.0), (1.0, 0.4)]
)
def test_thresholds_are_those_of_em(lambda_power, tau):
    edge = horseshoe_threshold(tau, lambda_power)
    below, above = horseshoe(np.array([0.99, 1.01]) * edge, tau, lambda_power)
    assert below == 0.0
    assert above > 0.3


# --- files -----------------------------------------------------------------------


def test_table_has_a_row_for_each_point(curves):
    rows = figure1.table(curves)
    assert len(rows) == len(curves.b_ls)
    assert list(rows[0]) == ["b_ls", *CURVES]
    assert rows[-1]["lasso"] == pytest.approx(5.0 - THRESHOLD)
    assert all(type(value) is float for value in rows[0].values())


@pytest.mark.parametrize("name", ["figure1.png", "figure1.pdf", "figure1"])
def test_the_figure_is_written_whole(curves, tmp_path, name):
    pytest.importorskip("matplotlib")
    figure1.draw_figure(tmp_path / name, curves)
    assert [file.name for file in tmp_path.iterdir()] == [name]
    assert (tmp_path / name).stat().st_size > 5000


def test_a_format_that_is_not_known_leaves_nothing_behind(curves, tmp_path):
    pytest.importorskip("matplotlib")
    with pytest.raises(ValueError, match="xyz"):
        figure1.draw_figure(tmp_path / "figure1.xyz", curves)
    assert list(tmp_path.iterdir()) == []

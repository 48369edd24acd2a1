"""Newton's method and Anderson's in the tail of EM."""

import numpy as np
import pytest

from horseshoe.data.problem import plain
from horseshoe.em.anderson import Anderson
from horseshoe.em.fast.tail import EMMap, find_fixed_point
from systems import hyper, run, standard_system


@pytest.mark.parametrize("expectation", ["exact", "approximate"])
@pytest.mark.parametrize("shape", [(200, 30), (60, 200)])
def test_answer_does_not_depend_on_tol(shape, expectation):
    """Newton's method in the tail: at the default tolerance the mode is there to nine digits."""
    system = standard_system(*shape, n_signals=6)
    loose, tight = (run(system, expectation=expectation, tol=tol) for tol in (1e-5, 1e-12))
    np.testing.assert_allclose(loose.coef, tight.coef, rtol=1e-9)


@pytest.mark.parametrize("approximate", [False, True])
@pytest.mark.parametrize("known", [None, 0.02])
def test_jacobian_is_the_derivative_of_an_em_step(known, approximate):
    system = standard_system(60, 6, n_signals=4)
    em = EMMap(system, hyper(), known, approximate)
    point = np.append(np.log(np.random.default_rng(0).gamma(1.0, 0.1, 6)), np.log(20.0))

    def after(p):
        return em.coordinates(em.step(p)[1])

    steps = 1e-5 * np.eye(7)
    numerical = np.column_stack([(after(point + s) - after(point - s)) / 2e-5 for s in steps])
    size = 7 if known is None else 6
    scales, moments = em.step(point)
    analytic = em.jacobian(point, scales, moments)
    np.testing.assert_allclose(analytic, numerical[:size, :size], rtol=1e-5, atol=1e-8)


def test_newton_refuses_what_em_would_leave():
    """Far from any fixed point, or near one from which EM is driven away, there is no jump."""
    rng = np.random.default_rng(0)
    x = rng.standard_normal((50, 1))
    z = 0.7 * x[:, 0] + rng.standard_normal(50)
    em = EMMap(plain(x, z), hyper(), 1.0)
    logs = np.linspace(-8, 2, 400)
    gaps = np.array([np.log(em.step(np.array([t, 0.0]))[1].second_moment[0]) - t for t in logs])
    rising = np.flatnonzero((gaps[:-1] < 0) & (gaps[1:] >= 0))  # unstable: EM moves away on both sides
    falling = np.flatnonzero((gaps[:-1] > 0) & (gaps[1:] <= 0))  # stable
    assert rising.size == 1
    assert falling.size == 1

    def start(t):
        moments = em.step(np.array([t, 0.0]))[1]
        return moments._replace(mean=np.array([np.exp(t / 2)]), variance=np.zeros(1))

    assert find_fixed_point(em, start(logs[rising[0]])) == []
    assert find_fixed_point(em, start(logs[falling[0]])) != []


def test_anderson_solves_a_linear_iteration_in_as_many_steps_as_unknowns():
    rng = np.random.default_rng(0)
    a = rng.standard_normal((3, 3))
    a *= 0.9 / np.abs(np.linalg.eigvals(a)).max()
    solution, mixer, x = np.linalg.solve(np.eye(3) - a, np.ones(3)), Anderson(), np.zeros(3)
    for _ in range(12):
        x, _ = mixer.mixed(x, a @ x + 1.0, x)
    np.testing.assert_allclose(x, solution, rtol=1e-8)

"""Data of the paper's simulations."""

import numpy as np

SETTINGS = [(0.0, 1.0), (0.0, 9.0), (0.7, 1.0), (0.7, 9.0)]  # rho, sigma2 of Table 3


def linear(n, p, rho=0.7, sigma2=9.0, seed=0, n_signals=20, size=3.0):
    """Rows N(0, rho^|i-j|); half the signals +size, half -size, all at the front."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p))
    for j in range(1, p):
        X[:, j] = rho * X[:, j - 1] + np.sqrt(1 - rho**2) * X[:, j]
    beta = np.zeros(p)
    beta[: n_signals // 2], beta[n_signals // 2 : n_signals] = size, -size
    return X, X @ beta + np.sqrt(sigma2) * rng.standard_normal(n), beta


DRAWS = {
    "gaussian": lambda rng, eta: eta + rng.standard_normal(eta.size),
    "binomial": lambda rng, eta: (rng.random(eta.size) < 1 / (1 + np.exp(-eta))).astype(float),
    "poisson": lambda rng, eta: rng.poisson(np.exp(0.5 + 0.4 * eta)).astype(float),
    "negative_binomial": lambda rng, eta: rng.negative_binomial(2, 2 / (2 + np.exp(1 + 0.5 * eta))) * 1.0,
    "student_t": lambda rng, eta: eta + rng.standard_t(3, eta.size),
    "laplace": lambda rng, eta: eta + rng.laplace(size=eta.size),
    "quantile": lambda rng, eta: eta + rng.laplace(size=eta.size),
    "huber": lambda rng, eta: eta + rng.standard_t(5, eta.size),
    "gamma": lambda rng, eta: rng.gamma(4.0, np.exp(0.5 + 0.4 * eta) / 4.0),
    "tweedie": lambda rng, eta: rng.standard_gamma(rng.poisson(2.0 * np.exp(0.2 * eta))) * np.exp(0.2 * eta),
    "ordinal": lambda rng, eta: np.digitize(eta + rng.logistic(size=eta.size), [-1.5, 0.0, 1.0]) * 1.0,
}


def glm(family, n, p, seed=0, n_signals=5, size=1.0, rho=0.0):
    """Return X, y and the positions of the effects, which alternate in sign; rows N(0, rho^|i-j|)."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p))
    for j in range(1, p):
        X[:, j] = rho * X[:, j - 1] + np.sqrt(1 - rho**2) * X[:, j]
    where = rng.permutation(p)[:n_signals]
    signs = size * np.array([(-1.0) ** j for j in range(n_signals)])
    return X, DRAWS[family](rng, X[:, where] @ signs), where

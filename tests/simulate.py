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

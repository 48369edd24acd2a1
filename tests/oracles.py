"""Slow truths: every formula of the model written out again from its definition, with no thought for speed.

Nothing here imports `farrier`. Each function follows the paper's text: the scale mixture
beta_j ~ N(0, sigma2 tau2 lambda2_j), a density for lambda2_j, and Algorithm 1.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from decimal import Decimal, localcontext
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq, minimize_scalar
from scipy.special import betaln, erfc, gammaln, ndtr
from scipy.stats import t as student

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]


# --- the local scales ------------------------------------------------------------
# v is lambda2 throughout. Every expression takes complex v: `local_mode` differentiates by a complex step.


def neg_log_inverted_beta(v: Any, a: float, b: float) -> Any:
    """-log of the density v^(a-1) (1+v)^(-a-b) / B(a, b) of lambda2."""
    return (1 - a) * np.log(v) + (a + b) * np.log1p(v) + betaln(a, b)


SHAPE_RANGE = 0.05, 20.0


def neg_log_shape_prior(shape: float) -> float:
    """-log of the density of log a or log b: normal around log(1/2) with standard deviation 1, in a range."""
    low, high = SHAPE_RANGE
    return float(np.log(2 * shape) ** 2 / 2) if low <= shape <= high else np.inf


def neg_log_shapes(a: float, b: float, v: Vector) -> float:
    """-log of the density of (log a, log b) given all lambda2, a and b both unknown."""
    prior = neg_log_shape_prior(a) + neg_log_shape_prior(b)
    return prior + float(np.sum(neg_log_inverted_beta(v, a, b)))


def neg_log_tail(b: float, above: Vector, w: Vector) -> float:
    """-log of the density of log b given x_a = ``above`` and W, with lambda2 integrated out.

    coef = sqrt(2 W) is normal with variance x_a / gamma(b), which is Student's t with 2 b degrees of freedom.
    """
    scale = np.sqrt(above / b)
    return neg_log_shape_prior(b) - float(np.sum(student.logpdf(np.sqrt(2 * w), 2 * b, scale=scale)))


def draw_shape(rng: np.random.Generator) -> float:
    """A shape from its prior, by rejection."""
    low, high = SHAPE_RANGE
    while not low <= (shape := float(np.exp(rng.standard_normal()) / 2)) <= high:
        pass
    return shape


def shape_cdf(shape: Any) -> Any:
    """The distribution function of that prior."""
    low, high = (ndtr(np.log(2 * end)) for end in SHAPE_RANGE)
    return (ndtr(np.log(2 * np.asarray(shape))) - low) / (high - low)


def neg_log_horseshoe_like(v: Any) -> Any:
    """-log of the density (1 - exp(-1/(2v))) / sqrt(2 pi v) of lambda2.

    It is that of v = 1/(2u), where u has the density (1 - exp(-u)) / (2 sqrt(pi) u^(3/2)).
    """
    return 0.5 * np.log(2 * np.pi * v) - np.log(-np.expm1(-1 / (2 * v)))


class HorseshoeLikeScale:
    """The same distribution by its other definition, lambda = uniform / |standard normal|, and its CDF."""

    def rvs(self, size: Any, random_state: np.random.Generator) -> Vector:
        lam = random_state.random(size) / random_state.standard_normal(size)
        return np.asarray(lam**2)

    def cdf(self, v: Vector) -> Vector:
        """P(u > 1/(2v)), where P(u < x) = erf(sqrt x) - (1 - exp(-x)) / sqrt(pi x)."""
        x = 1 / (2 * v)
        return np.asarray(erfc(np.sqrt(x)) - np.expm1(-x) / np.sqrt(np.pi * x))


def neg_log_gamma(v: Any, shape: float, rate: float) -> Any:
    """-log of the density rate^s v^(s-1) exp(-rate v) / Gamma(s) of lambda2."""
    return (1 - shape) * np.log(v) + rate * v + gammaln(shape) - shape * np.log(rate)


def neg_log_inverse_gamma(v: Any, shape: float, scale: float) -> Any:
    """-log of the density scale^s v^(-s-1) exp(-scale/v) / Gamma(s) of lambda2."""
    return (1 + shape) * np.log(v) + scale / v + gammaln(shape) - shape * np.log(scale)


def jacobian(v: Any, coordinate: float) -> Any:
    """What -log p gains when the density is that of u = lambda**c instead of that of v = lambda2.

    v = u^(2/c), so dv/du = (2/c) u^(2/c - 1) = (2/c) v^(1 - c/2) and -log p(u) = -log p(v) - log(dv/du).
    """
    return -np.log(2 / coordinate) - (1 - coordinate / 2) * np.log(v)


def normal_term(v: Any, w: float, size: int = 1) -> Any:
    """-log N(beta; 0, sigma2 tau2 v) in expectation, as a function of v: 1/2 log v + w/v.

    Of several coefficients with one v the terms add up: w is then the sum of theirs.
    """
    return 0.5 * size * np.log(v) + w / v


def inverted_beta_objective(v: Any, w: float, coordinate: float, a: float, b: float) -> Any:
    """What the M-step minimises over v under an inverted beta prior."""
    return normal_term(v, w) + neg_log_inverted_beta(v, a, b) + jacobian(v, coordinate)


def gamma_objective(v: Any, w: float, coordinate: float, shape: float, rate: float) -> Any:
    """What the M-step minimises over v under a gamma prior."""
    return normal_term(v, w) + neg_log_gamma(v, shape, rate) + jacobian(v, coordinate)


def inverse_gamma_objective(v: Any, w: float, coordinate: float, shape: float, scale: float) -> Any:
    """What the M-step minimises over v under an inverse gamma prior."""
    return normal_term(v, w) + neg_log_inverse_gamma(v, shape, scale) + jacobian(v, coordinate)


def local_mode(neg_log_density: Callable[[Any], Any], coordinate: float, w: float, size: int = 1) -> float:
    """Argmin over v > 0 of size/2 log v + w/v - log p(lambda**coordinate at v), by search in log v.

    `neg_log_density` is -log of the density of lambda2. Where it is already that of the wanted coordinate,
    pass ``coordinate=2``: the Jacobian is then 1. If it takes complex numbers, the minimum found by
    bracketing is polished to the zero of the derivative (1e-12 relative for w from 1e-290 to 1e290); if not,
    it is good to about 1e-7.

    >>> horseshoe = lambda v: neg_log_inverted_beta(v, 0.5, 0.5)
    >>> w = 3.0
    >>> equation_16 = (np.sqrt(1 + 6 * w + w**2) + w - 1) / 4
    >>> bool(abs(local_mode(horseshoe, 2.0, w) / equation_16 - 1) < 1e-13)
    True
    """

    def objective(v: Any) -> Any:
        return normal_term(v, w, size) + neg_log_density(v) + jacobian(v, coordinate)

    def at(t: float) -> float:
        with np.errstate(all="ignore"):
            value = objective(np.exp(np.float64(t)))
        return float(value) if np.isfinite(value) else np.inf

    grid = np.arange(-705.0, 706.0, 2.5)
    best = float(grid[np.argmin([at(t) for t in grid])])
    around = (best - 2.5, best + 2.5)
    found = float(minimize_scalar(at, bounds=around, method="bounded", options={"xatol": 1e-9}).x)

    def slope(t: float) -> float:  # d/dt of objective(exp t)
        step = 1e-15
        v = np.exp(np.float64(t))
        with warnings.catch_warnings():
            warnings.simplefilter("error", np.exceptions.ComplexWarning)
            return float(np.imag(objective(v + 1j * step * v)) / step)

    try:
        below, above = slope(found - 1e-3), slope(found + 1e-3)
    except (TypeError, np.exceptions.ComplexWarning):  # the density is real only
        return float(np.exp(found))
    if not below < 0 < above:
        raise ArithmeticError(f"no interior minimum near log v = {found} for w = {w}")
    return float(np.exp(brentq(slope, found - 1e-3, found + 1e-3, xtol=1e-15, rtol=1e-15)))


# --- the coefficients given the scales -------------------------------------------


class ConditionalMoments(NamedTuple):
    """beta given the scales: N(mean, covariance), with the traces the E-step needs."""

    mean: Vector
    covariance: Matrix
    fit_trace: float  # tr(X'X Cov) / sigma2
    rss: float  # ||z - X mean||^2
    log_det: float  # log det(I + X D X')


def conditional_moments(X: Matrix, z: Vector, d: Vector, sigma2: float) -> ConditionalMoments:
    """Moments of beta | scales by plain inversion, with prior variances sigma2 * d.

    Two textbook forms, whichever matrix is better conditioned: A = X'X + D^-1, or M = I + X D X' with
    Woodbury's identity. Loses digits where both are badly conditioned: use `conditional_moments_mp` there.
    """
    n = len(z)
    M = np.eye(n) + (X * d) @ X.T
    with np.errstate(divide="ignore", over="ignore"):
        precision = 1.0 / d
    A = X.T @ X + np.diag(precision) if np.all(np.isfinite(precision)) else None
    if A is not None and np.linalg.cond(A) <= np.linalg.cond(M):
        inverse = np.linalg.inv(A)
        mean = inverse @ (X.T @ z)
    else:
        M_inverse = np.linalg.inv(M)
        DXt = d[:, None] * X.T
        inverse = np.diag(d) - DXt @ M_inverse @ DXt.T
        mean = DXt @ (M_inverse @ z)
    residual = z - X @ mean
    return ConditionalMoments(
        mean=mean,
        covariance=sigma2 * inverse,
        fit_trace=float(np.trace(X.T @ X @ inverse)),
        rss=float(residual @ residual),
        log_det=float(np.linalg.slogdet(M)[1]),
    )


def _solve_decimal(
    matrix: list[list[Decimal]], right: list[list[Decimal]]
) -> tuple[list[list[Decimal]], Decimal]:
    """Gauss-Jordan elimination with partial pivoting: the solution and the absolute determinant."""
    size = len(matrix)
    rows = [list(left) + list(r) for left, r in zip(matrix, right, strict=True)]
    determinant = Decimal(1)
    for k in range(size):
        pivot = max(range(k, size), key=lambda i: abs(rows[i][k]))
        rows[k], rows[pivot] = rows[pivot], rows[k]
        head = rows[k][k]
        determinant *= abs(head)
        rows[k] = [x / head for x in rows[k]]
        for i in range(size):
            factor = rows[i][k]
            if i != k and factor:
                rows[i] = [x - factor * y for x, y in zip(rows[i], rows[k], strict=True)]
    return [row[size:] for row in rows], determinant


def conditional_moments_mp(
    X: Matrix, z: Vector, d: Vector, sigma2: float, digits: int = 80
) -> ConditionalMoments:
    """`conditional_moments` in decimal arithmetic of many digits, for small, badly conditioned cases.

    The floats are taken as the exact numbers they are. B = I + D^1/2 X'X D^1/2 holds for d = 0 and d huge.
    The standard library's `decimal` does what a multiple-precision package would, and is always there.
    """
    n, p = X.shape
    with localcontext() as context:
        context.prec, context.Emax, context.Emin = digits, 10**9, -(10**9)
        x = [[Decimal(float(X[i, j])) for j in range(p)] for i in range(n)]
        target = [Decimal(float(t)) for t in z]
        root = [Decimal(float(t)).sqrt() for t in d]
        gram = [[sum((x[i][j] * x[i][k] for i in range(n)), Decimal(0)) for k in range(p)] for j in range(p)]
        B = [[root[j] * gram[j][k] * root[k] + (1 if j == k else 0) for k in range(p)] for j in range(p)]
        xz = [sum((x[i][j] * target[i] for i in range(n)), Decimal(0)) for j in range(p)]
        identity = [[Decimal(int(j == k)) for k in range(p)] for j in range(p)]
        inverse, determinant = _solve_decimal(B, identity)
        inverse = [[root[j] * inverse[j][k] * root[k] for k in range(p)] for j in range(p)]
        mean = [sum((inverse[j][k] * xz[k] for k in range(p)), Decimal(0)) for j in range(p)]
        residual = [target[i] - sum((x[i][j] * mean[j] for j in range(p)), Decimal(0)) for i in range(n)]
        trace = sum((gram[j][k] * inverse[k][j] for j in range(p) for k in range(p)), Decimal(0))
        variance = Decimal(float(sigma2))
        return ConditionalMoments(
            mean=np.array([float(m) for m in mean]),
            covariance=np.array([[float(variance * c) for c in row] for row in inverse]),
            fit_trace=float(trace),
            rss=float(sum((r * r for r in residual), Decimal(0))),
            log_det=float(determinant.ln()),
        )


def marginal_objective(
    X: Matrix,
    z: Vector,
    sigma2: float,
    tau2: float,
    lambda2: Vector,
    neg_log_local: Callable[[Vector], Any],
    neg_log_global: Callable[[float], float],
) -> float:
    """-log p(z, lambda2, tau2 | sigma2) with beta integrated out, up to a constant: what exact EM lowers.

    z | scales ~ N(0, sigma2 (I + X D X')) with D = tau2 diag(lambda2).
    """
    n = len(z)
    M = np.eye(n) + (X * (tau2 * lambda2)) @ X.T
    log_det = np.linalg.slogdet(M)[1]
    quadratic = z @ np.linalg.solve(M, z)
    likelihood = 0.5 * n * np.log(sigma2) + 0.5 * log_det + quadratic / (2 * sigma2)
    return float(likelihood + np.sum(neg_log_local(lambda2)) + neg_log_global(tau2))


# --- Algorithm 1 -----------------------------------------------------------------


def standardise(X: Matrix, y: Vector) -> tuple[Matrix, Vector, Vector, Vector, float, float]:
    """X and y to mean 0 and 1/n standard deviation 1: (X, y, x_mean, x_sd, y_mean, y_sd)."""
    x_mean, x_sd = X.mean(axis=0), X.std(axis=0)
    y_mean, y_sd = float(y.mean()), float(y.std())
    return (X - x_mean) / x_sd, (y - y_mean) / y_sd, x_mean, x_sd, y_mean, y_sd


def inverted_beta_mode(w: Vector, coordinate: float, a: float, b: float) -> Vector:
    """The positive root of (A+m) v^2 + (A-w) v - w = 0, with the sum that does not cancel on either side."""
    A, m = (1 + coordinate) / 2 - a, a + b
    root = np.hypot(w - A, 2 * np.sqrt((A + m) * w))
    small = w < A
    return np.where(small, 2 * w / np.where(small, root + A - w, 1.0), (w - A + root) / (2 * (A + m)))


def plain_em(
    X: Matrix,
    y: Vector,
    tol: float,
    max_iter: int,
    a: float = 0.5,
    b: float = 0.5,
    coordinate: float = 2.0,
    sigma2: float | None = None,
    tau2: float = 1.0,
) -> dict[str, Any]:
    """Algorithm 1 of the paper on standardised X and y: no pruning, no acceleration, exact expectations.

    tau2 is held at its bound, where the M-step puts it for coordinate 2 and p >= 3; sigma2 is E[RSS]/n unless
    given.
    `coef` is thresholded at 1/(5 sqrt n); `coef_unthresholded` is what the loop ended with.
    """
    n, p = X.shape
    gram = X.T @ X if p <= n else None
    coef = X.T @ y / n  # marginal least squares: ||x_j||^2 = n
    second_moment, expected_rss = coef**2, 1e10
    variance = np.zeros(p)
    lambda2, noise = np.zeros(p), np.nan
    converged = False
    n_iter = 0
    while n_iter < max_iter and not converged:
        n_iter += 1
        # M-step
        noise = expected_rss / n if sigma2 is None else sigma2
        lambda2 = inverted_beta_mode(second_moment / (2 * noise * tau2), coordinate, a, b)
        # E-step
        d = tau2 * lambda2
        if gram is not None:
            s = np.sqrt(d)
            inverse = np.linalg.inv(np.eye(p) + s[:, None] * gram * s)
            mean = s * (inverse @ (s * (X.T @ y)))
            variance = noise * d * np.diag(inverse)
            fit_trace = p - np.trace(inverse)
        else:
            inverse = np.linalg.inv(np.eye(n) + (X * d) @ X.T)
            mean = d * (X.T @ (inverse @ y))
            variance = noise * d * (1 - d * np.einsum("ij,ij->j", X, inverse @ X))
            fit_trace = n - np.trace(inverse)
        residual = y - X @ mean
        expected_rss = residual @ residual + noise * fit_trace
        second_moment = mean**2 + variance
        change = np.sum(np.abs(mean - coef)) / (1 + np.sum(np.abs(mean)))
        coef = mean
        converged = bool(change < tol)
    return {
        "coef": np.where(np.abs(coef) < 1 / (5 * np.sqrt(n)), 0.0, coef),
        "coef_unthresholded": coef,
        "lambda2": lambda2,
        "sigma2": float(noise),
        "variance": variance,
        "n_iter": n_iter,
        "converged": converged,
    }


def em_step(
    X: Matrix, z: Vector, second_moment: Vector, sigma2: float, n: float, coordinate: float
) -> tuple[Vector, Vector, float]:
    """One M-step of the horseshoe's local scales, tau being 1, and one E-step: E[b], E[b^2], E[RSS]/n."""
    lambda2 = inverted_beta_mode(second_moment / (2 * sigma2), coordinate, 0.5, 0.5)
    found = conditional_moments(X, z, lambda2, sigma2)
    noise = (found.rss + sigma2 * found.fit_trace) / n
    return found.mean, found.mean**2 + np.diag(found.covariance), noise


class GroupedFit(NamedTuple):
    """Where EM is after some iterations, on the scale of the columns; flat coefficients first."""

    flat: Vector
    coef: Vector
    variance: Vector
    flat_variance: Vector
    lambda2: Vector
    sigma2: float


def grouped_em(
    X: Matrix,
    y: Vector,
    label: Any,
    mode: Callable[[float, int], float],
    iterations: int,
    tau2: float = 1.0,
    flat: Matrix | None = None,
    sigma2: float | None = None,
    flat_variance: float = np.inf,
) -> GroupedFit:
    """Algorithm 1 with one local scale for the columns of a label, and columns ``flat`` that are not shrunk.

    ``mode`` is the argmin over v of size/2 log v + w/v - log p(v). A flat column has a prior variance in
    units of sigma2 that is infinite, or what is given. X and y are orthogonal to ones, or there is no
    intercept; the start is marginal least squares on what the flat columns leave, and sigma2 is E[RSS] over
    the number of contrasts of y that they leave: what is seen of the noise once they are integrated out.
    """
    n, p = X.shape
    C = np.zeros((n, 0)) if flat is None else flat
    q = C.shape[1]
    M = np.eye(n) - C @ np.linalg.pinv(C)
    coef = (X.T @ (M @ y)) / np.einsum("ij,ij->j", M @ X, M @ X)
    second, rss, noise = coef**2, 1e10, np.nan
    A = np.column_stack([C, X])
    theta, covariance = np.zeros(q + p), np.zeros((q + p, q + p))
    lambda2 = np.zeros(p)
    for _ in range(iterations):
        noise = rss / (n - q) if sigma2 is None else sigma2
        for one in np.unique(label):
            own = label == one
            lambda2[own] = mode(float(second[own].sum() / (2 * noise * tau2)), int(own.sum()))
        precision = np.append(np.full(q, 1 / flat_variance), 1 / (tau2 * lambda2))
        covariance = noise * np.linalg.inv(A.T @ A + np.diag(precision))
        theta = covariance @ (A.T @ y) / noise
        second = theta[q:] ** 2 + np.diag(covariance)[q:]
        residual = M @ (y - X @ theta[q:])
        rss = float(residual @ residual + np.trace(X.T @ M @ X @ covariance[q:, q:]))
    variance = np.diag(covariance)
    return GroupedFit(theta[:q], theta[q:], variance[q:], variance[:q], lambda2, float(noise))


# --- weighted rows -----------------------------------------------------------------


def weighted_centred(X: Matrix, z: Vector, weights: Vector, center: bool) -> tuple[Matrix, Vector]:
    """The rows that have weight, times its root, after what has no intercept is off: plain least squares."""
    rows = np.flatnonzero(weights)
    X, z, root = X[rows], z[rows], np.sqrt(weights[rows])
    if center:
        X = X - np.average(X, axis=0, weights=weights[rows])
        z = z - np.average(z, weights=weights[rows])
    return root[:, None] * X, root * z


# --- ridge regression --------------------------------------------------------------


class RidgeFit(NamedTuple):
    """b ~ N(0, sigma2 / penalty) and a flat prior of the intercept: the posterior mean, and what is left."""

    coef: Vector
    intercept: float
    square: float  # y' P y
    evidence: float  # -log of the marginal likelihood of y, sigma2 at its best, up to a constant
    trace: float  # the degrees of freedom of the fit, less that of the intercept


def ridge_regression(X: Matrix, y: Vector, penalty: float, center: bool) -> RidgeFit:
    """Fit by the normal equations; y ~ N(0, sigma2 M) with M = I + X X'/penalty, and P = M^-1 without ones.

    With a flat intercept the likelihood is that of the contrasts of y, with |M| 1'M^-1 1 in the place of |M|.
    """
    n = len(y)
    A = np.column_stack([np.ones(n), X])[:, 0 if center else 1 :]
    ridge = penalty * np.eye(A.shape[1])
    ridge[0, 0] = 0.0 if center else penalty
    solution = np.linalg.solve(A.T @ A + ridge, A.T @ y)
    P = np.linalg.inv(np.eye(n) + X @ X.T / penalty)
    log_det = -np.linalg.slogdet(P)[1]
    if center:
        log_det += np.log(P.sum())
        P = P - np.outer(P.sum(axis=1), P.sum(axis=0)) / P.sum()
    square = float(y @ P @ y)
    trace = float(np.trace(A @ np.linalg.solve(A.T @ A + ridge, A.T))) - center
    evidence = 0.5 * ((n - center) * np.log(square) + log_det)
    return RidgeFit(solution[center:], float(solution[0]) if center else 0.0, square, evidence, trace)


def laplace_evidence(
    X: Matrix, counts: Vector, loss: Vector, curvature: Vector, coef: Vector, penalty: float
) -> float:
    """-log of the marginal likelihood at the mode, up to a constant: b ~ N(0, 1 / penalty), a flat intercept.

    ``loss`` and ``curvature`` are -log p(y_i) and its second derivative in eta_i.
    """
    A = np.column_stack([np.ones(len(X)), X])
    ridge = np.diag(np.append(0.0, np.full(coef.size, penalty)))
    log_det = np.linalg.slogdet(A.T @ ((counts * curvature)[:, None] * A) + ridge)[1]
    joint = counts @ loss + 0.5 * penalty * coef @ coef - 0.5 * coef.size * np.log(penalty)
    return float(joint + 0.5 * log_det)


# --- the normal mixture ------------------------------------------------------------
# b_j ~ sum_k pi_k N(0, sigma2 s_k) with s_0 = 0. Rows of phi, mean and variance are columns of X.


class MixtureFit(NamedTuple):
    """q_j = sum_k phi_jk N(mean_jk, variance_jk), and what was estimated with it."""

    phi: Matrix
    mean: Matrix
    variance: Matrix
    pi: Vector
    sigma2: float
    elbo: list[float]


def normal_means_mixture(
    seen: float, error2: float, pi: Vector, slab2: Vector
) -> tuple[Vector, Vector, Vector]:
    """Of seen ~ N(b, error2), b ~ sum_k pi_k N(0, slab2_k): weights, means and variances of the posterior."""
    log_weight = np.log(pi) - seen**2 / (2 * (slab2 + error2)) - np.log(slab2 + error2) / 2
    weight = np.exp(log_weight - log_weight.max())
    return weight / weight.sum(), seen * slab2 / (slab2 + error2), slab2 * error2 / (slab2 + error2)


def mixture_elbo(X: Matrix, y: Vector, s: Vector, q: MixtureFit) -> float:
    """E_q log N(y; X b, sigma2) - sum_j KL(q_j || prior), with the indicators of the components."""
    b = (q.phi * q.mean).sum(axis=1)
    var = (q.phi * (q.variance + q.mean**2)).sum(axis=1) - b**2
    rss = np.sum((y - X @ b) ** 2) + (X**2).sum(axis=0) @ var
    kl = q.phi[:, 0] * np.log(q.phi[:, 0] / q.pi[0])
    for k in range(1, s.size):
        ratio = (q.variance[:, k] + q.mean[:, k] ** 2) / (q.sigma2 * s[k])
        normal = (ratio - 1 - np.log(q.variance[:, k] / (q.sigma2 * s[k]))) / 2
        kl = kl + q.phi[:, k] * (np.log(q.phi[:, k] / q.pi[k]) + normal)
    return float(-y.size / 2 * np.log(2 * np.pi * q.sigma2) - rss / (2 * q.sigma2) - kl.sum())


def mixture_ascent(
    X: Matrix, y: Vector, b: Vector, sigma2: float, pi: Vector, s: Vector, sweeps: int
) -> MixtureFit:
    """Coordinate ascent on the ELBO, one column at a time; variances of q are sigma2 s_k / (1 + d s_k)."""
    n, p = X.shape
    d, b = (X**2).sum(axis=0), b.copy()
    phi, mean, variance = np.zeros((3, p, s.size))
    elbo = []
    for _ in range(sweeps):
        for j in range(p):
            seen = X[:, j] @ (y - X @ b + X[:, j] * b[j]) / d[j]
            phi[j], mean[j], variance[j] = normal_means_mixture(seen, sigma2 / d[j], pi, sigma2 * s)
            b[j] = phi[j] @ mean[j]
        pi = phi.mean(axis=0)
        slabs = (phi[:, 1:] * mean[:, 1:] ** 2 * (d[:, None] + 1 / s[1:])).sum()
        new = (np.sum((y - X @ b) ** 2) + slabs - d @ b**2) / n
        variance, sigma2 = variance * new / sigma2, new
        elbo.append(mixture_elbo(X, y, s, MixtureFit(phi, mean, variance, pi, sigma2, [])))
    return MixtureFit(phi, mean, variance, pi, sigma2, elbo)


def partial_log_likelihood(
    eta: Vector,
    time: Vector,
    event: Any,
    entry: Vector,
    stratum: Any,
    weights: Vector,
    efron: bool,
    counted: bool = True,
) -> float:
    """Cox's, one event time of one stratum after the other, and one row at risk after the other.

    ``counted``: an event of whole weight w is w events at the same time. Otherwise those of one time share
    their mean weight, as in R.
    """
    total = 0.0
    for s in set(stratum.tolist()):
        for t in sorted({time[i] for i in range(time.size) if event[i] and stratum[i] == s}):
            here = [i for i in range(time.size) if stratum[i] == s and entry[i] < t <= time[i]]
            dead = [i for i in here if event[i] and time[i] == t]
            risk = sum(weights[i] * np.exp(eta[i]) for i in here)
            gone = sum(weights[i] * np.exp(eta[i]) for i in dead)
            total += sum(weights[i] * eta[i] for i in dead)
            weight = sum(weights[i] for i in dead)
            if not efron:
                total -= weight * np.log(risk)
                continue
            steps = round(weight) if counted else len(dead)
            for step in range(steps):
                total -= (1 if counted else weight / steps) * np.log(risk - step / steps * gone)
    return total


def concordance(time: Vector, event: Any, risk: Vector, weights: Vector) -> float:
    """Harrell's, one pair after the other."""
    right = pairs = 0.0
    for i in range(time.size):
        for j in range(time.size):
            if event[i] and (time[i] < time[j] or (time[i] == time[j] and not event[j])):
                pairs += weights[i] * weights[j]
                right += weights[i] * weights[j] * (1.0 if risk[i] > risk[j] else 0.5 * (risk[i] == risk[j]))
    return right / pairs


def cross_products(x, y, weights=None):
    """Total weight, means and centred cross-products of (x, y), in extended precision."""
    both = np.column_stack([x, y]).astype(np.longdouble)
    w = np.ones(len(both), dtype=np.longdouble) if weights is None else weights.astype(np.longdouble)
    mean = (w[:, None] * both).sum(axis=0) / w.sum()
    around = both - mean
    products = sum(w_i * np.outer(row, row) for w_i, row in zip(w, around, strict=True))
    return float(w.sum()), mean.astype(float), products.astype(float)


# --- regressions that share the local scales ---------------------------------------


def shared_objective(
    v: Any, w: float, size: float, coordinate: float, neg_log_density: Callable[[Any], Any]
) -> Any:
    """What the M-step minimises over the v that ``size`` coefficients share; w is the sum of theirs."""
    return 0.5 * size * np.log(v) + w / v + neg_log_density(v) + jacobian(v, coordinate)


def several_em(X: Matrix, Z: Matrix, coordinate: float, n_iter: int) -> tuple[Matrix, Vector, Vector]:
    """EM for several responses under the horseshoe, tau = 1: E[b] (a column each), lambda2, sigma2 each.

    Every response has its own inverse of X'X + D^-1; nothing is shared but the sum in W. The local scale is
    the root of the derivative of `shared_objective`: (q + c)/2 - 1/2 + v/(1 + v) = w/v.
    """
    n, q = Z.shape
    mean = X.T @ Z / np.sum(X**2, axis=0)[:, None]
    second, sigma2 = mean**2, np.full(q, 1e10 / n)
    for _ in range(n_iter):
        w = np.sum(second / (2 * sigma2), axis=1)
        A = (q + coordinate - 1) / 2
        lambda2 = np.array([_positive_root_of(A + 1, A - one, -one) for one in w])
        rss = np.empty(q)
        for k in range(q):
            found = conditional_moments(X, Z[:, k], lambda2, sigma2[k])
            mean[:, k], second[:, k] = found.mean, found.mean**2 + np.diag(found.covariance)
            rss[k] = found.rss + sigma2[k] * found.fit_trace
        sigma2 = rss / n
    return mean, lambda2, sigma2


def _positive_root_of(a: float, b: float, c: float) -> float:
    """The positive root of a v^2 + b v + c = 0, c < 0, by the form that does not cancel."""
    root = np.sqrt(b * b - 4 * a * c)
    return float(2 * -c / (b + root) if b > 0 else (root - b) / (2 * a))


def softmax_objective(
    B: Matrix, level: Vector, X: Matrix, chosen: Matrix, d: Vector, counts: Vector
) -> float:
    """-log of the likelihood of the classes times N(b_jk; 0, d_j), up to a constant; a column a class."""
    eta = X @ B + level
    log_share = eta - np.log(np.sum(np.exp(eta - eta.max(axis=1, keepdims=True)), axis=1, keepdims=True))
    log_share = log_share - eta.max(axis=1, keepdims=True)
    return float(-counts @ np.sum(chosen * log_share, axis=1) + 0.5 * np.sum(B**2 / d[:, None]))


def softmax_covariance(B: Matrix, level: Vector, X: Matrix, d: Vector, counts: Vector) -> Matrix:
    """Cov of (level, b), class by class, at B, with what classes share taken out: of what adds up to zero.

    The inverse of the Hessian of `softmax_objective`, written out for every pair of classes; a tiny precision
    holds the level that no data tell.
    """
    q, A = B.shape[1], np.column_stack([np.ones(len(X)), X])
    eta = X @ B + level
    share = np.exp(eta - eta.max(axis=1, keepdims=True))
    share /= share.sum(axis=1, keepdims=True)
    blocks = [
        [A.T @ ((counts * share[:, k] * ((k == m) - share[:, m]))[:, None] * A) for m in range(q)]
        for k in range(q)
    ]
    precision = np.block(blocks) + np.kron(np.eye(q), np.diag(np.append(1e-9, 1 / d)))
    apart = np.kron(np.eye(q) - 1 / q, np.eye(A.shape[1]))
    return apart @ np.linalg.inv(precision) @ apart

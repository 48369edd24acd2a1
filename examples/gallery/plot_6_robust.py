"""
Outliers
========

The Gaussian model squares its errors, so a few wrong rows can hide the signal or invent one. Two families
have heavier tails: ``student_t`` and ``laplace``. This page spoils more and more rows of the same data, and
looks at what is left.
"""

from typing import Any

import matplotlib.pyplot as plt
import numpy as np

from horseshoe import HorseshoeRegressor

rng = np.random.default_rng(0)
n, p = 200, 50
X = rng.standard_normal((n, p))
effects = np.repeat([1.0, -1.0, 0.0], [3, 2, p - 5])
clean = X @ effects + rng.standard_normal(n)
spoilt_first = rng.permutation(n)
errors = 30.0 * rng.standard_normal(n)


def spoil(share: float) -> Any:
    """Return the responses with gross errors in a share of the rows."""
    y = clean.copy()
    rows = spoilt_first[: int(share * n)]
    y[rows] += errors[rows]
    return y


# %%
# Three families, seven shares of wrong rows. The error is the squared distance of the coefficients from the
# truth.

shares = [0.0, 0.02, 0.05, 0.1, 0.15, 0.2, 0.25]
families = {"gaussian": "o-", "laplace": "s--", "student_t": "^:"}
fits: dict[str, Any] = {
    family: [HorseshoeRegressor(family=family).fit(X, spoil(share)) for share in shares]
    for family in families
}

fig, ax = plt.subplots(figsize=(6, 3.2), layout="constrained")
for family, style in families.items():
    error = [((fit.coef_ - effects) ** 2).sum() for fit in fits[family]]
    ax.plot(np.multiply(shares, 100), error, style, color="black", mfc="white", label=family)
ax.set(xlabel="% of rows with a gross error", ylabel="squared error of the coefficients", yscale="log")
ax.spines[["top", "right"]].set_visible(False)
ax.legend(frameon=False)
plt.show()

# %%
# Student's t hardly notices. It estimates how heavy the tails are, and once it has seen that some rows are
# far off, it counts them for little. Laplace noise stands in between: its scale is the mean absolute
# residual, and many gross errors make that large.

print("wrong rows   degrees of freedom   scale")
for share, fit in zip(shares, fits["student_t"], strict=True):
    print(f"{share:8.0%}{fit.family_.df_:18.1f}{fit.sigma2_**0.5:13.2f}")

# %%
# Which rows are they?
# --------------------
#
# The residuals of the robust fit say it: divide them by the scale, and look at what is far out.

share = 0.1
y = spoil(share)
fit = HorseshoeRegressor(family="student_t").fit(X, y)
far = abs(y - fit.predict(X)) / fit.sigma2_**0.5
wrong = np.isin(np.arange(n), spoilt_first[: int(share * n)])

fig, ax = plt.subplots(figsize=(6, 2.6), layout="constrained")
ax.semilogy(np.flatnonzero(~wrong), far[~wrong], ".", color="0.6", label="good rows")
ax.semilogy(np.flatnonzero(wrong), far[wrong], "kx", label="spoilt rows")
ax.set(xlabel="row", ylabel="|residual| / scale", ylim=(1e-2, None))
ax.spines[["top", "right"]].set_visible(False)
ax.legend(frameon=False, loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=2)
plt.show()

# %%
# If nothing is wrong, what does the heavy tail cost? Not much: the first point of each line above.

for family in families:
    print(f"{family:<10} {((fits[family][0].coef_ - effects) ** 2).sum():.3f}")

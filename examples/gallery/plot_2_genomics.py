"""
Many more columns than rows
===========================

A study of genes has a few hundred people and thousands of columns. This page makes such data: 200 people,
3,000 genotypes, and a trait that depends on ten of them. Then it asks which ten.
"""

import time

import matplotlib.pyplot as plt
import numpy as np

from horseshoe import AdaptiveRegressor, HorseshoeRegressor

# %%
# The data
# --------
#
# A genotype counts how many of two copies of a gene are the rare one: 0, 1 or 2. Neighbours on the
# chromosome are inherited together, so neighbouring columns are correlated. We draw a hidden normal process
# with a correlation of 0.8 between neighbours, twice, and count how often it is below the quantile that
# belongs to the rare copy.

rng = np.random.default_rng(1)
n, p = 200, 3000


def copies() -> np.ndarray:
    """Draw which of p places has the rare copy, for n people."""
    hidden = rng.standard_normal((n, p))
    for j in range(1, p):
        hidden[:, j] = 0.8 * hidden[:, j - 1] + 0.6 * hidden[:, j]
    return hidden < rare


rare = rng.uniform(-1.2, 0.0, p)
X = copies().astype(float) + copies()
true = np.sort(rng.choice(p, 10, replace=False))
effects = np.zeros(p)
effects[true] = rng.choice([-1.0, 1.0], 10) * rng.uniform(0.3, 1.0, 10)
y = X @ effects + rng.standard_normal(n)

# %%
# The single mode: one fit
# ------------------------
#
# The posterior mode needs no cross-validation. It sets all but a few of the 3,000 coefficients to exactly
# zero.

began = time.perf_counter()
mode = HorseshoeRegressor().fit(X, y)
took = time.perf_counter() - began

print(f"{mode.support_.sum()} of {p} columns selected in {took:.2f} s")
print(f"{(mode.support_ & (effects != 0)).sum()} of them are true")
print(f"noise alone would give about {mode.expected_by_chance_:.0f}")

# %%
# Why does noise give so many? The mode keeps a column whose z statistic exceeds about 2.4. Of 3,000 columns
# without any effect dozens do. Once the true columns have explained most of the response, fewer pass; but
# do not take a selection of the single mode from wide data as proof. This is what the average is for.
#
# The average: how sure is each column?
# -------------------------------------

began = time.perf_counter()
model = AdaptiveRegressor().fit(X, y)
took = time.perf_counter() - began

found = model.get_support(indices=True)
print(f"{found.size} of {p} columns selected in {took:.1f} s, {np.isin(found, true).sum()} of them true")
print("column   true  estimate  inclusion")
for j in found:
    print(f"{j:6d}{effects[j]:7.2f}{model.sparse_coef_[j]:10.2f}{model.inclusion_[j]:11.2f}")

# %%
# The picture is the one that geneticists know: every column at its place, and how sure it is in. Circles
# mark the truth.

fig, ax = plt.subplots(figsize=(8, 3), layout="constrained")
ax.vlines(np.arange(p), 0, model.inclusion_, color="0.5", lw=0.8)
ax.plot(found, model.inclusion_[found], "k.", label="selected")
ax.plot(true, model.inclusion_[true], "o", ms=10, mfc="none", color="tab:red", label="true")
ax.set(xlabel="place on the chromosome", ylabel="inclusion", ylim=(0, 1.08))
ax.spines[["top", "right"]].set_visible(False)
ax.legend(frameon=False, loc="center right")
plt.show()

# %%
# What was missed
# ---------------
#
# The columns that were missed have the smallest effects. 200 rows are too few for them: their inclusion is
# hardly higher than that of thousands of columns without any effect. The default rule "1se" selects
# cleanly. The rule "paired" asks for less. It selects more columns, some without an effect among them, and
# usually predicts better.

more = AdaptiveRegressor(selection="paired").fit(X, y)
for j in sorted(set(true) - set(found)):
    print(f"column {j} was missed: effect {effects[j]:.2f}, inclusion {model.inclusion_[j]:.2f}")
print(f"'paired' selects {more.support_.sum()} columns, {more.support_[true].sum()} of them true")

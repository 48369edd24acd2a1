"""
How many columns matter?
========================

Sometimes few columns matter, sometimes all do a little. You do not know which before you have looked.
`AdaptiveRegressor` does not ask you. This page shows what it answers in four different worlds.
"""

import matplotlib.pyplot as plt
import numpy as np

from horseshoe import AdaptiveRegressor

# %%
# Four truths
# -----------
#
# Each has 100 rows and 200 columns. They differ in how many columns have an effect, and how large it is.

rng = np.random.default_rng(0)
n, p = 100, 200
truths = {
    "nothing": np.zeros(p),
    "four large": np.repeat([2.0, 0.0], [4, p - 4]),
    "twenty": np.repeat([1.0, 0.0], [20, p - 20]),
    "all a little": 0.15 * rng.standard_normal(p),
}

fits = {}
for name, effects in truths.items():
    X = rng.standard_normal((n, p))
    y = X @ effects + rng.standard_normal(n)
    fits[name] = AdaptiveRegressor().fit(X, y)

# %% Who is believed --------------- # The estimator fits five components and weighs them by how well each
# predicts rows that it has not seen. The bars show the weights. Where all columns matter a little, ridge has
# nearly all the weight. Where few matter, the normal mixtures have it. Where nothing matters, the components
# that say next to nothing share it.

components = [component.name for component in fits["nothing"].components_]
fig, axes = plt.subplots(1, len(fits), figsize=(9, 2.6), sharey=True, layout="constrained")
for ax, (name, fit) in zip(axes, fits.items(), strict=True):
    ax.bar(components, fit.component_weights_, color="0.4")
    ax.set_title(name)
    ax.tick_params(axis="x", rotation=60)
    ax.spines[["top", "right"]].set_visible(False)
axes[0].set_ylabel("weight")
plt.show()

# %%
# What comes out
# --------------
#
# Each dot is a column: its true effect, and the estimate. Dots on the line are right. A filled dot is a
# column of the sparse answer, ``sparse_coef_``; a hollow one is shown at its value in the average,
# ``coef_``.

fig, axes = plt.subplots(1, len(fits), figsize=(9, 2.8), layout="constrained")
for ax, (name, fit) in zip(axes, fits.items(), strict=True):
    true, found = truths[name], fit.support_
    most = max(abs(true).max(), abs(fit.coef_).max(), 0.5) * 1.1
    ax.axline((0, 0), slope=1, color="0.8", zorder=0)
    ax.plot(true[~found], fit.coef_[~found], "o", mfc="none", color="0.5", ms=4)
    ax.plot(true[found], fit.sparse_coef_[found], "o", color="black", ms=4)
    ax.set(
        title=f"{name}\n{found.sum()} selected", xlim=(-most, most), ylim=(-most, most), xlabel="true effect"
    )
axes[0].set_ylabel("estimate")
plt.show()

# %%
# How sure is it?
# ---------------
#
# ``inclusion_`` says how sure each column is in. With twenty effects of size 1 and unit noise, the true
# columns stand apart from the others.

sure = fits["twenty"].inclusion_
print(f"the least sure of the true columns: {sure[:20].min():.2f}")
print(f"the surest of the others:           {sure[20:].max():.2f}")

# %%
# The page :doc:`/adaptive` says how all this is computed, and where it is not the best.

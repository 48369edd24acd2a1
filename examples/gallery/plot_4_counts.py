"""
Counts with exposure
====================

How many accidents does a crossing have? That depends on how long one has counted. Twice the time gives
twice the accidents, whatever the crossing is like. Such a number is called exposure. This page simulates
300 crossings that were watched for one to ten years, and asks which of 40 properties raise the rate.
"""

from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from horseshoe import AdaptiveRegressor, HorseshoeRegressor
from horseshoe.plots import plot_coefficients, plot_rootogram

rng = np.random.default_rng(0)
n = 300
names = ["traffic", "speed limit", "lights", "trees"] + [f"property {j}" for j in range(5, 41)]
X = pd.DataFrame(rng.standard_normal((n, 40)), columns=names)
years = rng.uniform(1.0, 10.0, n)
rate = np.exp(0.2 + 0.5 * X["traffic"] + 0.25 * X["speed limit"] - 0.3 * X["lights"])
accidents = rng.poisson(years * rate * rng.gamma(2.0, 0.5, n))

print(f"{accidents.sum()} accidents in {years.sum():.0f} years")

# %%
# Poisson, or more variable than that?
# ------------------------------------
#
# Poisson counts have a variance equal to their mean. Crossings differ in ways that nobody has measured, so
# real counts vary more. The negative binomial family has a parameter for it, ``size``: the variance is mu +
# mu^2/size. When in doubt take it. If the variance is taken for too small, noise looks like signal:

modes: dict[str, Any] = {}
for family in ("poisson", "negative_binomial"):
    modes[family] = HorseshoeRegressor(family=family).fit(X, accidents, exposure=years)
    found = list(modes[family].get_feature_names_out())
    print(f"{family}: {len(found)} columns: {', '.join(found)}")
print(f"the estimated size is {modes['negative_binomial'].family_.size_:.1f}; the truth is 2")

# %%
# A rootogram shows which family is right. Bars hang from the number of crossings that the model expects for
# each count. Those that do not end at zero are too few or too many: under Poisson there should be fewer
# crossings without any accident, and fewer with very many.

fig, axes = plt.subplots(1, 2, figsize=(10, 3.6), layout="constrained")
for ax, (family, mode) in zip(axes, modes.items(), strict=True):
    plot_rootogram(mode, X, accidents, exposure=years, ax=ax)
    ax.set_title(family)
plt.show()

# %%
# Rate ratios
# -----------
#
# The model is for the logarithm of the rate. So exp(coefficient) is a rate ratio: by which factor the rate is
# higher when the column is one unit higher. Here the adaptive estimator, with intervals:

model = AdaptiveRegressor(family="negative_binomial").fit(X, accidents, exposure=years)
table = model.summary(exponentiate=True).set_index("feature")
shown = table.loc[
    ["traffic", "speed limit", "lights", "trees"], ["rate_ratio", "lower", "upper", "inclusion"]
]
print(shown.assign(truth=np.exp([0.5, 0.25, -0.3, 0.0])).round(2))

# %%
# What is expected at a new crossing
# ----------------------------------
#
# ``exposure`` goes into predictions too: 5 years at three crossings that differ in traffic only.

new = pd.DataFrame(0.0, index=range(3), columns=names)
new["traffic"] = [-1.0, 0.0, 1.0]
expected = model.predict(new, exposure=5.0)
interval = model.predict_interval(new, level=0.9, exposure=5.0)
for traffic, mean, (low, high) in zip(new["traffic"], expected, interval, strict=True):
    print(f"traffic {traffic:+.0f}: {mean:4.1f} accidents in 5 years, 90 % between {low:.0f} and {high:.0f}")

# %%
# The coefficients in a picture; the axis says what they mean.

plot_coefficients(model, most=10)
plt.show()

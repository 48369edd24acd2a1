"""
Quantiles
=========

The mean says little about the worst tenth of the patients. ``Quantile(level=0.9)`` models the value that a
tenth of them exceed, each level with a selection of its own. The data are the diabetes patients of
scikit-learn: ten columns, and how far the disease has gone after a year.
"""

from itertools import combinations

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.linear_model import QuantileRegressor
from sklearn.metrics import mean_pinball_loss
from sklearn.model_selection import KFold

from horseshoe import HorseshoeRegressor
from horseshoe.families import Quantile

data = load_diabetes()
names = list(data.feature_names)
levels = [0.1, 0.5, 0.9]
X, y = data.data, data.target
fits = {level: HorseshoeRegressor(family=Quantile(level=level)).fit(X, y) for level in levels}

print("level " + "".join(f"{name:>7}" for name in names))
for level, fit in fits.items():
    print(f"{level:<6}" + "".join(f"{b:7.0f}" if b else "      ." for b in fit.coef_))

# %%
# The same columns need not matter at the top and at the bottom, nor as much. The share of the patients below
# each fitted quantile is near the level, as it must be.

for level, fit in fits.items():
    print(f"{level}: {np.mean(data.target <= fit.predict(data.data)):.2f} of the patients are below")

order = np.argsort(fits[0.5].predict(data.data))
fig, ax = plt.subplots(figsize=(6, 3.2), layout="constrained")
ax.plot(data.target[order], ".", color="0.7", label="patients")
for level, style in zip(levels, ("v", "-", "^"), strict=True):
    line = fits[level].predict(data.data)[order]
    ax.plot(line, "k-" if level == 0.5 else "k" + style, ms=1.5, lw=1.0, label=f"level {level}")
ax.set(xlabel="patients, by their fitted median", ylabel="progression")
ax.spines[["top", "right"]].set_visible(False)
ax.legend(frameon=False, ncols=4, loc="lower right", bbox_to_anchor=(1.0, 1.0), fontsize="small")
plt.show()

# %%
# Against what is usual
# ---------------------
#
# With the products of two columns there are 55. Each fit predicts the fifth of the patients that it has not
# seen; the loss is the pinball loss, and less is better. The lasso of scikit-learn has the best of five
# penalties, chosen by the rows that it is judged by, which nobody could do in earnest.

products = [data.data[:, i] * data.data[:, j] for i, j in combinations(range(10), 2)]
wide = np.column_stack([data.data, *products])
wide = (wide - wide.mean(axis=0)) / wide.std(axis=0)
penalties = [0.0, 0.01, 0.03, 0.1, 0.3]


def loss_of(model: object, level: float) -> float:
    """Return the mean pinball loss of rows left out."""
    losses = []
    for train, test in KFold(5, shuffle=True, random_state=0).split(wide):
        model.fit(wide[train], data.target[train])  # type: ignore[attr-defined]
        predicted = model.predict(wide[test])  # type: ignore[attr-defined]
        losses.append(mean_pinball_loss(data.target[test], predicted, alpha=level))
    return float(np.mean(losses))


print("level   horseshoe   no penalty   best lasso")
for level in levels:
    ours = loss_of(HorseshoeRegressor(family=Quantile(level=level)), level)
    lasso = [loss_of(QuantileRegressor(quantile=level, alpha=a), level) for a in penalties]
    print(f"{level:<8}{ours:7.2f}{lasso[0]:13.2f}{min(lasso):13.2f}")

"""
Ordered levels
==============

How strong is a party identification, from strong Democrat (0) to strong Republican (6)? The answers are in
order, but the step from 0 to 1 need not be as large as that from 3 to 4. Proportional odds asks only for the
order. This page fits it to the American National Election Study of 1996, beside what users would do instead.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import statsmodels.api as sm
from statsmodels.miscmodels.ordinal_model import OrderedModel

from horseshoe import HorseshoeRegressor

survey = sm.datasets.anes96.load_pandas().data
y = survey["PID"].astype(int)
X = survey[["logpopul", "TVnews", "selfLR", "ClinLR", "DoleLR", "age", "educ", "income"]]
rng = np.random.default_rng(0)
X = X.join(pd.DataFrame(rng.standard_normal((len(X), 12)), X.index, [f"noise{k}" for k in range(12)]))
print(f"{len(X)} rows, {X.shape[1]} columns, the last 12 of them noise")

# %%
# Which columns matter
# --------------------
#
# Thresholds between the levels take the place of the intercept, and are the first rows of the table. A
# coefficient is a log odds ratio: what one unit more does to the odds of being above any threshold.

model = HorseshoeRegressor(family="ordinal").fit(X, y)
table = model.summary(method="mode")
print(
    table[table["selected"] | table["feature"].str.contains("|", regex=False)].round(3).to_string(index=False)
)
print(model.status_)

# %%
# The same without selection
# --------------------------
#
# statsmodels fits the same likelihood by maximum likelihood, with all columns. The effects that the mode
# keeps are almost those of maximum likelihood; the noise columns are gone.

full = OrderedModel(y, X, distr="logit").fit(method="bfgs", disp=0, maxiter=1000)
both = pd.DataFrame({"horseshoe": model.coef_, "statsmodels": full.params[: X.shape[1]]}, index=X.columns)
print(both[model.support_].round(3).to_string())
print(f"columns selected: {int(model.support_.sum())}, false ones: {int(model.support_[-12:].sum())}")
print(f"columns with p < 0.05: {int((full.pvalues[: X.shape[1]] < 0.05).sum())}")

# %%
# On new people
# -------------
#
# Half of the people are left out. The log-likelihood of their answers says how good the probabilities are,
# the absolute error how many levels the predicted level is off. A Gaussian regression rounds its prediction.

rows = rng.permutation(len(X))
learn, new = rows[: len(X) // 2], rows[len(X) // 2 :]
ordered = HorseshoeRegressor(family="ordinal").fit(X.iloc[learn], y.iloc[learn])
maximum = OrderedModel(y.iloc[learn], X.iloc[learn], distr="logit").fit(method="bfgs", disp=0, maxiter=1000)
numbers = HorseshoeRegressor().fit(X.iloc[learn], y.iloc[learn])
shares = {
    "horseshoe": ordered.predict_proba(X.iloc[new]),
    "statsmodels": np.asarray(maximum.predict(X.iloc[new])),
}
truth = y.iloc[new].to_numpy()
for name, probability in shares.items():
    level = (np.cumsum(probability, axis=1) < 0.5).sum(axis=1)
    loss = -np.log(probability[np.arange(len(new)), truth]).mean()
    print(f"{name}: mean log loss {loss:.3f}, mean absolute error {np.abs(level - truth).mean():.3f}")
rounded = np.clip(np.rint(numbers.predict(X.iloc[new])), 0, 6)
print(f"Gaussian, rounded: mean absolute error {np.abs(rounded - truth).mean():.3f}")

# %%
# What the levels do along one column
# -----------------------------------
#
# The probabilities of the seven answers as the own position goes from extremely liberal (1) to extremely
# conservative (7), with everything else at its mean.

places = np.linspace(1.0, 7.0, 61)
along = pd.DataFrame([X.mean()] * places.size).assign(selfLR=places)
fig, ax = plt.subplots(figsize=(7, 3.6), layout="constrained")
ax.stackplot(places, model.predict_proba(along).T, labels=[f"{level:g}" for level in model.levels_])
ax.set_xlabel("own position, from liberal to conservative")
ax.set_ylabel("probability")
ax.legend(title="party", loc="center left", bbox_to_anchor=(1.0, 0.5))
ax.set_xlim(1.0, 7.0)
ax.set_ylim(0.0, 1.0)
plt.show()

"""
Pipelines and searches
======================

The estimators are scikit-learn estimators. They stand in pipelines, in searches, and in front of other
estimators.
"""

import matplotlib.pyplot as plt
import numpy as np
import sklearn
from sklearn.datasets import load_diabetes
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import LassoCV
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

from horseshoe import AdaptiveRegressor, HorseshoeRegressor

X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)

# %%
# Interactions
# ------------
#
# Ten measurements have 45 products of two. A sparse model may choose among all of them. Scale first, so
# that products are of centred columns.

polynomial = make_pipeline(
    StandardScaler(),
    PolynomialFeatures(interaction_only=True, include_bias=False),
    AdaptiveRegressor(),
).fit(X, y)
print("selected:", ", ".join(polynomial[:-1].get_feature_names_out()[polynomial[-1].get_support()]))

# %%
# Who predicts better?
# --------------------
#
# ``cross_val_score`` treats all methods alike. The folds are the same for each.

folds = KFold(10, shuffle=True, random_state=0)
methods = {
    "mode": HorseshoeRegressor(),
    "adaptive": AdaptiveRegressor(),
    "lasso": make_pipeline(StandardScaler(), LassoCV(cv=10)),
}
scores = {name: cross_val_score(method, X, y, cv=folds) for name, method in methods.items()}
for name, score in scores.items():
    print(f"{name:<10} R^2 {score.mean():.3f}")

# %%
# A search
# --------
#
# The single mode has dials, such as ``tau``. A smaller one shrinks harder. A search over a grid shows how
# much that matters here.

search = GridSearchCV(HorseshoeRegressor(), {"tau": np.geomspace(0.001, 1.0, 10)}, cv=folds).fit(X, y)
results = search.cv_results_

fig, ax = plt.subplots(figsize=(5.5, 3), layout="constrained")
taus = np.asarray(results["param_tau"], dtype=float)
ax.errorbar(
    taus,
    results["mean_test_score"],
    results["std_test_score"] / np.sqrt(10),
    fmt="o-",
    color="black",
    capsize=2,
)
ax.set(xscale="log", xlabel="tau", ylabel="R^2 on rows left out")
ax.spines[["top", "right"]].set_visible(False)
plt.show()

print(f"best: tau = {search.best_params_['tau']:.2f}")

# %%
# As a selector
# -------------
#
# ``transform`` keeps the selected columns. So the fit can stand in front of a method that has no selection
# of its own. With ``set_output`` the columns keep their names.

selector = HorseshoeRegressor().set_output(transform="pandas")
forest = make_pipeline(selector, RandomForestRegressor(n_estimators=50, random_state=0)).fit(X, y)
print("the forest sees:", ", ".join(forest[-1].feature_names_in_))

# %%
# Weights through a pipeline
# --------------------------
#
# scikit-learn hands weights, offsets and exposures to the step that asks for them, once metadata routing is
# switched on. What nobody asked for is an error, not a silent loss.

weights = np.where(X["age"] > 50, 2.0, 1.0)
with sklearn.config_context(enable_metadata_routing=True):
    asks = HorseshoeRegressor().set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
    weighted = make_pipeline(StandardScaler().set_fit_request(sample_weight=False), asks)
    weighted.fit(X, y, sample_weight=weights)
    print(f"weighted R^2: {weighted.score(X, y, sample_weight=weights):.3f}")

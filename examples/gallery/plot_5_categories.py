"""
Words, gaps and numbers in one table
====================================

Real tables have columns of words and missing values. horseshoe takes numbers only, and says so by the name of
the column. This page shows two ways to get there: pandas alone, and a scikit-learn pipeline that remembers
what it did, so that new rows are treated in the same way.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from horseshoe import AdaptiveRegressor
from horseshoe.plots import plot_coefficients

# %%
# A table of 250 flats. The rent depends on the size, on the district and on whether there is a balcony. The
# year is missing in every tenth row. Thirty scores from a questionnaire have no effect.

rng = np.random.default_rng(0)
n = 250
flats = pd.DataFrame(
    {
        "size": rng.uniform(20, 120, n).round(),
        "year": rng.integers(1900, 2020, n).astype(float),
        "district": rng.choice(["centre", "east", "north", "west"], n),
        "balcony": rng.choice(["yes", "no"], n),
    }
)
flats = flats.join(pd.DataFrame(rng.standard_normal((n, 30)), columns=[f"score {j}" for j in range(30)]))
rent = (
    9.0 * flats["size"]
    + 150.0 * (flats["district"] == "centre")
    + 60.0 * (flats["balcony"] == "yes")
    + 80.0 * rng.standard_normal(n)
    + 300.0
)
flats.loc[rng.random(n) < 0.1, "year"] = np.nan
print(flats.iloc[:4, :5])

# %%
# What happens if you forget
# --------------------------

try:
    AdaptiveRegressor().fit(flats, rent)
except ValueError as refused:
    print(refused)

# %%
# With pandas alone
# -----------------
#
# ``get_dummies`` makes a column of zeros and ones for every level. ``drop_first`` leaves out the first
# level of each: it is the one that the others are compared with. Here these are "centre" and "no".

table = pd.get_dummies(flats, drop_first=True)
table["year"] = table["year"].fillna(table["year"].median())
model = AdaptiveRegressor().fit(table, rent)
for name in model.get_feature_names_out():
    print(f"{name:<16}{model.sparse_coef_[table.columns.get_loc(name)]:8.1f}")

# %%
# Three districts are about 150 cheaper than the centre: that is one fact, and takes three columns. With
# "centre" as a column of its own, one would do. Which level is left out matters for a sparse answer, so
# choose it: the level that you would call normal.

table = table.drop(columns=["district_east", "district_north", "district_west"])
table["in the centre"] = flats["district"] == "centre"
model = AdaptiveRegressor().fit(table, rent)
for name in model.get_feature_names_out():
    print(f"{name:<16}{model.sparse_coef_[table.columns.get_loc(name)]:8.1f}")

# %%
# With a pipeline
# ---------------
#
# The imputed value and the levels belong to the model: they must be learnt from the training rows, and be
# used for new rows. A pipeline does both, also inside cross-validation.

prepare = make_column_transformer(
    (OneHotEncoder(drop=["west", "no"], sparse_output=False), ["district", "balcony"]),
    (SimpleImputer(strategy="median"), ["year"]),
    remainder="passthrough",
    verbose_feature_names_out=False,
).set_output(transform="pandas")
pipeline = make_pipeline(prepare, AdaptiveRegressor())

scores = cross_val_score(pipeline, flats, rent, cv=5)
print(f"R^2 on rows left out: {scores.mean():.3f}")

# %%
# After a fit, the last step has the answer, with the names that the first step made.

pipeline.fit(flats, rent)
plot_coefficients(pipeline[-1], most=10)
plt.show()

# %%
# A new row may have a gap; the pipeline fills it as it did in the fit.

print(pipeline.predict(flats.assign(year=np.nan).head(2)).round())

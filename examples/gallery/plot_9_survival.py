"""
Survival after breast cancer
============================

How long until a tumour comes back, and what does that depend on? In a German study (GBSG-2, which comes with
scikit-survival) 686 women were followed for up to seven years. In four of ten the cancer came back or killed
them; the others were still well when they were last seen, so that only a lower bound of their time is known.
Cox's model takes such rows for what they are. Which columns belong in it, and in what form, is the question.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.model_selection import KFold, cross_val_score
from sksurv.datasets import load_gbsg2
from sksurv.linear_model import CoxnetSurvivalAnalysis, CoxPHSurvivalAnalysis

from horseshoe import HorseshoeSurvival
from horseshoe.plots import plot_coefficients

table, y = load_gbsg2()
X = pd.DataFrame(
    {
        "age": table["age"],
        "size of the tumour": table["tsize"],
        "nodes": table["pnodes"],
        "progesterone receptor": table["progrec"],
        "estrogen receptor": table["estrec"],
        "hormone therapy": (table["horTh"] == "yes").astype(float),
        "after menopause": (table["menostat"] == "Post").astype(float),
        "grade II or III": (table["tgrade"] != "I").astype(float),
        "grade III": (table["tgrade"] == "III").astype(float),
    }
).astype(float)
print(f"{len(X)} women, {y['cens'].sum()} events; y is {y.dtype}")

# %%
# More forms than one believes in
# -------------------------------
#
# Counts and concentrations are skewed: is it the number of nodes that matters, or its logarithm? Does hormone
# therapy help everybody alike? Instead of a choice beforehand, offer all forms and let the fit choose: the
# logarithms of the skewed columns, and everything times hormone therapy.

skewed = ["size of the tumour", "nodes", "progesterone receptor", "estrogen receptor"]
forms = X.join(np.log1p(X[skewed]).add_prefix("log "))
others = forms.drop(columns="hormone therapy")
forms = forms.join(others.mul(X["hormone therapy"], axis=0).add_suffix(" with therapy"))
model = HorseshoeSurvival().fit(forms, y)
print(f"{int(model.support_.sum())} of {forms.shape[1]} columns; {model.status_}")
ratios = model.summary(exponentiate=True).set_index("feature")
print(ratios.loc[model.support_, ["hazard_ratio", "lower", "upper", "per_sd"]].round(3))

# %%
# A hazard ratio of 2 doubles the risk at any time. ``per_sd`` is that of one standard deviation, so that
# columns in different units can be compared.

plot_coefficients(model, most=8)
plt.show()

# %%
# What one would have done instead
# --------------------------------
#
# The model of all nine columns as they are, and the lasso of scikit-survival over the same forms (at the end
# of its path; its penalty would have to be tuned). The score is the concordance of women left out: of two of
# whom one is known to relapse first, how often does she have the higher risk?

folds = KFold(10, shuffle=True, random_state=0)
for name, estimator, columns in (
    ("Cox's model, all nine columns", CoxPHSurvivalAnalysis(), X),
    ("Cox's model, all forms", CoxPHSurvivalAnalysis(), forms),
    ("lasso path, all forms", CoxnetSurvivalAnalysis(l1_ratio=1.0), forms),
    ("HorseshoeSurvival, all forms", HorseshoeSurvival(), forms),
):
    scores = cross_val_score(estimator, (columns - columns.mean()) / columns.std(), y, cv=folds)
    print(f"{name:30s} concordance {scores.mean():.3f} (s.e. {scores.std() / np.sqrt(10):.3f})")

# %%
# What a patient may expect
# -------------------------
#
# A risk is only a comparison. The chance to be well at some time needs the baseline hazard too, which
# Breslow's estimate adds. Here four women who are average but for their nodes and their therapy:

fig, ax = plt.subplots(figsize=(7, 4), layout="constrained")
for nodes in (1.0, 10.0):
    for therapy in (0.0, 1.0):
        woman = X.mean().to_frame().T.assign(nodes=nodes, **{"hormone therapy": therapy})
        row = woman.join(np.log1p(woman[skewed]).add_prefix("log "))
        row = row.join(row.drop(columns="hormone therapy").mul(therapy).add_suffix(" with therapy"))[
            forms.columns
        ]
        well = model.predict_survival_function(row)[0]
        ax.step(
            well.x / 365.25,
            well.y,
            where="post",
            color="C0" if nodes == 1.0 else "C3",
            linestyle="-" if therapy else ":",
            label=f"{nodes:.0f} node{'s' * (nodes > 1)}, {'with' if therapy else 'without'} therapy",
        )
ax.set(xlabel="years", ylabel="chance to be well", ylim=(0.0, 1.0))
ax.legend()
plt.show()

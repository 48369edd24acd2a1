"""
Two classes and odds ratios
===========================

Is a tumour malignant? Thirty measurements of cell nuclei of 569 patients, from the breast cancer data that
come with scikit-learn. We want few measurements, their odds ratios, and probabilities that can be trusted.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.calibration import calibration_curve
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split

from farrier import HorseshoeClassifierCV

data = load_breast_cancer(as_frame=True)
labels = data.target_names[data.target]
X, X_new, labels, labels_new = train_test_split(data.data, labels, test_size=0.4, random_state=0)

model = HorseshoeClassifierCV().fit(X, labels)
print(model.classes_)

# %%
# The second class of ``classes_`` is the one whose probability is modelled: malignant. So a positive
# coefficient speaks for a malignant tumour. Clinicians read odds ratios: by which factor the odds of
# "malignant" change when a measurement is one standard deviation higher. That is exp(coefficient times
# standard deviation).

step = X.std().to_numpy()
effect = model.coef_ * step
lower, upper = (model.coef_interval() * step[:, None]).T

order = np.argsort(-model.inclusion_ - model.support_)[:8]  # the sparse answer first
print("measurement               odds ratio   95 % interval   inclusion   in the sparse answer")
for j in order:
    print(
        f"{X.columns[j]:<24}{np.exp(effect[j]):12.1f}{np.exp(lower[j]):9.2f} to {np.exp(upper[j]):<6.2f}"
        f"{model.inclusion_[j]:9.2f}   {'yes' if model.support_[j] else 'no'}"
    )

# %%
# Many of the thirty measurements say almost the same: radius, perimeter and area of the same nuclei. The
# average shares an effect among those, and is not sure which of them are in. The sparse answer takes a few
# columns that say much the same as all: within one standard error of the cross-validated error. One
# measurement may then stand for another that goes with it, so read the sparse answer as "these suffice",
# and the average with its inclusion as "these matter".

fig, ax = plt.subplots(figsize=(7, 3.2), layout="constrained")
rows = np.arange(order.size)[::-1]
ax.hlines(rows, np.exp(lower[order]), np.exp(upper[order]), color="black", lw=1.2)
filled = model.support_[order]
ax.plot(np.exp(effect[order])[filled], rows[filled], "ko")
ax.plot(np.exp(effect[order])[~filled], rows[~filled], "o", mfc="white", color="black")
ax.axvline(1.0, color="0.7", lw=0.8)
ax.set_xscale("log")
ax.set_yticks(rows, X.columns[order])
ax.set_xlabel("odds ratio of malignant for one standard deviation")
ax.spines[["top", "right", "left"]].set_visible(False)
plt.show()

# %%
# Patients that were not in the fit
# ---------------------------------
#
# Do the probabilities hold for the other 228 patients? Of those who were given a chance of 80 %, about 80 %
# should have a malignant tumour.

chance = model.predict_proba(X_new)[:, 1]
malignant = labels_new == "malignant"
print(f"right: {model.score(X_new, labels_new):.1%}")
print(f"area under the ROC curve: {roc_auc_score(malignant, chance):.3f}")

happened, said = calibration_curve(malignant, chance, n_bins=5, strategy="uniform")
fig, ax = plt.subplots(figsize=(3.6, 3.4), layout="constrained")
ax.axline((0, 0), slope=1, color="0.8")
ax.plot(said, happened, "ko-")
ax.set(xlabel="predicted chance of malignant", ylabel="share that is malignant", xlim=(0, 1), ylim=(0, 1.02))
plt.show()

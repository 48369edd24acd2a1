"""
Two classes and odds ratios
===========================

Is a tumour malignant? Thirty measurements of cell nuclei of 569 patients, from the breast cancer data that
come with scikit-learn. We want few measurements, their odds ratios, and probabilities that can be trusted.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

from horseshoe import AdaptiveClassifier
from horseshoe.plots import plot_calibration, plot_coefficients, plot_roc

data = load_breast_cancer(as_frame=True)
labels = data.target_names[data.target]
X, X_new, labels, labels_new = train_test_split(data.data, labels, test_size=0.4, random_state=0)

step = X.std()  # in these units an odds ratio is for one standard deviation
X, X_new = X / step, X_new / step

model = AdaptiveClassifier().fit(X, labels)
print(model.classes_)

# %%
# The second class of ``classes_`` is the one whose probability is modelled: malignant. So a positive
# coefficient speaks for a malignant tumour. Clinicians read odds ratios: by which factor the odds of
# "malignant" change when a measurement is one unit higher. Here a unit is a standard deviation, so that
# measurements can be compared.

table = model.summary(exponentiate=True)
surest = table.sort_values(["selected", "inclusion"], ascending=False).head(8)
shown = surest[["feature", "odds_ratio", "lower", "upper", "inclusion", "selected"]]
print(shown.round(2).to_string(index=False))

# %%
# The picture has the logarithms of the odds ratios, the sparse answer beside the average, and at the right
# how sure each column is in.

plot_coefficients(model, most=12)
plt.show()

# %%
# Many of the thirty measurements say almost the same: radius, perimeter and area of the same nuclei. The
# average shares an effect among those, and is not sure which of them are in. The sparse answer takes a few
# columns that say much the same as all: within one standard error of the cross-validated error. One
# measurement may then stand for another that goes with it. So read the sparse answer as "these suffice", and
# the average with its inclusion as "these matter".

# %%
# Patients that were not in the fit
# ---------------------------------
#
# Do the probabilities hold for the other 228 patients? Of those who were given a chance of 80 %, about 80 %
# should have a malignant tumour.

print(f"right: {model.score(X_new, labels_new):.1%}")
plot_calibration(model, X_new, labels_new, n_groups=6)
plt.show()

# %%
# The area under the ROC curve is the chance that of two patients, one with each kind of tumour, the right one
# has the higher probability.

plot_roc(model, X_new, labels_new)
plt.show()

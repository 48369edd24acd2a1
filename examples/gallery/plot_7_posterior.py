"""
The whole posterior
===================

The mode is one point. The posterior says how sure each coefficient is, the zeros included. This page draws
from it for the diabetes data (442 patients, 10 measurements), and looks at four pictures.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_diabetes

from horseshoe import sample_posterior
from horseshoe.plots import plot_forest, plot_predictive, plot_rank, plot_trace

X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
posterior = sample_posterior(X, y, random_state=0)
print(posterior)

# %%
# Coefficients
# ------------
#
# A thin line is an interval that holds the coefficient with a chance of 95 %, a thick one with 50 %. The
# diamond below it is the mode; where that is exactly zero, the diamond is hollow. For s3 the mode is not
# zero, and yet the interval holds zero: s1 to s4 carry much the same information, and the mode takes one of
# them.

plot_forest(posterior)
plt.show()

# %%
# A question about several coefficients at once is a count of draws. How sure is it that bmi matters more
# than blood pressure, both for one standard deviation?

bmi, bp = (posterior.coef[..., X.columns.get_loc(name)] * X[name].std() for name in ("bmi", "bp"))
print(f"P(bmi matters more than bp) = {(abs(bmi) > abs(bp)).mean():.3f}")

# %%
# Did the chains agree?
# ---------------------
#
# Four chains started in different places. If they have forgotten where, their traces look alike, and the
# ranks of each chain's draws among all draws are spread evenly. R-hat puts a number on it: below 1.01 is
# good.

plot_trace(posterior, most=3)
plt.show()

# %%

plot_rank(posterior, most=6)
plt.show()

# %%

print(f"largest R-hat {posterior.rhat().max():.3f}, smallest effective sample {posterior.ess().min():.0f}")

# %%
# Does the model look like the data?
# ----------------------------------
#
# Responses that the model would draw, and those that were observed. They need not agree everywhere: the
# observed ones are never negative, and the Gaussian model does not know that.

plot_predictive(posterior)
plt.show()

# %%
# A patient like the first: the interval of a new response counts the noise and what is not known of the
# coefficients.

low, high = posterior.predict_interval(X.head(1), level=0.9)[0]
print(f"progression between {low:.0f} and {high:.0f} with a chance of 90 %; observed {y.iloc[0]:.0f}")

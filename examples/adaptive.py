"""How many columns matter? The diabetes data with 90 columns of noise, and an estimator that is not told.

Prints what is averaged and how much each counts, the sparse answer by both rules, and how often intervals
of 90 % cover patients that were left out.
"""

from __future__ import annotations

import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.model_selection import train_test_split

from horseshoe import AdaptiveRegressor, HorseshoeRegressor

N_NOISE, LEVEL = 90, 0.9


def main() -> None:
    """Fit half of the patients, print, and predict the others."""
    data = load_diabetes(scaled=False)
    rng = np.random.default_rng(0)
    X = np.column_stack([data.data, rng.standard_normal((data.target.size, N_NOISE))])
    names = [*data.feature_names, *(f"noise {j}" for j in range(1, N_NOISE + 1))]
    X, X_new, y, y_new = train_test_split(X, data.target, test_size=0.5, random_state=0)
    model = AdaptiveRegressor().fit(X, y)

    print(f"{len(y)} patients, {len(data.feature_names)} measurements and {N_NOISE} columns of noise\n")
    print("What is averaged   error  weight")
    for component in model.components_:
        print(f"  {component.name:<12}{component.error:10.0f}{component.weight:8.2f}  {component.what}")
    print(f"  {'all of them':<12}{model.cv_error_:10.0f}          times {model.calibration_slope_:.2f}\n")

    interval = model.coef_interval(LEVEL)
    print(f"The sparse answer  coef   average   {LEVEL:.0%} interval   inclusion")
    for j, _ in model.path_:
        lower, upper = interval[j]
        print(
            f"  {names[j]:<10}{model.sparse_coef_[j]:11.2f}{model.coef_[j]:10.2f}"
            f"{lower:9.2f} to {upper:5.2f}{model.inclusion_[j]:10.2f}"
        )
    more = AdaptiveRegressor(selection="paired").fit(X, y)
    print(f'  with selection="paired": {", ".join(names[j] for j, _ in more.path_)}')
    mode = HorseshoeRegressor().fit(X, y)
    print(f"  the single mode: {', '.join(names[j] for j in mode.get_support(indices=True))}\n")

    low, high = model.predict_interval(X_new, LEVEL).T
    covered = np.mean((low <= y_new) & (y_new <= high))
    print(f"Of the {len(y_new)} other patients")
    print(f"  squared error    {np.mean((y_new - model.predict(X_new)) ** 2):.0f}")
    print(f"  the single mode  {np.mean((y_new - mode.predict(X_new)) ** 2):.0f}")
    print(f"  covered          {covered:.0%} by intervals of {LEVEL:.0%}")


if __name__ == "__main__":
    main()

"""Fit the diabetes data (442 patients, 10 measurements): a table, how EM converged, and a picture.

Run by ``make demo``.
"""

from pathlib import Path

import matplotlib

matplotlib.use("Agg")

from sklearn.datasets import load_diabetes

from farrier import HorseshoeRegressor
from farrier.plot import plot_coefficients

PICTURE = Path("build") / "diabetes.png"


def main() -> None:
    """Fit, print, draw."""
    X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
    model = HorseshoeRegressor().fit(X, y)

    print(f"Progression of diabetes in {len(X)} patients, from {X.shape[1]} measurements\n")
    table = model.summary(level=0.95).rename(columns={"coef": "mode", "lower": "2.5 %", "upper": "97.5 %"})
    print(table.drop(columns="shrinkage").to_string(index=False, float_format="{:.3f}".format))

    print(f"\nStatus      {model.status_}")
    print(f"Iterations  {model.n_iter_}, last change {model.trace_[-1].change:.1e}")
    print(f"Selected    {model.support_.sum()} of {model.support_.size} columns")
    print(f"Noise       standard deviation {model.sigma2_**0.5:.1f}; R^2 {model.score(X, y):.3f}")
    print(f"tau         {model.tau2_**0.5:g}{' (at its bound)' if model.tau_at_bound_ else ''}")

    PICTURE.parent.mkdir(exist_ok=True)
    plot_coefficients(model).figure.savefig(PICTURE, dpi=150)
    print(f"Picture     {PICTURE}")


if __name__ == "__main__":
    main()

"""Fit the diabetes data (442 patients, 10 measurements): the mode, the posterior, their pictures.

Run by ``make demo``, after the same data by the command line.
"""

from pathlib import Path

import matplotlib

matplotlib.use("Agg")

from sklearn.datasets import load_diabetes

from horseshoe import HorseshoeRegressor
from horseshoe.plots import plot_coefficients, plot_forest

FOLDER = Path("build")


def main() -> None:
    """Fit, draw from the posterior, print, and draw pictures."""
    X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
    model = HorseshoeRegressor(random_state=0).fit(X, y)

    print(f"\nIn Python: the single mode of the paper, {len(X)} patients, {X.shape[1]} measurements\n")
    table = model.summary(level=0.95).rename(columns={"coef": "mode", "lower": "2.5 %", "upper": "97.5 %"})
    print(table.drop(columns="shrinkage").to_string(index=False, float_format="{:.3f}".format, na_rep=""))

    print(f"\nStatus      {model.status_}")
    print(f"Iterations  {model.n_iter_}, last change {model.trace_[-1].change:.1e}")
    print(f"Selected    {model.support_.sum()} of {model.support_.size} columns")
    print(f"Noise       standard deviation {model.sigma2_**0.5:.1f}; R^2 {model.score(X, y):.3f}")
    print(f"tau         {model.tau2_**0.5:g}{' (at its bound)' if model.tau_at_bound_ else ''}")

    posterior = model.sample_posterior()
    chains, draws, _ = posterior.coef.shape
    print(f"\nThe whole posterior, from {chains} chains of {draws} draws\n")
    columns = ["feature", "mode", "mean", "lower", "upper", "sign_probability", "ess_bulk", "rhat"]
    table = posterior.summary()[columns].rename(columns={"lower": "2.5 %", "upper": "97.5 %"})
    print(table.to_string(index=False, float_format="{:.3f}".format))

    FOLDER.mkdir(exist_ok=True)
    pictures = FOLDER / "diabetes.png", FOLDER / "diabetes_posterior.png"
    plot_coefficients(model).figure.savefig(pictures[0], dpi=150)
    plot_forest(posterior).figure.savefig(pictures[1], dpi=150)
    print(f"\nPictures    {', '.join(map(str, pictures))}")


if __name__ == "__main__":
    main()

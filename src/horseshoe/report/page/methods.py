"""A paragraph on the methods, to paste into a paper, and what it cites: computed from the fit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from horseshoe._version import __version__
from horseshoe.families import Family
from horseshoe.report.number_text import format_share
from horseshoe.report.page.effects import Effects
from horseshoe.report.page.evidence import interval_method
from horseshoe.report.page.phrases import (
    counted,
    listed,
    named,
    numeral,
    percent_of,
)
from horseshoe.report.parts import is_average

# Where the mode is no component itself.
CITATIONS = {
    "horseshoe": (
        "Tew, S. Y., Schmidt, D. F. and Makalic, E. (2022). Sparse Horseshoe Estimation via "
        "Expectation-Maximisation. arXiv:2211.03248."
    ),
    "mixture": (
        "Kim, Y., Wang, W., Carbonetto, P. and Stephens, M. (2022). A flexible empirical Bayes approach to "
        "multiple linear regression, and connections with penalized regression. arXiv:2208.10910."
    ),
    "decoupled": (
        "Hahn, P. R. and Carvalho, C. M. (2015). Decoupling shrinkage and selection in Bayesian linear "
        "models: a posterior summary perspective. Journal of the American Statistical Association 110, "
        "435-448."
    ),
    "cv+": (
        "Barber, R. F., Candes, E. J., Ramdas, A. and Tibshirani, R. J. (2021). Predictive inference with "
        "the jackknife+. Annals of Statistics 49, 486-507."
    ),
}
FAMILY_WORDS = {
    "Gaussian": "normal noise",
    "StudentT": "Student-t noise",
    "Laplace": "Laplace noise",
    "Binomial": "a binomial response and log odds",
    "Poisson": "Poisson counts and a log link",
    "NegativeBinomial": "negative binomial counts and a log link",
    "Cox": "proportional hazards (Cox's partial likelihood)",
    "Ordinal": "ordered levels and proportional odds",
}
COMPONENT_WORDS = {
    "ridge": "ridge regression",
    "elastic_net": "an elastic net averaged over its penalty",
    "horseshoe": "a posterior mode under the horseshoe prior (Tew, Schmidt and Makalic, 2022)",
    "mixture_horseshoe": "a normal mixture prior (Kim et al., 2022) started at such a mode",
    "mixture_forward": (
        "a normal mixture prior started at forward selection, or at the lasso of very wide data"
    ),
}
MIXTURE_ALONE = (
    "a normal mixture prior (Kim et al., 2022) started at a posterior mode under the horseshoe prior (Tew, "
    "Schmidt and Makalic, 2022)"
)
RULES = {
    "1se": "one standard error of the cross-validated error",
    "paired": "four times the error of one coefficient",
}


class Methods(NamedTuple):
    """The paragraph, and what it cites."""

    paragraph: str
    citations: tuple[str, ...]


def methods(
    model: Any,
    effects: Sequence[Effects],
    n_rows: int,
    level: float,
    target: str,
    method: str = "auto",
    missing: Sequence[str] = (),
) -> Methods:
    """Return the paragraph on the methods; ``missing`` says what was done with missing values.

    Examples
    --------
    >>> import numpy as np
    >>> from horseshoe import HorseshoeRegressor
    >>> from horseshoe.report.page.effects import effects_of
    >>> x = np.arange(20.0)
    >>> model = HorseshoeRegressor().fit(x[:, None], 3.0 * x + np.cos(x))
    >>> found = methods(model, effects_of(model), 20, 0.95, "y")
    >>> found.paragraph[:73]
    'A regression of y on 1 column in 20 rows, with normal noise, was fitted w'
    """
    parts = [_opening(effects, n_rows, target), *missing, _events(effects[0])]
    if is_average(model):
        parts += _average(model, effects, level)
        cited = _cited(effects)
    else:
        parts += _mode(model, effects, level, method)
        cited = ["horseshoe"]
    return Methods(" ".join(part for part in parts if part), tuple(CITATIONS[name] for name in cited))


def family_words(family: Family) -> str:
    """Say what is assumed of the response.

    Examples
    --------
    >>> from horseshoe.families import Poisson
    >>> family_words(Poisson())
    'Poisson counts and a log link'
    """
    name = type(family).__name__
    return FAMILY_WORDS.get(name, f"the family {name}")


def _opening(effects: Sequence[Effects], n_rows: int, target: str) -> str:
    one = effects[0]
    p = len(one.names)
    against = (
        "" if len(effects) == 1 else f", one regression for each of {len(effects)} classes against the rest"
    )
    return (
        f"A regression of {named(target)} on {counted(p, 'column')} in {counted(n_rows, 'row')}, with "
        f"{family_words(one.family)}{against}, was fitted with horseshoe {__version__}."
    )


def _events(one: Effects) -> str:
    """Say what belongs to times until an event: how many were seen, ties, and strata."""
    events = dict(one.model.statistics().lines()).get("events")
    if events is None:
        return ""
    strata = getattr(one.model, "strata_", None)
    apart = "" if strata is None else f"; each of {len(strata)} strata had a baseline hazard of its own"
    ties = f"ties were treated as {one.model.ties.capitalize()} does"
    return f"{events} {'event was' if events == '1' else 'events were'} seen; {ties}{apart}."


def _average(model: Any, effects: Sequence[Effects], level: float) -> list[str]:
    rows = effects[0].model.components_
    if not rows:  # nothing to explain: the intercept is all there is
        return [f"There was nothing to average: {effects[0].model.status_}."]
    names = {row.name for row in rows}
    words = (
        COMPONENT_WORDS if "horseshoe" in names else {**COMPONENT_WORDS, "mixture_horseshoe": MIXTURE_ALONE}
    )
    known = [words.get(row.name, row.what) for row in rows]
    folds = _folds(model)
    weights = ""
    if len(effects) == 1:
        weights = f" (weights {', '.join(f'{row.name} {format_share(row.weight)}' for row in rows)})"
    slopes = listed([numeral(float(one.model.calibration_slope_)) for one in effects])
    nothing = "the intercept" if effects[0].family.has_intercept else "no effect"
    slope_words = "a slope" if len(effects) == 1 else "slopes"
    found = [
        f"Its coefficients are an average of {listed(known)}, each fitted without each {folds} and to all "
        f"rows, weighted by the likelihood of the rows left out, alone and together{weights}, and shrunk "
        f"towards {nothing} by {slope_words} of {slopes} estimated from the same rows.",
        "The selected columns are the fewest whose least-squares fit to the averaged predictor is within "
        f"{RULES.get(str(model.selection), str(model.selection))} of it (Hahn and Carvalho, 2015).",
        f"Intervals of coefficients ({percent_of(level)}) are normal ones, corrected for shrinkage by "
        "residuals of rows left out, and no narrower than the spread between folds asks for.",
    ]
    if _has_cv_plus(effects[0].family):
        found.append("Prediction intervals are CV+ (Barber et al., 2021).")
    return [*found, _units(model)]


def _cited(effects: Sequence[Effects]) -> list[str]:
    names = {row.name for row in effects[0].model.components_}
    found = ["horseshoe"]
    if names & {"mixture_horseshoe", "mixture_forward"}:
        found.append("mixture")
    if names:
        found.append("decoupled")
    return [*found, "cv+"] if names and _has_cv_plus(effects[0].family) else found


def _has_cv_plus(family: Family) -> bool:
    """Tell whether an average has intervals of new rows: classes have probabilities, and risks no y."""
    return family.has_intercept and not family.is_binary


def _folds(model: Any) -> str:
    whole = isinstance(model.cv, int)
    return f"of {model.cv} folds" if whole else f"fold of {type(model.cv).__name__}"


def _mode(model: Any, effects: Sequence[Effects], level: float, method: str) -> list[str]:
    prior = model.prior if isinstance(model.prior, str) else type(model.prior).__name__
    tau = "estimated" if isinstance(model.tau, str) else f"fixed ({model.tau})"
    drawn = interval_method(effects[0], method)
    how = (
        "quantiles of posterior draws"
        if drawn == "posterior"
        else "normal ones at the mode, given the selection"
    )
    return [
        f"Coefficients are the posterior mode under the {str(prior).replace('_', '-')} prior, that of the "
        f"density of lambda^{float(model.lambda_power):g} of the local scales, found by "
        f"expectation-maximisation (Tew, Schmidt and Makalic, 2022) with the global scale {tau}; "
        "coefficients below the threshold are exactly zero.",
        f"Intervals of coefficients ({percent_of(level)}) are {how}.",
        _units(model),
    ]


def _units(model: Any) -> str:
    if not model.standardize:
        return "Columns were not standardised."
    return "Columns were standardised for the fit; coefficients are in the units of the data."

"""What must be true of a model in a file, beyond the types of its fields: one rule for each number."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from horseshoe.average.result import AverageFit
from horseshoe.data.fitted import Fitted
from horseshoe.data.structure import WIDEST
from horseshoe.estimators.baseline_hazard import Baseline
from horseshoe.families import Laplace, NegativeBinomial, Ordinal, Quantile, StudentT, Tweedie
from horseshoe.families.cox import Cox
from horseshoe.model.fit import Earlier
from horseshoe.store.rules import Rule, check_different, check_places, check_rules

# How far the sum of weights may be from 1.
ONE = 1e-6


def rules(names: dict[Rule, str]) -> dict[str, Rule]:
    """Return the rule of each field, from the fields of each rule.

    Examples
    --------
    >>> rules({Rule("p"): "coef center"})["center"].axes
    'p'
    """
    return {name: rule for rule, together in names.items() for name in together.split()}


# An error or a deviance of rows may be beyond the range of a float; no prediction is made of it.
NUMBER, SIZE, POSITIVE = Rule(), Rule(low=0.0), Rule(low=0.0, above=True)
ERROR = Rule(infinite=True)
# Of a mode. Sizes: columns p, those that vary k, those selected s, rows of a factor r, groups g.
STRUCTURE = rules(
    {
        Rule("p", low=0.0): "structure.feature_groups",
        Rule("p"): "structure.unpenalized",
        Rule("g"): "structure.names",
        Rule("p", low=1.0 / WIDEST, high=WIDEST): "structure.prior_scale",
    }
)
MODE = STRUCTURE | rules(
    {
        Rule("p"): "coef center powers.0",
        Rule("p", low=0.0): "std scale",
        Rule("p", low=0.0, infinite=True): "lambda2",  # infinite: of unpenalised columns
        Rule("p", low=0.0, high=1.0): "kappa",
        Rule("s", low=0.0): "covariance.diagonal",
        Rule("rs"): "covariance.factor",
        Rule(low=-1.0, high=1.0): "covariance.sign",
        Rule(low=0.0, high=2.0, above=True): "hyper.lambda_power",
        Rule(low=1.0): "hyper.size",
        Rule("k"): "result.coef result.center result.active result.moments.mean",
        Rule("k", low=0.0): "result.moments.variance",
        Rule("k", low=0.0, infinite=True): "result.scales.lambda2",
        NUMBER: "intercept powers.1 result.intercept result.moments.log_det",
        SIZE: "sigma2 intercept_variance cutoff result.n_iter result.intercept_variance result.scales.sigma2 "
        "result.moments.expected_rss result.moments.fit_trace result.moments.fading_growth "
        "result.trace.*.n_active result.trace.*.sigma2",
        # Infinite: the square of a slab that there is not, and tau2 that has no bound and was not fitted.
        Rule(low=0.0, above=True, infinite=True): "hyper.slab2 result.scales.tau2 result.scales.slab2 "
        "result.trace.*.tau2",
        # What a line of the trace says of an iteration may have gone out of range.
        Rule(infinite=True, missing=True): "result.trace.*.change result.trace.*.objective",
    }
)
# Of an average. Sizes: columns p, those that vary k, unpenalised ones q, components m, folds f, rows n,
# groups g, columns that entered o, one more d, none z.
AVERAGE = STRUCTURE | rules(
    {
        Rule("p"): "units.kept coef sparse_coef unpenalized.places",
        Rule("p", low=0.0): "scale",
        Rule("p", low=0.0, high=1.0): "inclusion",
        Rule("k"): "units.mean average.coef sparser.coef corrected.coef",
        Rule("k", low=0.0): "corrected.std",
        Rule("k", low=0.0, above=True): "units.scale",
        Rule("k", low=0.0, high=1.0): "average.inclusion",
        NUMBER: "units.level intercept sparse_intercept edge average.intercept sparser.intercept",
        SIZE: "units.unit sigma2",
        ERROR: "components.*.error cv_error average.judged.*.error average.judged.*.loss average.evidence "
        "record.deviance.left record.deviance.total record.cv_deviance.left record.cv_deviance.total",
        Rule(low=0.0, infinite=True): "average.judged.*.sigma2",
        Rule(low=0.0, high=1.0): "components.*.weight average.slope",
        Rule(low=1.0): "record.n",
        Rule("m"): "components average.judged",
        Rule("m", low=0.0, high=1.0): "average.weights",
        Rule("kf"): "average.fold_coef",
        Rule("f"): "average.fold_intercept",
        Rule("z"): "average.predicted",
        Rule("o"): "sparser.order",
        Rule("d", low=0.0): "sparser.distance",
        Rule("n", low=0.0): "fold_errors.folds",
        Rule("n", low=0.0, infinite=True): "fold_errors.errors",
        Rule("n", low=0.0, above=True): "fold_errors.counts",
        Rule("q"): "unpenalized.coef unpenalized.mean",
        Rule("q", low=0.0): "unpenalized.std",
        Rule("qk"): "unpenalized.loads",
        Rule("fq"): "unpenalized.fold_coef",
    }
)
# What families estimate: levels l, thresholds t. What users give to families and priors these check.
ESTIMATED: dict[Any, dict[str, Rule]] = {
    NegativeBinomial: {"size_": POSITIVE},
    StudentT: {"df_": POSITIVE},
    Laplace: rules({SIZE: "blur floor"}),
    Quantile: rules({SIZE: "blur floor noise_share"}),
    Tweedie: {"unit_": POSITIVE, "mean_": SIZE},
    Ordinal: {
        "points_": Rule("l", rising=True),
        "labels_": Rule("l"),
        "thresholds_": Rule("t", rising=True),
        "thresholds_std_": Rule("t", low=0.0, infinite=True, optional=True),
    },
}
# Of the times of one stratum, and of the hazard from each on.
BASELINE = rules(
    {
        Rule("t"): "times",
        Rule("t", low=0.0, infinite=True): "hazard",
        Rule("s", low=1.0, rising=True): "ends",
        Rule("s"): "level",
        SIZE: "n_events",
        Rule(low=0.0, high=1.0): "concordance",
    }
)
STRATUM = {"times": Rule(low=0.0, rising=True), "hazard": Rule(rising=True, ties=True, infinite=True)}
# Of the fit that another one started from.
KEPT = rules({Rule(low=1.0): "n", ERROR: "deviance.left deviance.total"})
EARLIER = rules({Rule("p"): "coef", Rule("p", low=0.0): "std", NUMBER: "intercept", SIZE: "sigma2"})


def check_model(model: Any, fitted: Any) -> None:
    """Refuse a model whose parts do not fit each other, or have numbers that no fit has.

    ``model`` has the parameters, and ``fitted`` is what was kept of the fit.

    Examples
    --------
    >>> from horseshoe import HorseshoeRegressor
    >>> from horseshoe.estimators.model_schema import SavedModes
    >>> check_model(HorseshoeRegressor(), SavedModes(1, None, None, None, None, None, (), ()))
    Traceback (most recent call last):
    ValueError: fitted.regressions: 0 are there, where 1 belong
    """
    if fitted.n_features < 1:
        raise ValueError(f"fitted.n_features: {fitted.n_features} columns are none")
    _check_counts(model, fitted)
    for number, one in enumerate(fitted.regressions):
        place = f"fitted.regressions[{number}]"
        check_fit(one, fitted.n_features, place)
        _check_family(model, fitted, one.family, f"{place}.family")
    for number, kept in enumerate(getattr(fitted, "kept", ())):
        check_rules(kept, KEPT, {}, f"fitted.kept[{number}]")
    if (fitted.baseline is not None) != type(model).__name__.endswith("Survival"):
        raise ValueError(f"fitted.baseline: a {type(model).__name__} has one: {fitted.baseline is None}")
    if fitted.baseline is not None:
        check_baseline(fitted.baseline, 1 if fitted.strata is None else len(fitted.strata.values))
    elif fitted.strata is not None:
        raise ValueError("fitted.strata: there are strata, but no hazard of them")
    check_parameters(model, fitted.n_features)


def _check_counts(model: Any, fitted: Any) -> None:
    """Refuse another number of regressions, or of names, than there are responses, classes or columns."""
    classes, names = fitted.classes, fitted.feature_names
    if (classes is None) == hasattr(model, "decision_function"):
        raise ValueError(f"a {type(model).__name__} has classes: {classes is not None}")
    if classes is not None and len(classes.values) < 2:
        raise ValueError(f"fitted.classes: {len(classes.values)} label is no classes")
    one = classes is None or (len(classes.values) == 2 and not model._is_softmax)
    wanted = 1 if one or classes is None else len(classes.values)
    if fitted.outputs is not None:
        wanted = len(fitted.outputs)
        if classes is not None or fitted.baseline is not None or wanted < 2:
            raise ValueError(f"fitted.outputs: {wanted} responses have no classes, and are two or more")
    for name in ("regressions", "kept"):
        found = getattr(fitted, name, fitted.regressions)
        if len(found) != wanted:
            raise ValueError(f"fitted.{name}: {len(found)} are there, where {wanted} belong")
    if names is not None and len(names) != fitted.n_features:
        raise ValueError(f"fitted.feature_names: {len(names)} names for {fitted.n_features} columns")


def _check_family(model: Any, fitted: Any, family: Any, place: str) -> None:
    """Refuse a distribution that the estimator has no predictions of."""
    right = isinstance(family, Cox) == (fitted.baseline is not None)
    if fitted.classes is not None:
        right = right and family.is_binary
    if not right:
        raise ValueError(f"{place} is {type(family).__name__}, which a {type(model).__name__} does not have")


def check_fit(fitted: Any, n_columns: int, place: str) -> None:
    """Refuse a fit whose parts do not fit each other, or have numbers that no fit has.

    Examples
    --------
    >>> from horseshoe import HorseshoeRegressor
    >>> fitted = HorseshoeRegressor().fit([[1.0], [2.0], [3.0]], [1.0, 2.0, 2.5])._fitted
    >>> check_fit(fitted, 2, "fitted")
    Traceback (most recent call last):
    ValueError: fitted.coef has the shape (1,), where (2) belongs
    """
    _check_estimated(fitted.family, f"{place}.family")
    if isinstance(fitted, AverageFit):
        sizes = _check_average(fitted, n_columns, place)
    else:
        sizes = _check_mode(fitted, n_columns, place)
    if fitted.structure is not None:
        groups = () if fitted.structure.feature_groups is None else np.unique(fitted.structure.feature_groups)
        check_places(groups, sizes["g"], f"{place}.structure.feature_groups")
        if len(groups) < sizes["g"]:
            raise ValueError(f"{place}.structure.names has {sizes['g']} names for {len(groups)} groups")


def _check_estimated(family: Any, place: str) -> None:
    """Refuse what no family estimates."""
    rules = ESTIMATED.get(type(family), {})
    levels = family.points_.size if isinstance(family, Ordinal) else 0
    if rules is ESTIMATED[Ordinal] and levels < 2:
        raise ValueError(f"{place}.points_ are {levels} levels, where 2 or more belong")
    check_rules(family, rules, {"l": levels, "t": levels - 1}, place)


def _check_mode(fitted: Fitted, n_columns: int, place: str) -> dict[str, int]:
    check_rules(fitted, {name: MODE[name] for name in ("coef", "scale")}, {"p": n_columns}, place)
    selected, varying = np.count_nonzero(fitted.coef), np.count_nonzero(fitted.scale)
    sizes = check_rules(fitted, MODE, {"p": n_columns, "s": int(selected), "k": int(varying)}, place)
    if fitted.covariance is not None and abs(fitted.covariance.sign) != 1.0:
        raise ValueError(f"{place}.covariance.sign has the number {fitted.covariance.sign:g}, not 1 or -1")
    for first, tied in fitted.aliases.items():
        check_places((first, *tied), n_columns, f"{place}.aliases")
    several = [j for first, tied in fitted.aliases.items() for j in (first, *tied)]
    check_different(several, f"{place}.aliases")
    if fitted.result.family is not None:
        if type(fitted.result.family) is not type(fitted.family):
            raise ValueError(f"{place}.result.family is another than {place}.family")
        _check_estimated(fitted.result.family, f"{place}.result.family")
    return sizes


def _check_average(fitted: AverageFit, n_columns: int, place: str) -> dict[str, int]:
    kept = int(fitted.units.kept.sum())
    sizes = {"p": n_columns, "k": kept, "z": 0}
    if fitted.unpenalized is not None:
        sizes["q"] = int(fitted.unpenalized.places.sum())
    sizes = check_rules(fitted, AVERAGE, sizes, place)
    parts = (fitted.average, fitted.sparser, fitted.fold_errors, fitted.corrected)
    if len({part is None for part in parts}) > 1:
        raise ValueError(f"{place} has some of average, sparser, fold_errors and corrected, but not all")
    if fitted.average is not None and fitted.sparser is not None and fitted.fold_errors is not None:
        total = float(fitted.average.weights.sum())
        if abs(total - 1.0) > ONE:
            raise ValueError(f"{place}.average.weights add up to {total:g}, and not to 1")
        check_places(fitted.fold_errors.folds, sizes["f"] + 1, f"{place}.fold_errors.folds")
        check_places(fitted.sparser.order, kept, f"{place}.sparser.order")
        check_different(fitted.sparser.order, f"{place}.sparser.order")
        check_rules(fitted, {"sparser.distance": AVERAGE["sparser.distance"]}, {"d": sizes["o"] + 1}, place)
    return sizes


def check_baseline(found: Baseline, n_strata: int) -> None:
    """Refuse hazards that do not go with their times and strata.

    Examples
    --------
    >>> one = np.ones(1)
    >>> check_baseline(Baseline(one, one, np.array([2]), one, 1.0), 1)
    Traceback (most recent call last):
    ValueError: fitted.baseline.ends are not those of 1 strata with 1 times
    """
    check_rules(found, BASELINE, {"s": n_strata}, "fitted.baseline")
    if found.ends[-1] != found.times.size:
        raise ValueError(
            f"fitted.baseline.ends are not those of {n_strata} strata with {found.times.size} times"
        )
    for stratum in range(n_strata):
        times, hazard = found.of(stratum)
        check_rules(replace(found, times=times, hazard=hazard), STRATUM, {}, "fitted.baseline")


def check_parameters(model: Any, n_columns: int) -> None:
    """Refuse parameters with which no fit begins: numbers that are none, and lists for other columns.

    Examples
    --------
    >>> from horseshoe import HorseshoeRegressor
    >>> check_parameters(HorseshoeRegressor(unpenalized=(3,)), 2)
    Traceback (most recent call last):
    ValueError: parameters.unpenalized has the number 3, where 0 to 1 belong
    """
    parameters = model.get_params(deep=False)
    for name, value in parameters.items():
        if isinstance(value, float) and value != value:
            raise ValueError(f"parameters.{name} is not a number")
    for name in ("feature_groups", "prior_scale"):
        found = parameters.get(name)
        if found is not None and len(found) != n_columns:
            raise ValueError(f"parameters.{name} has {len(found)} entries for {n_columns} columns")
    if parameters.get("unpenalized") is not None:
        check_places(parameters["unpenalized"], n_columns, "parameters.unpenalized")
    start = parameters.get("start")
    for earlier in (start,) if isinstance(start, Earlier) else start if isinstance(start, tuple) else ():
        check_rules(earlier, EARLIER, {"p": n_columns}, "parameters.start")

"""Bad input to the sampler is refused: what was wrong, where, what to do; and nothing is drawn or written."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from farrier import sample_posterior
from farrier.families import Location, Working
from farrier.posterior.draws import Posterior
from test_bad_input import NAMES, NUMBER, POSITIVE, assert_says, at_column, at_row, refused

pytestmark = pytest.mark.filterwarnings("error")

N, P = 40, 5
ROW = 12
RNG = np.random.default_rng(5)
X = RNG.standard_normal((N, P))
FRAME = pd.DataFrame(X, columns=NAMES)
REAL = 3.0 * X[:, 1] + 0.3 * RNG.standard_t(3, N)
COUNTS = RNG.poisson(np.exp(0.7 + 0.8 * X[:, 1])).astype(float)
CODES = (RNG.random(N) < 1.0 / (1.0 + np.exp(-2.5 * X[:, 1]))).astype(float)
WORDS = np.array(["no", "yes"])[CODES.astype(int)]
RESPONSES = {
    "gaussian": REAL,
    "student_t": REAL,
    "laplace": REAL,
    "binomial": CODES,
    "poisson": COUNTS,
    "negative_binomial": COUNTS,
}
NONE_BEFORE = np.where(np.arange(N) < 5, 0.0, 1.0)
"""Weights: rows go by their number in the user's data, also where some before them have no weight."""
each_family = pytest.mark.parametrize("family", RESPONSES)


def put(values: Any, value: Any, dtype: Any = None, row: Any = ROW) -> Any:
    """Return a copy, with ``value`` in one row."""
    array = np.array(values, dtype=dtype)
    array[row] = value
    return array


WITH_NAN = pd.DataFrame(put(X, np.nan, row=(ROW, 3)), columns=NAMES)


def never(*arguments: Any, **options: Any) -> Any:
    raise AssertionError("nothing should have been drawn")


def told(action: Callable[[], Any], *says: str) -> str:
    """Assert that ``action`` is refused in words for people: 7, not np.int64(7)."""
    message = refused(action)
    assert_says(message, *says)
    assert "np." not in message, message
    return message


def assert_refused(folder: Path, *says: str, family: str = "gaussian", **options: Any) -> None:
    """Assert that a run is refused, and leaves the folder of its checkpoint empty."""
    arguments = {"X": FRAME, "y": RESPONSES[family], "family": family, "random_state": 0, **options}
    arguments = {"checkpoint": folder / "run", "progress": never, **arguments}
    told(lambda: sample_posterior(**arguments), *says)
    assert list(folder.iterdir()) == []


# --- how much is drawn ----------------------------------------------------------------------------

LEAST = {"n_draws": 1, "n_warmup": 0, "n_chains": 1, "thin": 1}


@pytest.mark.parametrize("name", LEAST)
@pytest.mark.parametrize("below", [1, 5])
def test_numbers_that_are_too_small(name: str, below: int, tmp_path: Path) -> None:
    value = LEAST[name] - below
    assert_refused(tmp_path, f"{name}={value} ", f"whole number of at least {LEAST[name]}", **{name: value})


@pytest.mark.parametrize("name", LEAST)
@pytest.mark.parametrize("value", [1.5, 100.0, True, "100", None, [100], np.nan], ids=repr)
def test_numbers_that_are_not_whole(name: str, value: Any, tmp_path: Path) -> None:
    assert_refused(tmp_path, rf"\b{name}=", f"whole number of at least {LEAST[name]}", **{name: value})


@pytest.mark.parametrize("value", [0, 1.5, "2"], ids=repr)
def test_processes(value: Any, tmp_path: Path) -> None:
    assert_refused(tmp_path, rf"\bn_jobs={value!r}", "whole number other than 0", "None", n_jobs=value)


@pytest.mark.parametrize("value", [-1, "a", 1.5, [1, 2], np.nan], ids=repr)
def test_seeds(value: Any, tmp_path: Path) -> None:
    assert_refused(tmp_path, r"\brandom_state=", "at least 0", "Generator", "None", random_state=value)


def test_an_old_generator(tmp_path: Path) -> None:
    old = np.random.RandomState(0)
    assert_refused(tmp_path, r"\brandom_state=", "Generator", random_state=old)


@pytest.mark.parametrize("value", [0, -1, np.nan, True, "1 GB", None], ids=repr)
def test_an_amount_of_memory(value: Any, tmp_path: Path) -> None:
    assert_refused(tmp_path, r"\bmax_memory=", POSITIVE, max_memory=value)


def test_more_draws_than_memory(tmp_path: Path) -> None:
    says = ("would take 2747 MiB", "max_memory allows 2048 MiB", r"\bthin\b", r"\bn_draws\b", "store_lambda2")
    assert_refused(tmp_path, *says, n_draws=10**7)


@pytest.mark.parametrize("value", [3, True], ids=repr)
def test_a_checkpoint_that_is_no_path(value: Any, tmp_path: Path) -> None:
    assert_refused(tmp_path, rf"\bcheckpoint={value!r}", "path|str", checkpoint=value)


# --- what is sampled ------------------------------------------------------------------------------


@pytest.mark.parametrize("value", ["foo", "Gaussian", 3, None], ids=repr)
def test_a_family_that_is_not_known(value: Any, tmp_path: Path) -> None:
    arguments = {"X": X, "y": REAL, "family": value, "checkpoint": tmp_path / "run"}
    every = [f"'{family}'" for family in RESPONSES]
    told(lambda: sample_posterior(**arguments), r"\bfamily=", *every, "farrier.families")


@pytest.mark.parametrize("value", ["horsehoe", 3, None], ids=repr)
def test_a_prior_that_is_not_known(value: Any, tmp_path: Path) -> None:
    assert_refused(tmp_path, r"\bprior=", "'horseshoe'", "'strawderman_berger'", prior=value)


@pytest.mark.parametrize("value", [-1, 0, np.nan, np.inf, True], ids=repr)
@pytest.mark.parametrize("name", ["tau", "tau_max"])
def test_a_global_scale_that_is_not_positive(name: str, value: Any, tmp_path: Path) -> None:
    assert_refused(tmp_path, rf"\b{name}=", POSITIVE, **{name: value})


@pytest.mark.parametrize(("name", "value"), [("tau", "auto"), ("tau_max", "1"), ("sigma2", "known")])
def test_a_scale_that_is_a_word(name: str, value: Any, tmp_path: Path) -> None:
    assert_refused(tmp_path, rf"\b{name}={value!r}", POSITIVE + "|number", **{name: value})


@pytest.mark.parametrize("value", [-1, 0, np.nan, "known", None, True], ids=repr)
def test_a_noise_variance(value: Any, tmp_path: Path) -> None:
    assert_refused(tmp_path, r"\bsigma2=", POSITIVE, "'estimate'", sigma2=value)


@pytest.mark.parametrize("family", ["poisson", "negative_binomial", "binomial"])
def test_a_noise_variance_of_a_family_without_one(family: str, tmp_path: Path) -> None:
    assert_refused(tmp_path, r"\bsigma2=1\.0", "no meaning", "leave it out", family=family, sigma2=1.0)


class Cauchy(Location):
    """A family of the user's own: noise, and no way to draw its weights."""

    def working(self, y: Any, eta: Any, sigma2: float) -> Working:
        return Working(2.0 / (1.0 + (y - eta) ** 2 / sigma2), y)

    def neg_log_likelihood(self, y: Any, eta: Any, sigma2: float) -> Any:
        return np.log1p((y - eta) ** 2 / sigma2) + 0.5 * np.log(sigma2)


class NoDraw:
    """A prior of the user's own that has a mode only."""

    def null_rate(self, coordinate: float) -> float:
        return 1.0

    def mode(self, w: Any, coordinate: float) -> Any:
        return w

    def neg_log_density(self, lambda2: Any, coordinate: float) -> Any:
        return np.log(lambda2)


class NoLogDensity:
    """A prior of tau that has a mode only."""

    bounds = (1e-20, 1.0)

    def neg_log_density(self, tau2: float) -> float:
        return tau2

    def slope(self, tau2: float) -> float:
        return tau2


WITHOUT_SAMPLER: dict[str, tuple[dict[str, Any], tuple[str, ...]]] = {
    "family": ({"family": Cauchy()}, ("Cauchy", "noise variance", r"augment\(y, eta, sigma2, counts, rng\)")),
    "prior": ({"prior": NoDraw()}, ("NoDraw", r"draw\(w, lambda2, rng\)", "farrier.priors")),
    "tau": (
        {"tau": NoLogDensity()},
        ("NoLogDensity", r"log_density\(log_tau\)", r"draw\(n, s, tau2, rng\)", "farrier.priors"),
    ),
}


@pytest.mark.parametrize("which", WITHOUT_SAMPLER)
def test_what_cannot_be_sampled_says_which_method_is_missing(which: str, tmp_path: Path) -> None:
    options, says = WITHOUT_SAMPLER[which]
    arguments = {"X": FRAME, "y": REAL, "checkpoint": tmp_path / "run", "progress": never, **options}
    told(lambda: sample_posterior(**arguments), "has no sampler", *says)
    assert list(tmp_path.iterdir()) == []


# --- the data -------------------------------------------------------------------------------------


class Bad(NamedTuple):
    """What is handed in instead of good data, and what the message has to say."""

    says: tuple[str, ...]
    arguments: dict[str, Any]


def bad(*says: str, **arguments: Any) -> Bad:
    return Bad(says, arguments)


BAD_DATA = {
    "NaN in X": bad(r"\bX\b", "nan", at_row(ROW), r"\bweight_kg\b", "impute|remove", X=WITH_NAN),
    "NaN in an array": bad(r"\bX\b", "nan", at_row(ROW), at_column(3), X=put(X, np.nan, row=(ROW, 3))),
    "infinity in X": bad(r"\bX\b", "inf", at_row(ROW), at_column(3), X=put(X, np.inf, row=(ROW, 3))),
    "text in X": bad(r"\bincome\b", NUMBER + "|float", X=FRAME.assign(income="low")),
    "one dimension": bad(r"\bX\b|2D", "reshape|2D", X=X[:, 0]),
    "no rows": bad("0 sample", X=X[:0], y=REAL[:0]),
    "no columns": bad("0 feature", X=X[:, :0]),
    "a sparse matrix": bad(r"\bX\b", "dense", "toarray", X=sparse.csr_matrix(X)),
    "one row": bad("two rows", X=X[:1], y=REAL[:1]),
    "NaN in y": bad(r"\by\b", "nan", at_row(ROW), "impute|remove", y=put(REAL, np.nan)),
    "infinity in y": bad(r"\by\b", "inf", at_row(ROW), y=put(REAL, -np.inf)),
    "None in y": bad(r"\by\b", "nan|missing|none", at_row(ROW), y=put(REAL, None, object)),
    "no y": bad(r"\by\b", "None", y=None),
    "short y": bad(r"\bX\b", r"\by\b", rf"\b{N - 1}\b", rf"\b{N}\b", y=REAL[1:]),
    "two responses": bad(r"\by\b", "2 columns", y=np.column_stack([REAL, REAL])),
    "text in y": bad(r"\by\b", NUMBER, at_row(ROW), "'many'", y=put(REAL, "many", object)),
    "short weights": bad("sample_weight", rf"\b{N - 1}\b", rf"\b{N}\b", sample_weight=np.ones(N - 1)),
    "a negative weight": bad("sample_weight", "negative", at_row(ROW), sample_weight=put(np.ones(N), -1.0)),
    "NaN weight": bad("sample_weight", "nan", at_row(ROW), sample_weight=put(np.ones(N), np.nan)),
    "no weight": bad("sample_weight", "zero", sample_weight=np.zeros(N)),
    "weight in one row": bad("positive weight", "two rows", sample_weight=put(np.zeros(N), 1.0)),
    "short offset": bad("offset", rf"\b{N - 1}\b", rf"\b{N}\b", offset=np.ones(N - 1)),
    "NaN offset": bad("offset", "nan", at_row(ROW), offset=put(np.ones(N), np.nan)),
    "constant columns": bad("no posterior", r"every column of X is constant", X=np.ones((N, 2))),
}


@pytest.mark.parametrize("which", BAD_DATA)
def test_bad_data(which: str, tmp_path: Path) -> None:
    assert_refused(tmp_path, *BAD_DATA[which].says, **BAD_DATA[which].arguments)


@pytest.mark.parametrize("which", [name for name in BAD_DATA if "y" not in BAD_DATA[name].arguments])
@pytest.mark.parametrize("family", ["binomial", "poisson", "laplace"])
def test_bad_data_of_a_family(which: str, family: str, tmp_path: Path) -> None:
    assert_refused(tmp_path, *BAD_DATA[which].says, family=family, **BAD_DATA[which].arguments)


@pytest.mark.parametrize("family", ["gaussian", "student_t", "laplace"])
@pytest.mark.parametrize("level", [0.0, 7.5])
def test_a_constant_response(family: str, level: float, tmp_path: Path) -> None:
    assert_refused(tmp_path, "no posterior", r"\by is constant", family=family, y=np.full(N, level))


@pytest.mark.parametrize("family", ["poisson", "negative_binomial"])
def test_counts_that_are_all_zero(family: str, tmp_path: Path) -> None:
    assert_refused(tmp_path, "no posterior", r"\by\b", "all zero", family=family, y=np.zeros(N))


@pytest.mark.parametrize("family", ["poisson", "negative_binomial"])
def test_counts_that_are_none(family: str, tmp_path: Path) -> None:
    negative, half = put(COUNTS, -1.0), put(COUNTS, 1.5)
    assert_refused(tmp_path, r"\by\b", at_row(ROW), "-1", "negative", family=family, y=negative)
    assert_refused(tmp_path, r"\by\b", at_row(ROW), r"1\.5", "whole", family=family, y=half)


@pytest.mark.parametrize("family", ["poisson", "negative_binomial"])
def test_exposures_in_the_place_of_their_logarithms(family: str, tmp_path: Path) -> None:
    far = put(np.zeros(N), 1e5)
    assert_refused(tmp_path, "offset", at_row(ROW), "logarithm", family=family, offset=far)


BAD_CLASSES = {
    "one class": bad("no posterior|two are needed", "one class", y=np.ones(N)),
    "one label": bad(r"\by\b", r"\b(1|one)\b", "two are needed", y=["yes"] * N),
    "one truth": bad(r"\by\b", r"\b(1|one)\b", "two are needed", y=np.ones(N, bool)),
    "three labels": bad(r"\by\b", r"\b3\b", "two are needed", y=put(WORDS, "perhaps", "U9")),
    "one label that counts": bad("no posterior", "one class", y=WORDS, sample_weight=CODES),
    "codes": bad(r"\by\b", at_row(ROW), r"\b2\b", "0 or 1", y=put(CODES, 2.0)),
    "percent": bad(r"\by\b", at_row(ROW), r"\b50\b", "proportion", y=put(CODES, 50.0)),
    "a missing label": bad(r"\by\b", "missing|nan|none", at_row(ROW), "remove", y=put(WORDS, None, object)),
    "NaN": bad(r"\by\b", "nan", at_row(ROW), y=put(CODES, np.nan)),
    "words and numbers": bad(r"\by\b", "text and numbers", y=put(WORDS, 1.5, object)),
    "short": bad(r"\bX\b", r"\by\b", rf"\b{N - 1}\b", rf"\b{N}\b", y=WORDS[1:]),
}


@pytest.mark.parametrize("which", BAD_CLASSES)
def test_bad_classes(which: str, tmp_path: Path) -> None:
    assert_refused(tmp_path, *BAD_CLASSES[which].says, family="binomial", **BAD_CLASSES[which].arguments)


@pytest.mark.parametrize("family", ["student_t", "laplace"])
@pytest.mark.parametrize("weights", [np.ones(N), NONE_BEFORE], ids=["all rows", "some rows"])
def test_fractional_weights(family: str, weights: Any, tmp_path: Path) -> None:
    says = ("sample_weight", at_row(ROW), r"\b1\.5\b", "whole weights", "round them", "Gaussian")
    assert_refused(tmp_path, *says, family=family, sample_weight=put(weights, 1.5))


@pytest.mark.parametrize("weight", [0.01, 1.0 / N])
def test_weights_that_are_no_numbers_of_rows(weight: float, tmp_path: Path) -> None:
    """They add up to one row at most, of which the intercept leaves nothing for the noise variance."""
    assert_refused(tmp_path, "sample_weight", r"\bsigma2\b", sample_weight=np.full(N, weight))


# --- what is asked of the draws -------------------------------------------------------------------


@cache
def drawn(family: str = "gaussian", labels: bool = False) -> Posterior:
    y = WORDS if labels else RESPONSES[family]
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="R-hat")
        return sample_posterior(FRAME, y, family, n_draws=20, n_warmup=20, n_chains=2, random_state=0)


METHODS: dict[str, Callable[..., Any]] = {
    "predict": lambda draws, X, **options: draws.predict(X, **options),
    "predict with std": lambda draws, X, **options: draws.predict(X, return_std=True, **options),
    "predict_interval": lambda draws, X, **options: draws.predict_interval(X, **options),
    "simulate": lambda draws, X, **options: draws.simulate(X, **options),
    "log_likelihood": lambda draws, X, **options: draws.log_likelihood(X, COUNTS[: len(X)], **options),
}
NEW_ROWS = {
    "fewer columns": (FRAME.iloc[:, :3], (r"\bX\b", r"\b3 columns\b", rf"\b{P}\b")),
    "more columns": (np.ones((4, 6)), (r"\bX\b", r"\b6 columns\b", rf"\b{P}\b")),
    "another name": (FRAME.rename(columns={"weight_kg": "weight_lb"}), ("weight_kg", "weight_lb")),
    "another order": (FRAME[NAMES[::-1]], ("order|column", "shoe|age")),
    "NaN": (WITH_NAN, (r"\bX\b", "nan", at_row(ROW), r"\bweight_kg\b")),
    "text": (FRAME.assign(income="low"), (r"\bincome\b", NUMBER + "|float")),
    "one row as a vector": (X[0], (r"\bX\b|2D", "reshape|2D")),
}
each_method = pytest.mark.parametrize("method", METHODS)


@each_method
@pytest.mark.parametrize("which", NEW_ROWS)
def test_new_rows(which: str, method: str) -> None:
    given, says = NEW_ROWS[which]
    told(lambda: METHODS[method](drawn("poisson"), given), *says)


@each_method
def test_offsets_of_new_rows(method: str) -> None:
    action = partial(METHODS[method], drawn("poisson"), FRAME)
    told(lambda: action(offset=np.ones(N - 1)), "offset", rf"\b{N - 1}\b", rf"\b{N}\b")
    told(lambda: action(offset=put(np.ones(N), np.nan)), "offset", "nan", at_row(ROW))


@pytest.mark.parametrize("level", [1.2, 1.0, 0.0, -0.5, 95, np.nan, "95%", None, True], ids=repr)
def test_levels(level: Any) -> None:
    draws = drawn()
    for action in (draws.interval, draws.summary, partial(draws.predict_interval, FRAME), draws.select):
        told(partial(action, level=level), r"\blevel=", "above 0 and below 1")


@pytest.mark.parametrize("of", ["beta", "lambda", None, 3, ["coef"]], ids=repr)
def test_quantities_that_are_not_known(of: Any) -> None:
    draws = drawn()
    for action in (
        draws.draws,
        draws.mean,
        draws.median,
        draws.std,
        draws.rhat,
        draws.mcse,
        partial(draws.ess, "bulk"),
        partial(draws.interval, 0.9),
    ):
        told(partial(action, of=of), r"\bof=", "'coef'", "'sigma2'", "'lambda2'")


def test_quantities_that_there_are_no_draws_of() -> None:
    told(lambda: drawn().mean("lambda2"), "no draws of lambda2", "store_lambda2=True")
    told(lambda: drawn().mean("nuisance"), "no draws of nuisance", "family has none")


@pytest.mark.parametrize("kind", ["hdi", None, 3], ids=repr)
def test_kinds_of_intervals(kind: Any) -> None:
    for action in (drawn().interval, drawn().summary):
        told(partial(action, kind=kind), r"\bkind=", "'equal_tailed'", "'highest_density'")
    told(lambda: drawn().predict_interval(FRAME, kind=kind), r"\bkind=", "'predictive'", "'credible'")
    told(lambda: drawn().ess(kind), r"\bkind=", "'bulk'", "'tail'")


@pytest.mark.parametrize("method", ["decoupeld", None, 3], ids=repr)
def test_methods_of_selection(method: Any) -> None:
    told(lambda: drawn().select(method), r"\bmethod=", "'credible'", "'decoupled'")


@pytest.mark.parametrize("n_draws", [0, -1, 0.5, "10", None, True], ids=repr)
def test_numbers_of_simulated_responses(n_draws: Any) -> None:
    told(lambda: drawn().simulate(FRAME, n_draws=n_draws), r"\bn_draws=", "number of at least 1")


@pytest.mark.parametrize("value", [-1, "a", 1.5], ids=repr)
def test_seeds_of_responses(value: Any) -> None:
    for action in (drawn().predict_interval, drawn().simulate):
        told(partial(action, FRAME, random_state=value), r"\brandom_state=", "at least 0")


def test_rows_without_responses() -> None:
    told(lambda: drawn().log_likelihood(FRAME), r"\bX and y\b", "or neither")
    told(lambda: drawn().log_likelihood(y=REAL), r"\bX and y\b", "or neither")


@pytest.mark.parametrize(
    ("family", "y", "says"),
    [
        ("gaussian", REAL[1:], (r"\by\b", rf"\b{N - 1}\b", rf"\b{N}\b")),
        ("gaussian", put(REAL, np.nan), (r"\by\b", "nan", at_row(ROW))),
        ("poisson", put(COUNTS, -1.0), (r"\by\b", at_row(ROW), "negative")),
        ("negative_binomial", put(COUNTS, 1.5), (r"\by\b", at_row(ROW), "whole")),
        ("binomial", put(CODES, 2.0), (r"\by\b", at_row(ROW), "0 or 1")),
        ("binomial", WORDS, (r"\by\b", NUMBER)),
    ],
    ids=["short", "NaN", "negative", "fractional", "codes", "words"],
)
def test_responses_of_new_rows(family: str, y: Any, says: tuple[str, ...]) -> None:
    told(lambda: drawn(family).log_likelihood(FRAME, y), *says)


def test_labels_of_new_rows() -> None:
    draws = drawn("binomial", labels=True)
    told(lambda: draws.log_likelihood(FRAME, put(WORDS, "perhaps", "U9")), r"\by\b", "'perhaps'", at_row(ROW))


# --- packages that are not there ------------------------------------------------------------------


def missing(action: Callable[[], Any]) -> str:
    """Return the message of the ImportError that ``action`` must raise, without a warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(ImportError) as caught:
            action()
    return str(caught.value)


@pytest.mark.parametrize("family", ["binomial", "negative_binomial"])
def test_without_polyagamma(family: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "polyagamma", None)
    arguments = {"X": FRAME, "y": RESPONSES[family], "family": family}
    arguments |= {"checkpoint": tmp_path / "run", "progress": never, "n_jobs": 1}
    message = missing(lambda: sample_posterior(**arguments))
    assert_says(message, r"\bpolyagamma\b", r"pip install 'farrier\[posterior\]'")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("family", ["gaussian", "student_t", "laplace", "poisson"])
def test_others_need_no_polyagamma(family: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "polyagamma", None)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="R-hat")
        draws = sample_posterior(FRAME, RESPONSES[family], family, n_draws=2, n_warmup=9)
    assert draws.coef.shape == (4, 2, P)


def test_without_pandas(monkeypatch: pytest.MonkeyPatch) -> None:
    draws = drawn()
    monkeypatch.setitem(sys.modules, "pandas", None)
    assert_says(missing(draws.summary), r"\bpandas\b", r"pip install 'farrier\[pandas\]'")


def test_without_arviz(monkeypatch: pytest.MonkeyPatch) -> None:
    draws = drawn()
    monkeypatch.setitem(sys.modules, "arviz_base", None)
    assert_says(missing(draws.to_arviz), r"\barviz_base\b", r"pip install 'farrier\[arviz\]'")


# --- nothing else is said -------------------------------------------------------------------------


@each_family
@pytest.mark.parametrize("weights", [None, NONE_BEFORE], ids=["all rows", "some rows"])
def test_good_data_give_no_warning(family: str, weights: Any, tmp_path: Path) -> None:
    """Neither do NumPy, SciPy and scikit-learn: warnings are errors here."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", message="R-hat")
        draws = sample_posterior(
            FRAME,
            RESPONSES[family],
            family,
            n_draws=30,
            n_warmup=30,
            random_state=0,
            sample_weight=weights,
            checkpoint=tmp_path / "run",
        )
        for answer in (
            draws.predict(FRAME, return_std=True),
            draws.predict_interval(FRAME),
            draws.simulate(),
            draws.log_likelihood(),
            draws.interval(),
            draws.rhat(),
            draws.ess("tail"),
        ):
            assert np.isfinite(np.asarray(answer)).all()
        assert len(draws.summary()) == P


EXTREMES: dict[str, dict[str, Any]] = {
    "a response far from one": {"y": 1e12 + 1e9 * REAL},
    "a tiny response": {"y": 1e-150 * REAL},
    "a huge response": {"y": 1e150 * REAL},
    "tiny columns": {"X": 1e-150 * X},
    "huge columns": {"X": 1e150 * X},
    "the same column twice": {"X": np.hstack([X, X])},
    "no noise": {"y": 3.0 * X[:, 1]},
    "no noise, p > n": {"X": X[:4], "y": 3.0 * X[:4, 1]},
    "two rows": {"X": X[:2], "y": REAL[:2]},
    "an outlier": {"family": "student_t", "y": put(REAL, 1e8)},
    "outliers": {"family": "laplace", "y": put(REAL, 1e8)},
    "classes apart": {"family": "binomial", "y": (X[:, 0] > 0.0) * 1.0},
    "large counts": {"family": "poisson", "y": np.round(1e8 * np.exp(X[:, 0]))},
    "large counts, overdispersed": {"family": "negative_binomial", "y": np.round(1e8 * np.exp(X[:, 0]))},
    "one count": {"family": "poisson", "y": put(np.zeros(N), 1.0)},
    "one count, overdispersed": {"family": "negative_binomial", "y": put(np.zeros(N), 1.0)},
    "a tiny tau": {"tau": 1e-12},
    "a huge tau": {"tau": 1e12},
    "a tiny tau_max": {"tau_max": 1e-9},
    "no warm-up": {"n_warmup": 0, "family": "poisson", "y": COUNTS},
}


@pytest.mark.parametrize("which", EXTREMES)
def test_extremes_are_sampled_without_a_warning(which: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", message="R-hat")
        given = {"X": X, "y": REAL, "n_draws": 30, "n_warmup": 30, "random_state": 0, **EXTREMES[which]}
        draws = sample_posterior(**given)
    for name in ("coef", "intercept", "tau2"):
        assert np.isfinite(draws.draws(name)).all(), name

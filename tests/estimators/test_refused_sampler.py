"""Bad input to the sampler is refused: what was wrong, where, what to do; and nothing is drawn or written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from horseshoe import sample_posterior
from horseshoe.families import Laplace, Location, Working
from posterior_runs import never
from refusals import NUMBER, POSITIVE, ROW, at_column, at_row, bad, put, told
from refused_data import CODES, COUNTS, FRAME, NONE_BEFORE, REAL, SAMPLED, WORDS, N, X, with_value
from selections import in_turn

pytestmark = pytest.mark.filterwarnings("error")


def assert_refused(folder: Path, *says: str, family: str = "gaussian", **options: Any) -> None:
    """Assert that a run is refused, and leaves the folder of its checkpoint empty."""
    arguments = {"X": FRAME, "y": SAMPLED[family], "family": family, "random_state": 0, **options}
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
    every = [f"'{family}'" for family in SAMPLED]
    told(lambda: sample_posterior(**arguments), r"\bfamily=", *every, "horseshoe.families")


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
    """A family of the user's own: a loss, and no density."""

    has_density = False

    def working(self, y: Any, eta: Any, sigma2: float) -> Working:
        return Working(2.0 / (1.0 + (y - eta) ** 2 / sigma2), y)

    def neg_log_likelihood(self, y: Any, eta: Any, sigma2: float) -> Any:
        return np.log1p((y - eta) ** 2 / sigma2) + 0.5 * np.log(sigma2)


class NoDraw:
    """A prior of the user's own that has a mode only."""

    def null_rate(self, lambda_power: float) -> float:
        return 1.0

    def mode(self, w: Any, lambda_power: float) -> Any:
        return w

    def neg_log_density(self, lambda2: Any, lambda_power: float) -> Any:
        return np.log(lambda2)


class NoLogDensity:
    """A prior of tau that has a mode only."""

    bounds = (1e-20, 1.0)

    def neg_log_density(self, tau2: float) -> float:
        return tau2

    def slope(self, tau2: float) -> float:
        return tau2


WITHOUT_SAMPLER: dict[str, tuple[dict[str, Any], tuple[str, ...]]] = {
    "family": ({"family": Cauchy()}, ("Cauchy", "no density", "method='mode'")),
    "prior": ({"prior": NoDraw()}, ("NoDraw", r"draw\(w, lambda2, rng\)", "horseshoe.priors")),
    "tau": (
        {"tau": NoLogDensity()},
        ("NoLogDensity", r"log_density\(log_tau\)", r"draw\(n, s, tau2, rng\)", "horseshoe.priors"),
    ),
}


@pytest.mark.parametrize("which", WITHOUT_SAMPLER)
def test_what_cannot_be_sampled_says_which_method_is_missing(which: str, tmp_path: Path) -> None:
    options, says = WITHOUT_SAMPLER[which]
    arguments = {"X": FRAME, "y": REAL, "checkpoint": tmp_path / "run", "progress": never, **options}
    told(lambda: sample_posterior(**arguments), "has no sampler", *says)
    assert list(tmp_path.iterdir()) == []


# --- the data -------------------------------------------------------------------------------------

BAD_DATA = {
    "NaN in X": bad(r"\bX\b", "nan", at_row(ROW), r"\bweight_kg\b", "impute|remove", X=with_value(np.nan)),
    "NaN in an array": bad(r"\bX\b", "nan", at_row(ROW), at_column(3), X=put(X, np.nan, row=(ROW, 3))),
    "infinity in X": bad(r"\bX\b", "inf", at_row(ROW), at_column(3), X=put(X, np.inf, row=(ROW, 3))),
    "text in X": bad(r"\bincome\b", NUMBER + "|float", X=FRAME.assign(income="low")),
    "one dimension": bad(r"\bX\b|2D", "reshape|2D", X=X[:, 0]),
    "no rows": bad("0 sample", X=X[:0], y=REAL[:0]),
    "no columns": bad("0 feature", X=X[:, :0]),
    "a sparse y": bad(r"\by\b", "sparse", "toarray", y=sparse.csr_matrix(REAL[:, None])),
    "NaN in sparse X": bad(
        "nan", at_row(ROW), at_column(3), X=sparse.csr_array(put(X, np.nan, row=(ROW, 3)))
    ),
    "one row": bad("two rows", X=X[:1], y=REAL[:1]),
    "NaN in y": bad(r"\by\b", "nan", at_row(ROW), "impute|remove", y=put(REAL, np.nan)),
    "infinity in y": bad(r"\by\b", "inf", at_row(ROW), y=put(REAL, -np.inf)),
    "None in y": bad(r"\by\b", "nan|missing|none", at_row(ROW), y=put(REAL, None, object)),
    "no y": bad(r"\by\b", "None", y=None),
    "short y": bad(r"\bX\b", r"\by\b", rf"\b{N - 1}\b", rf"\b{N}\b", y=REAL[1:]),
    "two responses": bad(r"\by\b", "2 columns", y=np.column_stack([COUNTS, COUNTS]), family="poisson"),
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


@pytest.mark.parametrize(
    ("which", "family"),
    in_turn(
        [name for name in BAD_DATA if "y" not in BAD_DATA[name].arguments],
        ["binomial", "poisson", "laplace", "negative_binomial", "student_t"],
    ),
)
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


class EachRow(Laplace):
    """A family of a user's that draws one latent weight for each row, whatever it counts."""

    latent_rows = True


@pytest.mark.parametrize("weights", [np.ones(N), NONE_BEFORE], ids=["all rows", "some rows"])
def test_fractional_weights_of_a_family_that_repeats_rows(weights: Any) -> None:
    says = ("sample_weight", at_row(ROW), r"\b1\.5\b", "whole weights", "round them", "Gaussian")
    given = {"family": EachRow(), "sample_weight": put(weights, 1.5), "random_state": 0}
    told(lambda: sample_posterior(FRAME, SAMPLED["laplace"], **given), *says)


def test_a_row_that_would_be_repeated_without_end() -> None:
    says = (r"sample_weight adds up to 1e\+10", r"it is 1e\+10 in row \d+", "repeated")
    given = {"family": EachRow(), "sample_weight": put(np.ones(N), 1e10), "random_state": 0}
    told(lambda: sample_posterior(FRAME, SAMPLED["laplace"], **given), *says)


@pytest.mark.parametrize("weight", [0.01, 1.0 / N])
def test_weights_that_are_no_numbers_of_rows(weight: float, tmp_path: Path) -> None:
    """They add up to one row at most, of which the intercept leaves nothing for the noise variance."""
    assert_refused(tmp_path, "sample_weight", r"\bsigma2\b", sample_weight=np.full(N, weight))

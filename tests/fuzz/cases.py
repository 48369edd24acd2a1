"""A case is plain data: what to call, on which data, and what must not change the answer."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from horseshoe.families import Binomial, Huber, NegativeBinomial, Quantile, Tweedie
from horseshoe.families import StudentT as StudentNoise
from horseshoe.priors import (
    GammaScale,
    HalfCauchy,
    InverseGammaGlobal,
    InverseGammaScale,
    InvertedBeta,
    NormalGamma,
)

FOUND = Path(__file__).parent / "found"
"""Where the cases that once had a forbidden outcome are kept, one file each."""

OBJECTS: dict[str, Any] = {
    "NegativeBinomial(2)": NegativeBinomial(size=2.0),
    "StudentT(4)": StudentNoise(df=4.0),
    "Quantile(.9)": Quantile(level=0.9),
    "Huber(3)": Huber(threshold=3.0),
    "Tweedie(1)": Tweedie(power=1.0),
    "Tweedie(1.1)": Tweedie(power=1.1, unit=1.0),
    "Tweedie(2)": Tweedie(power=2.0),
    "StudentT(1.5)": StudentNoise(df=1.5),
    "Binomial()": Binomial(),
    "Binomial(irls)": Binomial("irls"),
    "InvertedBeta(.3, .8)": InvertedBeta(a=0.3, b=0.8),
    "InvertedBeta(1.2, .25)": InvertedBeta(a=1.2, b=0.25),
    "NormalGamma(.25, 2)": NormalGamma(shape=0.25, rate=2.0),
    "GammaScale(2, 1)": GammaScale(shape=2.0, rate=1.0),
    "InverseGammaScale(.7, .1)": InverseGammaScale(shape=0.7, scale=0.1),
    "HalfCauchy(.3)": HalfCauchy(tau_max=0.3),
    "InverseGammaGlobal()": InverseGammaGlobal(),
}
"""Arguments that are objects, by the name they have in a case."""


SEEDED = ("stochastic", "conjugate_gradient")
"""Ways to the mode that draw numbers."""


@dataclass(frozen=True)
class Case:
    """What to call and on what; every field is plain data, and the defaults are the plainest case.

    ``change`` names what must not change the answer (see `fuzz.changes`), ``ask`` what is asked of the fit,
    ``flaw`` a mistake of the user: a pair of where (an argument) and what (a value, or the name of a way to
    spoil it).
    """

    call: str = "regressor"
    n: int = 5
    p: int = 1
    seed: int = 0
    design: str = "normal"
    twist: str = "none"
    x_scale: str = "none"
    x_exponent: int = 0
    y: str = "signal"
    y_exponent: int = 0
    dtype: str = "float64"
    container: str = "c"
    y_container: str = "array"
    weights: str = "none"
    offset: str = "none"
    classes: int = 2
    outputs: int = 1
    lives: str = "plain"
    options: dict[str, Any] = field(default_factory=dict)
    ask: str = "predict"
    change: str = "none"
    power: int = 3
    flaw: tuple[str, Any] | None = None

    @property
    def is_classifier(self) -> bool:
        """Whether y is labels."""
        return self.call.startswith("classifier")

    @property
    def is_survival(self) -> bool:
        """Whether y is times and events; ``lives`` says what else is known of them."""
        return self.call.startswith("survival")

    @property
    def averages(self) -> bool:
        """Whether the estimator is one that cross-validates and averages."""
        return self.call.endswith(" cv")

    @property
    def family(self) -> str:
        """The name of the family, whatever the call."""
        if self.is_classifier:
            return "binomial"
        if self.is_survival:
            return "cox"
        return str(self.options.get("family", "gaussian"))

    @property
    def is_location(self) -> bool:
        """Whether y has units."""
        return self.family.lower().startswith(
            ("gaussian", "student_t", "studentt", "laplace", "quantile", "huber")
        )

    @property
    def is_count(self) -> bool:
        """Whether y is a count."""
        return self.family.startswith(("poisson", "negative_binomial", "NegativeBinomial"))

    @property
    def is_amount(self) -> bool:
        """Whether y is an amount."""
        return self.family.lower().startswith(("gamma", "tweedie"))

    @property
    def is_binary(self) -> bool:
        """Whether y is one of two labels, or of more for a classifier."""
        return self.family.lower().startswith("binomial")

    def but(self, **changes: Any) -> Case:
        """Return the case with other values."""
        return replace(self, **changes)

    def to_json(self) -> str:
        """Return only what is not the default, on one line."""
        plain = asdict(Case())
        return json.dumps({name: value for name, value in asdict(self).items() if value != plain[name]})


def from_json(text: str) -> Case:
    """Return the case that `Case.to_json` wrote."""
    fields = json.loads(text)
    if fields.get("flaw") is not None:
        fields["flaw"] = tuple(fields["flaw"])
    return Case(**fields)


def kept() -> list[tuple[str, Case]]:
    """Return the cases that were kept, each with the name of its file."""
    paths = sorted(FOUND.glob("*.json"))
    return [(path.stem, from_json(json.dumps(json.loads(path.read_text())["case"]))) for path in paths]


def structure(options: dict[str, Any], p: int, order: Any = None) -> dict[str, Any]:
    """Return what is known of the columns, by name, as it is for p columns in some order."""
    order = range(p) if order is None else order
    known: dict[str, Any] = {
        "pairs": [int(j) // 2 for j in order],
        "one group": [0] * p,
        "fives and ones": [int(j) // 5 if j < p // 2 else f"alone {j}" for j in order],
        "first": [i for i, j in enumerate(order) if j == 0],
        "first two": [i for i, j in enumerate(order) if j < 2],
        "rising": [0.5 * 4.0 ** (int(j) / p) for j in order],
    }
    names = ("feature_groups", "unpenalized", "prior_scale")
    found = {n: options[n] for n in names if isinstance(options.get(n), str)}
    return options | {name: known.get(value, value) for name, value in found.items()}


def resolve(options: dict[str, Any]) -> dict[str, Any]:
    """Return the options with the objects in the place of their names."""
    return {
        name: OBJECTS.get(value, value) if isinstance(value, str) else value
        for name, value in options.items()
    }

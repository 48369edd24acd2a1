"""The rows of the experiment "adaptive": simulated truths, every row of Tables 3, 5 and 6, real data sets.

A row of a table has the very data sets of that table, and so has every method its very folds. Every problem
is scored by "Error", what is to be small, and by more where a truth is known or rows are left to test on.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np

from horseshoe_reproduction import table3, table5, table6
from horseshoe_reproduction.arrays import Matrix, Vector
from horseshoe_reproduction.designs import Base, Recipe, base
from horseshoe_reproduction.experiment import Fit, Kind, Problem, toeplitz_normal
from horseshoe_reproduction.scores import covered, excess, log_loss, loss, means, selection
from horseshoe_reproduction.splits import DESIGNS, REPLICATES, heading, split_problem
from horseshoe_reproduction.truths import CLASSES_AND_COUNTS, NEW_ROWS, TRUTHS, Population, Sample, observe

# Data sets of a row, unless it is one of Tables 5 and 6.
FULL = 100
# Rows to learn from where a data set is taken as it is.
REAL_ROWS = 100
WORDS = {"gaussian": "", "binomial": "binary-", "poisson": "count-"}
HEADINGS = {
    "dense": "dense, 100 x 200",
    "one": "one signal, 100 x 200",
    "none": "no signal, 100 x 200",
    "groups": "groups with rho .95, 100 x 200",
    "tall": "300 x 50",
    "heavy": "t2 noise, 100 x 200",
    "wide": "eight signals, 150 x 3,000",
    "widest": "eight signals, 100 x 10,000",
    "half": "half of all columns, 150 x 100",
    "geometric": "geometrically falling sizes, 120 x 240",
}


class Row(NamedTuple):
    """One row: a heading, the kind of response, how a data set is drawn, and of which sort it is.

    ``data`` is the data set that it needs, ``stream`` the table and setting whose data sets it has.
    """

    heading: str
    kind: Kind
    draw: Callable[[np.random.Generator], Problem]
    simulated: bool
    replicates: int = FULL
    data: str | None = None
    stream: tuple[str, str] | None = None


def truth_rows(tuning: bool = False) -> dict[str, Row]:
    """Return the rows of the simulated truths.

    Examples
    --------
    >>> list(truth_rows())[-3:]
    ['count-groups', 'count-tall', 'count-heavy']
    """
    found = {}
    kinds: tuple[Kind, ...] = ("gaussian", "binomial", "poisson")
    for kind in kinds:
        for name in TRUTHS if kind == "gaussian" else CLASSES_AND_COUNTS:
            title = WORDS[kind].replace("-", ", ") + HEADINGS[name]
            title += " (tuning: other sizes)" if tuning else ""
            draw = partial(draw_truth, name, kind, tuning=tuning)
            found[WORDS[kind] + name] = Row(title, kind, draw, simulated=True)
    return found


def draw_truth(name: str, kind: Kind, rng: np.random.Generator, tuning: bool = False) -> Problem:
    """Draw one data set of a truth.

    Examples
    --------
    >>> problem = draw_truth("one", "gaussian", np.random.default_rng(0))
    >>> scores = problem.score(Fit(np.zeros(200), 0.5))  # a missed effect of 1, and the intercept
    >>> scores["Error"], scores["Empty"], round(scores["Truth"], 1)
    (1.25, 1.0, 1.0)
    """
    population = TRUTHS[name](rng, tuning)
    sample = observe(population, kind, rng)
    return Problem(kind, sample.X, sample.y, partial(_score, population, sample), sample.new)


def _score(population: Population, sample: Sample, fit: Fit) -> dict[str, float]:
    """Score a fit to a simulated data set: in closed form for a Gaussian response.

    "Truth" is what the truth itself loses on fresh rows: the part of the error of a prediction that is noise.
    """
    if sample.kind == "gaussian":
        error = population.design.variance(fit.coef - sample.coef) + (fit.intercept - sample.intercept) ** 2
    else:
        error = excess(sample.kind, sample.new_mean, means(fit, sample.kind, sample.new))
    noise = loss(sample.kind, sample.new_y, sample.new_mean)
    return {
        "Error": error,
        "Truth": noise,
        **selection(fit, sample.coef),
        **_rows_covered(fit, sample.new_y),
    }


def _rows_covered(fit: Fit, y: Vector) -> dict[str, float]:
    if fit.intervals is None or not fit.intervals[1].size:
        return {}
    return {"Rows covered": covered(fit.intervals[1], y)}


def draw_table3(setting: str, rng: np.random.Generator) -> Problem:
    """Draw a data set of Table 3, and fresh rows after it.

    Examples
    --------
    >>> problem = draw_table3("rho=0.7,sigma2=9", np.random.default_rng(0))
    >>> scores = problem.score(Fit(table3.truth()))
    >>> scores["Error"], scores["True"], scores["False"], round(scores["Truth"])
    (0.0, 20.0, 0.0, 9)
    """
    problem, beta = table3.draw(setting, rng), table3.truth()
    rho, sigma2 = table3.SETTINGS[setting]
    new = toeplitz_normal(NEW_ROWS, beta.size, rho, rng)
    new_y = new @ beta + np.sqrt(sigma2) * rng.standard_normal(NEW_ROWS)

    def score(fit: Fit) -> dict[str, float]:
        error = problem.score(fit)["MSE"]
        noise = loss("gaussian", new_y, new @ beta)
        return {"Error": error, "Truth": noise, **selection(fit, beta), **_rows_covered(fit, new_y)}

    return Problem("gaussian", problem.X, problem.y, score, new)


def draw_split(kind: Kind, data: Base, rows: int, unit: float, rng: np.random.Generator) -> Problem:
    """Draw a split of a data set, scored by squared error (times ``unit``) or log loss on the other rows.

    Examples
    --------
    >>> plain = base("diabetes")._replace(recipe=PLAIN)
    >>> draw_split("gaussian", plain, 100, 1.0, np.random.default_rng(0)).design.shape
    (100, 10)
    """

    def score(fit: Fit, X: Matrix, y: Vector) -> dict[str, float]:
        found = means(fit, kind, X)
        error = log_loss(y, found) if kind == "binomial" else unit * excess("gaussian", y, found)
        return {"Error": error, **_rows_covered(fit, y)}

    return split_problem(kind, data, rows, rng, score)


# Nothing is added to the columns of a data set.
PLAIN = Recipe(noise=0, interactions=False, powers=False)


def _split_row(title: str, kind: Kind, data: str, rows: int, plain: bool = False) -> Row:
    """Return the row of a real data set; it is loaded when it is first drawn from."""

    def draw(rng: np.random.Generator) -> Problem:
        columns = base(data)._replace(recipe=PLAIN) if plain else base(data)
        return draw_split(kind, columns, rows, table5.UNIT.get(data, 1.0), rng)

    return Row(title, kind, draw, simulated=False, data=data)


def table_rows() -> dict[str, Row]:
    """Return every row of Tables 3, 5 and 6.

    Examples
    --------
    >>> list(table_rows())[3:6], table_rows()["table6-pima-200"].stream
    (['table3-0.7-9', 'table5-diabetes', 'table5-boston'], ('table6', 'pima,n=200'))
    """
    found = {}
    for setting, (rho, sigma2) in table3.SETTINGS.items():
        title = f"Table 3, rho = {rho:g}, sigma2 = {sigma2:g}"
        row = Row(title, "gaussian", partial(draw_table3, setting), True, stream=("table3", setting))
        found[f"table3-{rho:g}-{sigma2:g}"] = row
    for name in table5.SETTINGS:
        row = _split_row(f"Table 5, {heading(name, table5.ROWS)}", "gaussian", name, table5.ROWS)
        found[f"table5-{name}"] = row._replace(replicates=REPLICATES, stream=("table5", name))
    for setting, (name, rows) in table6.SETTINGS.items():
        row = _split_row(f"Table 6, {heading(name, rows)}", "binomial", name, rows)
        found[f"table6-{name}-{rows}"] = row._replace(replicates=REPLICATES, stream=("table6", setting))
    return found


def real_rows() -> dict[str, Row]:
    """Return the six data sets as they are, without added columns; 100 rows to learn from.

    Examples
    --------
    >>> list(real_rows())
    ['real-diabetes', 'real-boston', 'real-concrete', 'real-eye', 'real-pima', 'real-heart']
    """
    found = {}
    for name, (title, _) in DESIGNS.items():
        kind: Kind = "binomial" if name in table6.SETS else "gaussian"
        found[f"real-{name}"] = _split_row(f"{title} as it is", kind, name, REAL_ROWS, plain=True)
    return found

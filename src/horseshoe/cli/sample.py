"""The command ``horseshoe sample``."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.box import SIMPLE_HEAD
from rich.table import Table

from horseshoe.cli import options as given
from horseshoe.cli.shared import cell, json_text, line, progress_on, said_warnings, standard_output, told
from horseshoe.threads import one_thread

MOST = 30
"""So many columns are printed, the surest first; --json has all."""
SHOWN = ("mean", "std", "lower", "upper", "sign_probability", "ess_bulk", "rhat")
HEADINGS = ("mean", "sd", "from", "to", "P(sign)", "ESS", "R-hat")
EXAMPLES = """
Examples:

  horseshoe sample diabetes --target progression

  horseshoe sample patients.csv --target died --draws 4000 --out draws.csv
"""


@one_thread()
def sample(
    data: given.Data,
    target: given.Target = None,
    family: given.FamilyName = None,
    formula: given.FormulaText = None,
    missing: given.MissingWay = None,
    weights: given.Weights = None,
    offset: given.Offset = None,
    exposure: given.Exposure = None,
    event: given.Event = None,
    entry: given.Entry = None,
    strata: given.Strata = None,
    quantile: given.QuantileLevel = None,
    levels: given.Levels = None,
    drop: given.Drop = None,
    columns: given.Columns = None,
    categorical: given.Categorical = None,
    numeric: given.Numeric = None,
    missing_value: given.MissingValue = None,
    decimal: given.DecimalSign = None,
    unpenalized: given.Unpenalized = None,
    draws: Annotated[
        int, typer.Option(min=1, help="Draws of each chain.", rich_help_panel=given.MODEL)
    ] = 1000,
    warmup: Annotated[
        int, typer.Option(min=0, help="Draws before them that are thrown away.", rich_help_panel=given.MODEL)
    ] = 1000,
    chains: Annotated[int, typer.Option(min=1, help="Chains.", rich_help_panel=given.MODEL)] = 4,
    level: given.Level = 0.95,
    seed: given.Seed = 0,
    jobs: given.Jobs = None,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Write the draws to this file: .csv, one row a draw, or .npz, arrays with the chain first.",
            rich_help_panel=given.OUTPUT,
        ),
    ] = None,
    quiet: given.Quiet = False,
    as_json: given.AsJson = False,
) -> None:
    """Draw from the whole posterior: means, intervals, how sure each sign is, and whether chains agree."""
    from horseshoe.cli.fitting import (
        Wishes,
        ask_of,
        check_output,
        fit_question,
        make_estimator,
        structure_of,
    )

    with told(ValueError), said_warnings():
        check_output(out, data)
        if out is not None and out.suffix not in (".csv", ".npz"):
            raise ValueError(f"--out {out}: the name must end in .csv or .npz")
        wishes = Wishes(
            *(target, family, formula, missing, weights, offset, exposure),
            *(drop, columns, categorical, numeric, event, entry, strata),
            quantile=quantile,
            levels=levels,
            missing_values=missing_value,
            decimal=decimal,
            unpenalized=unpenalized,
        )
        question = ask_of(data, wishes)
        _check_one_regression(question)
        known = structure_of(question, unpenalized)
        model, _ = fit_question(
            question, make_estimator(question, averaged=False, random_state=seed, **known)
        )
        with progress_on("sample", patient=True, quiet=quiet) as show:
            posterior = model.sample_posterior(
                n_draws=draws,
                n_warmup=warmup,
                n_chains=chains,
                n_jobs=jobs,
                progress=lambda news: show(news.sweeps, news.n_sweeps),
            )
        if out is not None:
            _write_draws(posterior, out)
        table = posterior.summary(level)
        if as_json:
            from horseshoe.cli.answer import plain

            said = {"notes": list(question.notes), "warnings": list(question.warnings)}
            rows = plain(table.to_dict("records"))
            scale = {"scale": scale_of(question)}
            typer.echo(json_text({"target": question.target} | scale | said | {"columns": rows}))
            return
        _print(question, posterior, table, level, out)


def _check_one_regression(question: Any) -> None:
    """Refuse more than two classes before anything takes time: they have a posterior each."""
    number = len(question.classes)
    if number > 2:
        raise ValueError(
            f"{question.target} has {number} classes, and draws are of one against the rest: make a column "
            "that says yes or no to one class, and ask for that, or use horseshoe fit --estimator posterior"
        )


def scale_of(question: Any) -> str:
    """Return what the coefficients are changes of.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> scale_of(SimpleNamespace(family="classes", classes=("no", "yes"), target="ill"))
    'the log odds of yes'
    """
    if question.family == "classes":
        return f"the log odds of {question.classes[-1]}"
    if question.family == "binomial":
        return f"the log odds of {question.target}"
    if question.family == "survival":
        return f"the log of the hazard of {question.recipe.event}"
    if question.family == "ordinal":
        return f"the log odds of a higher {question.target}"
    if question.family == "quantile":
        return f"the {question.likelihood.level:g} quantile of {question.target}"
    if question.family in ("poisson", "negative_binomial", "gamma", "tweedie"):
        return f"the log of the mean of {question.target}"
    return str(question.target)


def _print(question: Any, posterior: Any, table: Any, level: float, out: Path | None) -> None:
    import numpy as np  # late: the help comes at once

    from horseshoe.report.digits import significant

    console = standard_output()
    for note in question.notes:
        console.print(line(note, "dim"))
    for warning in question.warnings:
        console.print(line(f"Warning: {warning}", "bold"))
    chains, draws, _ = posterior.coef.shape
    said = f"The posterior of {question.target}, from {chains} chains of {draws} draws"
    console.print(line(f"{said}; intervals of {level:.6g}."))
    if scale_of(question) != question.target:
        console.print(line(f"Effects are changes of {scale_of(question)} for one unit of a column."))
    surest = np.abs(table["mean"]) / table["std"].where(table["std"] > 0.0, np.inf)
    order = np.argsort(-surest, kind="stable")
    grid = Table(box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1))
    grid.add_column("column", overflow="fold", min_width=6)
    for name in HEADINGS:
        grid.add_column(name, justify="right", no_wrap=True)
    for row in table.iloc[order[:MOST]].to_dict("records"):
        grid.add_row(cell(str(row["feature"])), *(significant(float(row[name])) for name in SHOWN))
    console.print(grid)
    if len(table) > MOST:
        console.print(line(f"  The {MOST} surest of {len(table):,} columns.", "dim"))
    if out is not None:
        console.print(line(f"Draws written to {out}"), soft_wrap=True)


def _scalars(posterior: Any) -> dict[str, Any]:
    """Return what is drawn beside the coefficients, one number a draw each."""
    from horseshoe.families import Ordered

    family = posterior.family
    if isinstance(family, Ordered):
        names = [str(word) for word in family.levels_.tolist()]
        between = [f"threshold[{low}|{high}]" for low, high in pairwise(names)]
        return {name: posterior.nuisance[..., k] for k, name in enumerate(between)} | {"tau2": posterior.tau2}
    names = ["intercept", "tau2", "sigma2"] if family.has_intercept else ["tau2"]
    return {name: getattr(posterior, name) for name in names}


def _write_draws(posterior: Any, out: Path) -> None:
    import numpy as np

    from horseshoe.files import csv_text, write_file, write_text

    chains, draws, _ = posterior.coef.shape
    scalars = _scalars(posterior)
    if out.suffix == ".npz":
        names = np.array([str(name) for name in posterior.feature_names])
        write_file(out, lambda file: np.savez(file, coef=posterior.coef, feature_names=names, **scalars))
        return
    header = ("chain", "draw", *scalars, *(f"coef[{name}]" for name in posterior.feature_names))
    rows = (
        (c, d, *(values[c, d] for values in scalars.values()), *posterior.coef[c, d].tolist())
        for c in range(chains)
        for d in range(draws)
    )
    write_text(out, csv_text(header, rows))

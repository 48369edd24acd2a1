"""The command ``horseshoe sample``."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.box import SIMPLE_HEAD
from rich.table import Table

from horseshoe.cli import options as cli
from horseshoe.cli.options import CliOptions, with_cli_options
from horseshoe.cli.progress import show_progress
from horseshoe.cli.terminal import cell, json_text, line, print_notes, standard_output

# The most columns that are printed, those with the clearest sign first; --json has all.
MAX_ROWS = 30
SHOWN = ("mean", "std", "lower", "upper", "sign_probability", "ess_bulk", "rhat")
HEADINGS = ("mean", "sd", "from", "to", "P(sign)", "ESS", "R-hat")
EXAMPLES = """
Examples:

  horseshoe sample diabetes --target progression

  horseshoe sample patients.csv --target died --draws 4000 --out draws.csv
"""


@with_cli_options
def sample(
    data: cli.Data,
    options: CliOptions,
    draws: Annotated[int, cli.of_model(min=1, help="Draws of each chain.")] = 1000,
    warmup: Annotated[int, cli.of_model(min=0, help="Draws before them that are thrown away.")] = 1000,
    chains: Annotated[int, cli.of_model(min=1, help="Chains.")] = 4,
    level: cli.Level = 0.95,
    seed: cli.Seed = 0,
    jobs: cli.Jobs = None,
    out: Annotated[
        Path | None,
        cli.of_output(
            help="Write the draws to this file: .csv, one row a draw, or .npz, arrays with the chain first."
        ),
    ] = None,
    quiet: cli.Quiet = False,
    as_json: cli.AsJson = False,
) -> None:
    """Draw from the whole posterior: means, intervals, how sure each sign is, and whether chains agree."""
    from horseshoe.cli.fitting import (
        check_output,
        column_structure,
        fit_problem,
        make_estimator,
        read_problem,
    )

    check_output(out, data)
    if out is not None and out.suffix not in (".csv", ".npz"):
        raise ValueError(f"--out {out}: the name must end in .csv or .npz")
    problem = read_problem(data, options)
    _check_one_regression(problem)
    settings = column_structure(problem, options.unpenalized)
    model, _ = fit_problem(problem, make_estimator(problem, averaged=False, random_state=seed, **settings))
    with show_progress("sample", patient=True, quiet=quiet) as report:
        posterior = model.sample_posterior(
            n_draws=draws,
            n_warmup=warmup,
            n_chains=chains,
            n_jobs=jobs,
            progress=lambda news: report(news.sweeps, news.n_sweeps, ""),
        )
    if out is not None:
        _write_draws(posterior, out)
    table = posterior.summary(level)
    if as_json:
        from horseshoe.cli.answer import plain

        notes = {"notes": list(problem.notes), "warnings": list(problem.warnings)}
        found = {"target": problem.target, "scale": scale_of(problem)} | notes
        typer.echo(json_text(found | {"columns": plain(table.to_dict("records"))}))
    else:
        _print(problem, posterior, table, level, out)


def _check_one_regression(problem: Any) -> None:
    """Refuse more than two classes before anything takes time: they have a posterior each."""
    number = len(problem.classes)
    if number > 2:
        raise ValueError(
            f"{problem.target} has {number} classes, and draws are of one against the rest: make a column "
            "that says yes or no to one class, and ask for that, or use horseshoe fit --estimator posterior"
        )


def scale_of(problem: Any) -> str:
    """Return what the coefficients are changes of.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> scale_of(SimpleNamespace(family="classes", classes=("no", "yes"), target="ill"))
    'the log odds of yes'
    """
    if problem.family == "classes":
        return f"the log odds of {problem.classes[-1]}"
    if problem.family == "binomial":
        return f"the log odds of {problem.target}"
    if problem.family == "survival":
        return f"the log of the hazard of {problem.recipe.event}"
    if problem.family == "ordinal":
        return f"the log odds of a higher {problem.target}"
    if problem.family == "quantile":
        return f"the {problem.likelihood.level:g} quantile of {problem.target}"
    if problem.family in ("poisson", "negative_binomial", "gamma", "tweedie"):
        return f"the log of the mean of {problem.target}"
    return str(problem.target)


def _print(problem: Any, posterior: Any, table: Any, level: float, out: Path | None) -> None:
    import numpy as np  # late: the help comes at once

    from horseshoe.report.number_text import format_number

    console = standard_output()
    print_notes(console, problem)
    chains, draws, _ = posterior.coef.shape
    start = f"The posterior of {problem.target}, from {chains} chains of {draws} draws"
    console.print(line(f"{start}; intervals of {level:.6g}."))
    if scale_of(problem) != problem.target:
        console.print(line(f"Effects are changes of {scale_of(problem)} for one unit of a column."))
    surest = np.abs(table["mean"]) / table["std"].where(table["std"] > 0.0, np.inf)
    order = np.argsort(-surest, kind="stable")
    grid = Table(box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1))
    grid.add_column("column", overflow="fold", min_width=6)
    for name in HEADINGS:
        grid.add_column(name, justify="right", no_wrap=True)
    for row in table.iloc[order[:MAX_ROWS]].to_dict("records"):
        grid.add_row(cell(str(row["feature"])), *(format_number(float(row[name])) for name in SHOWN))
    console.print(grid)
    if len(table) > MAX_ROWS:
        console.print(line(f"  The {MAX_ROWS} surest of {len(table):,} columns.", "dim"))
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

"""The command ``horseshoe fit``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from horseshoe.cli import options as cli
from horseshoe.cli.options import CliOptions, with_cli_options
from horseshoe.cli.progress import show_progress
from horseshoe.cli.terminal import command_line, json_text, line, standard_output

if TYPE_CHECKING:
    from horseshoe.cli.answer import Answer
    from horseshoe.intake.problem import PreparedProblem

# The facts on the data in --json.
EXAMPLES = """
Examples:

  horseshoe fit diabetes --target progression

  horseshoe fit patients.csv --target died --report report.html --model model.json

  horseshoe fit study.csv --target months --event status=dead --strata clinic

  horseshoe fit survey.csv --target pain --levels none,mild,moderate,severe

  horseshoe fit claims.parquet --formula 'claims ~ age*region + log(power)' --exposure years

  zcat big.csv.gz | horseshoe fit - --target y --missing drop --json > answer.json

  horseshoe fit cohort.bed --target pheno.tsv:bmi --estimator mode --model model.json --checkpoint fit.npz
"""
FACTS = (
    *("family", "rows_read", "rows_dropped", "cells_imputed", "rows_imputed", "imputed_columns"),
    *("dropped_gaps", "dropped_columns"),
)


@with_cli_options
def fit(
    data: cli.Data,
    options: CliOptions,
    estimator: Annotated[
        cli.Estimator,
        cli.of_model(
            help="adaptive: the model average, which adapts to the unknown sparsity. mode: the paper's "
            "single sparse mode. posterior: that mode, with intervals from draws of the whole posterior.",
        ),
    ] = cli.Estimator.ADAPTIVE,
    level: cli.Level = 0.95,
    cv: Annotated[int, cli.of_model(min=2, help="Folds of the cross-validation.")] = 10,
    seed: cli.Seed = None,
    jobs: cli.Jobs = None,
    model: Annotated[
        Path | None, cli.of_output(help="Write the model to this file, for horseshoe predict.")
    ] = None,
    report: Annotated[Path | None, cli.of_output(help="Write a report to this HTML file.")] = None,
    checkpoint: Annotated[
        Path | None,
        cli.of_output(
            metavar="FILE",
            help="Keep the state of a long fit here; the same command goes on from it, to the same answer.",
        ),
    ] = None,
    quiet: cli.Quiet = False,
    as_json: cli.AsJson = False,
) -> None:
    """Say which columns matter for the target, by how much, and how sure that is."""
    from horseshoe.cli.answer import as_plain, print_answer
    from horseshoe.cli.fitting import (
        check_classes,
        check_output,
        column_structure,
        fit_problem,
        make_estimator,
        read_problem,
    )

    check_output(model, data)
    check_output(report, data, model)
    check_output(checkpoint, data, model, report)
    problem = read_problem(data, options)
    averaged = estimator is cli.Estimator.ADAPTIVE
    if averaged:
        check_classes(problem)
    settings: dict[str, Any] = {"cv": cv, "n_jobs": jobs} if averaged else {}
    settings |= column_structure(problem, options.unpenalized)
    unfitted = make_estimator(problem, averaged, random_state=seed, **settings)
    with show_progress("fit", patient=True, quiet=quiet) as progress:
        fitted, seconds = fit_problem(problem, unfitted, progress, checkpoint)
    method = "posterior" if estimator is cli.Estimator.POSTERIOR else "auto"
    answer = _answer(fitted, problem, level, method)
    written = _write(answer, problem, model, report, seconds)
    if as_json:
        typer.echo(json_text(as_plain(answer) | {"files": written}))
        return
    console = standard_output()
    print_answer(console, answer)
    for what, name in written.items():
        console.print()
        console.print(line(f"{what.capitalize()} written to {name}"), soft_wrap=True)


def _answer(fitted: Any, problem: PreparedProblem, level: float, method: str) -> Answer:
    from horseshoe.cli.answer import Answer

    facts = {"source": problem.name} | {name: getattr(problem, name) for name in FACTS}
    return Answer(
        *(fitted, level, problem.target, problem.terms, method, problem.notes, problem.warnings, facts)
    )


def _write(
    answer: Answer, problem: PreparedProblem, model: Path | None, report: Path | None, seconds: float
) -> dict[str, str]:
    """Write what is asked for; return where each is."""
    written = {}
    if model is not None:
        from horseshoe.estimators.saving import save_model

        recipe = problem.recipe.for_model(answer.model)
        written["model"] = str(save_model(answer.model, model, recipe=recipe.to_plain()))
    if report is not None:
        from horseshoe.files import write_text

        written["report"] = str(write_text(report, _page(answer, problem, seconds)))
    return written


def _page(answer: Answer, problem: PreparedProblem, seconds: float) -> str:
    from horseshoe.intake.messages import counted
    from horseshoe.intake.recipe_notes import encodings_of, fillings_of, gaps_of_rows, missing_sentences
    from horseshoe.report.page.build import ReportInput, build_page
    from horseshoe.report.page.html import render

    recipe = problem.recipe
    facts = [("Rows read", f"{problem.rows_read:,}")] if problem.rows_dropped else []
    facts += [("Rows dropped", f"{problem.rows_dropped:,}")] if problem.rows_dropped else []
    if problem.cells_imputed:
        rows = counted(problem.rows_imputed, "row")
        facts.append(("Values filled in", f"{problem.cells_imputed:,} in {rows}"))
    asked = ReportInput(
        problem.X,
        problem.y,
        problem.weights,
        problem.offset,
        problem.exposure,
        entry=problem.entry,
        strata=problem.strata,
        event=getattr(recipe, "event", None) or "",
        target=problem.target,
        source=problem.name,
        terms=problem.terms,
        dropped=tuple(problem.dropped_columns.items()),
        encoded=encodings_of(recipe),
        imputed=fillings_of(recipe, problem.imputed_columns),
        gaps=gaps_of_rows(problem.dropped_gaps),
        missing=missing_sentences(problem),
        notes=problem.notes,
        warnings=problem.warnings,
        facts=facts,
        command=command_line(),
        seconds=seconds,
    )
    return render(build_page(answer.model, asked, answer.level, answer.method))

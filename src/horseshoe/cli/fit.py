"""The command ``horseshoe fit``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from horseshoe.cli import options as given
from horseshoe.cli.shared import (
    command_line,
    json_text,
    line,
    progress_on,
    said_warnings,
    standard_output,
    told,
)
from horseshoe.threads import one_thread

if TYPE_CHECKING:
    from horseshoe.cli.answer import Answer
    from horseshoe.intake.problem import PreparedProblem

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


@one_thread()
def fit(
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
    estimator: given.EstimatorName = given.Estimator.ADAPTIVE,
    unpenalized: given.Unpenalized = None,
    level: given.Level = 0.95,
    cv: Annotated[
        int, typer.Option(min=2, help="Folds of the cross-validation.", rich_help_panel=given.MODEL)
    ] = 10,
    seed: Annotated[
        int | None,
        typer.Option(
            min=0,
            help="Of folds and draws; without one the same data have the same.",
            rich_help_panel=given.MODEL,
        ),
    ] = None,
    jobs: given.Jobs = None,
    model: Annotated[
        Path | None,
        typer.Option(
            help="Write the model to this file, for horseshoe predict.", rich_help_panel=given.OUTPUT
        ),
    ] = None,
    report: Annotated[
        Path | None,
        typer.Option(help="Write a report to this HTML file.", rich_help_panel=given.OUTPUT),
    ] = None,
    checkpoint: given.Checkpoint = None,
    quiet: given.Quiet = False,
    as_json: given.AsJson = False,
) -> None:
    """Say which columns matter for the target, by how much, and how sure that is."""
    from horseshoe.cli.answer import as_plain, print_answer
    from horseshoe.cli.fitting import (
        Wishes,
        ask_of,
        check_classes,
        check_output,
        fit_question,
        make_estimator,
        structure_of,
    )

    with told(ValueError), said_warnings():
        check_output(model, data)
        check_output(report, data, model)
        check_output(checkpoint, data, model, report)
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
        averaged = estimator is given.Estimator.ADAPTIVE
        if averaged:
            check_classes(question)
        extra: dict[str, Any] = {"cv": cv, "n_jobs": jobs} if averaged else {}
        extra |= structure_of(question, unpenalized)
        model_of = make_estimator(question, averaged, random_state=seed, **extra)
        with progress_on("fit", patient=True, quiet=quiet) as show:
            fitted, seconds = fit_question(question, model_of, show, checkpoint)
        method = "posterior" if estimator is given.Estimator.POSTERIOR else "auto"
        answer = _answer(fitted, question, level, method)
        written = _write(answer, question, model, report, seconds)
        if as_json:
            typer.echo(json_text(as_plain(answer) | {"files": written}))
        else:
            console = standard_output()
            print_answer(console, answer)
            for what, name in written.items():
                console.print()
                console.print(line(f"{what.capitalize()} written to {name}"), soft_wrap=True)


def _answer(fitted: Any, question: PreparedProblem, level: float, method: str) -> Answer:
    from horseshoe.cli.answer import Answer

    facts = {
        "source": question.name,
        "family": question.family,
        "rows_read": question.rows_read,
        "rows_dropped": question.rows_dropped,
        "cells_imputed": question.cells_imputed,
        "rows_imputed": question.rows_imputed,
        "imputed_columns": question.imputed_columns,
        "dropped_gaps": question.dropped_gaps,
        "dropped_columns": question.dropped_columns,
    }
    return Answer(
        *(fitted, level, question.target, question.terms, method, question.notes, question.warnings, facts)
    )


def _write(
    answer: Answer, question: PreparedProblem, model: Path | None, report: Path | None, seconds: float
) -> dict[str, str]:
    """Write what is asked for; return where each is."""
    written = {}
    if model is not None:
        from horseshoe.estimators.saving import save_model

        recipe = question.recipe.for_model(answer.model)
        written["model"] = str(save_model(answer.model, model, recipe=recipe.to_plain()))
    if report is not None:
        from horseshoe.files import write_text

        written["report"] = str(write_text(report, _page(answer, question, seconds)))
    return written


def _page(answer: Answer, question: PreparedProblem, seconds: float) -> str:
    from horseshoe.intake.messages import counted
    from horseshoe.intake.recipe_notes import encodings_of, fillings_of, gaps_of_rows, missing_sentences
    from horseshoe.report.page.build import ReportInput, build_page
    from horseshoe.report.page.html import render

    recipe = question.recipe
    facts = [("Rows read", f"{question.rows_read:,}")] if question.rows_dropped else []
    facts += [("Rows dropped", f"{question.rows_dropped:,}")] if question.rows_dropped else []
    if question.cells_imputed:
        rows = counted(question.rows_imputed, "row")
        facts.append(("Values filled in", f"{question.cells_imputed:,} in {rows}"))
    asked = ReportInput(
        question.X,
        question.y,
        question.weights,
        question.offset,
        question.exposure,
        entry=question.entry,
        strata=question.strata,
        event=getattr(recipe, "event", None) or "",
        target=question.target,
        source=question.name,
        terms=question.terms,
        dropped=tuple(question.dropped_columns.items()),
        encoded=encodings_of(recipe),
        imputed=fillings_of(recipe, question.imputed_columns),
        gaps=gaps_of_rows(question.dropped_gaps),
        missing=missing_sentences(question),
        notes=question.notes,
        warnings=question.warnings,
        facts=facts,
        command=command_line(),
        seconds=seconds,
    )
    return render(build_page(answer.model, asked, answer.level, answer.method))

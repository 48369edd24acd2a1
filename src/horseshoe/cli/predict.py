"""The command ``horseshoe predict``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from horseshoe.cli import options as cli
from horseshoe.cli.model_file import open_model
from horseshoe.cli.terminal import notice, write_data

if TYPE_CHECKING:
    from horseshoe.intake.read import Table
    from horseshoe.intake.recipe import Recipe

EXAMPLES = """
Examples:

  horseshoe predict model.json new.csv

  horseshoe predict model.json new.csv --out predictions.csv --keep patient
"""


def predict(
    model: cli.ModelFile,
    data: cli.Data,
    out: Annotated[
        Path | None, typer.Option(help="Write to this CSV file instead of standard output.")
    ] = None,
    level: cli.Level = 0.95,
    missing: Annotated[
        list[str] | None,
        typer.Option(
            metavar="WAY",
            help="What to do with missing values: error, drop or median; COLUMN=WAY for one column; "
            "repeated. As in the fit by default.",
        ),
    ] = None,
    keep: Annotated[
        list[str] | None,
        typer.Option(metavar="COLUMN", help="A column of DATA to write beside the prediction; repeated."),
    ] = None,
    decimal: cli.DecimalSign = None,
) -> None:
    """Predict new rows: a CSV with the row, the prediction and its interval, or probabilities of classes.

    For survival that is the risk: the logarithm of a hazard ratio, to compare rows by.
    Columns are matched by name, whatever their order.
    """
    from horseshoe.cli.fitting import check_output
    from horseshoe.data.sources.genotypes import is_bed_file
    from horseshoe.files import csv_text, write_text
    from horseshoe.intake.genotype_recipe import GenotypeRecipe
    from horseshoe.intake.read import read_table

    check_output(out, data, model)
    fitted, recipe = open_model(model)
    if isinstance(recipe, GenotypeRecipe) or (data != "-" and is_bed_file(data)):
        rows = _genotypes(recipe, data, missing, keep)
    else:
        stdin = sys.stdin.buffer if data == "-" else None
        about = {} if recipe is None else _about(recipe)
        table = read_table(data, stdin=stdin, decimal=decimal, **about)
        rows = _new_rows(fitted, recipe, table, missing or None, keep or [])
    answers = _predicted(fitted, rows, level)
    for name in rows.beside:
        if name in {"row", *answers}:
            raise ValueError(f"--keep {name}: the output has a column of that name; rename it in the table")
    columns = {"row": rows.numbers + 1} | rows.beside | answers
    for text in (*rows.notes, *(f"Warning: {warning}" for warning in rows.warnings)):
        notice(text)
    predictions = csv_text(
        tuple(columns), zip(*(column.tolist() for column in columns.values()), strict=True)
    )
    if out is None:
        write_data(predictions)
    else:
        write_text(out, predictions)
        notice(f"{len(rows.numbers):,} predictions written to {out}")


class NewRows(NamedTuple):
    """The rows of a table as a model takes them; ``numbers`` says which of the table they are, from 0.

    ``known`` are offset and exposure; ``beside`` are the columns to write beside the predictions.
    """

    X: Any
    numbers: Any
    known: dict[str, Any]
    notes: tuple[str, ...]
    beside: dict[str, Any]
    warnings: tuple[str, ...] = ()


def _about(recipe: Recipe) -> dict[str, Any]:
    """Return how tables of new rows are read: as the table of the fit was."""
    return {"words": tuple(recipe.levels), "usual": recipe.decimal, "used": set(recipe.columns)}


def _genotypes(recipe: Any, data: str, missing: list[str] | None, keep: list[str] | None) -> NewRows:
    """Return the individuals of a .bed file; their ids are written beside the predictions."""
    import numpy as np  # late: the help comes at once

    from horseshoe.data.sources.genotypes import is_bed_file, open_bed
    from horseshoe.intake.genotype_recipe import GenotypeRecipe
    from horseshoe.intake.missing_values import read_missing_policy

    if not isinstance(recipe, GenotypeRecipe):
        raise ValueError(f"{data} holds genotypes, and the model was not fitted to any with horseshoe fit")
    if not is_bed_file(data):
        raise ValueError(f"the model was fitted to genotypes: name a .bed file instead of {data}")
    if keep:
        raise ValueError(
            f"--keep {keep[0]}: a .bed file has no other columns; fid and iid are written anyway"
        )
    bed = open_bed(data)
    ways = read_missing_policy(missing or "error")
    if ways.named:
        raise ValueError("--missing COLUMN=WAY is for tables: genotypes have one way for all SNPs")
    applied = recipe.apply(bed, ways.rest)
    people = {"fid": np.asarray(bed.fid), "iid": np.asarray(bed.iid)}
    return NewRows(applied.X, np.arange(bed.iid_count), {}, applied.notes, people)


def _new_rows(
    model: Any, recipe: Recipe | None, table: Table, missing: list[str] | None, keep: list[str]
) -> NewRows:
    import numpy as np  # late: the help comes at once

    n = len(table.frame)
    if recipe is None:
        every = np.arange(n)
        beside = _kept(table.frame, keep, every)
        return NewRows(_by_name(model, table), every, {}, table.notes_of(table.column_notes), beside)
    applied = recipe.apply(table.frame, missing)
    left = np.setdiff1d(np.arange(n), np.array(applied.dropped, dtype=int) - 1)
    known = {"offset": applied.offset, "exposure": applied.exposure}
    given_ones = {name: values for name, values in known.items() if values is not None}
    beside = _kept(table.frame, keep, left)
    notes = (*table.notes_of(recipe.columns), *applied.notes)
    return NewRows(applied.X, left, given_ones, notes, beside, applied.warnings)


def _by_name(model: Any, table: Table) -> Any:
    """Return the columns of a model that was saved in Python: by name, if it knows names."""
    names = getattr(model, "feature_names_in_", None)
    if names is None:
        return table.frame.to_numpy()
    absent = [name for name in names if name not in table.frame.columns]
    if absent:
        few = ", ".join(map(repr, absent[:5])) + (f" and {len(absent) - 5} more" if len(absent) > 5 else "")
        raise ValueError(f"{table.name} lacks columns of the model: {few}")
    return table.frame[list(names)]


def _kept(frame: Any, names: list[str], rows: Any) -> dict[str, Any]:
    """Return the columns to write beside the prediction."""
    from horseshoe.intake.messages import shown

    for name in names:
        if name not in frame.columns:
            raise ValueError(f"--keep {shown(name)}: there is no such column")
    return {name: frame[name].iloc[rows].astype(object) for name in names}


def _predicted(model: Any, rows: NewRows, level: float) -> dict[str, Any]:
    """Return the columns of the output."""
    if hasattr(model, "classes_"):
        offset = {name: values for name, values in rows.known.items() if name == "offset"}
        shares = model.predict_proba(rows.X, **offset)
        columns = {f"p({label})": shares[:, k] for k, label in enumerate(model.classes_.tolist())}
        return {"prediction": model.predict(rows.X, **offset), **columns}
    method = {} if hasattr(model, "components_") else {"method": "mode"}
    name = "prediction" if model.family_.has_intercept else "risk"
    found = {name: model.predict(rows.X, **rows.known)}
    if hasattr(model, "predict_interval"):
        interval = model.predict_interval(rows.X, level=level, **method, **rows.known)
        found |= {"lower": interval[:, 0], "upper": interval[:, 1]}
    if hasattr(model, "levels_") and hasattr(model, "predict_proba"):
        shares = model.predict_proba(rows.X, **rows.known)
        names = [f"{one:g}" if isinstance(one, float) else str(one) for one in model.levels_.tolist()]
        found |= {f"p({name})": shares[:, k] for k, name in enumerate(names)}
    return found

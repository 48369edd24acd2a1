"""From a fitted model and what was asked to the content of a report."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from horseshoe._checks import check_level
from horseshoe._version import __version__
from horseshoe.report.page.content import Fact, Page, Reason
from horseshoe.report.page.effects import Effects, effects_of
from horseshoe.report.page.methods import family_words, methods
from horseshoe.report.page.numbers import alone, counted, named
from horseshoe.report.page.pictures import draw_all, drawings, ending
from horseshoe.report.page.sureness import components, convergence, how_sure
from horseshoe.report.page.table import table_of
from horseshoe.report.page.words import answer, terms_of


@dataclass(frozen=True)
class Asked:
    """What was asked, and of which data: the values that were fitted, and what happened to them before.

    Attributes
    ----------
    X, y, sample_weight, offset, exposure, entry, strata
        What the model was fitted to.
    target : str
        The name of y.
    source : str
        Where the data came from.
    title : str
        Of the report; made of the target if left out.
    terms : dict
        Which column of the user's data each column of X stands for, where the names differ.
    dropped, encoded, imputed : pairs of a column and a reason
        What was done to columns before the fit.
    gaps : pairs of a column and a reason
        Columns because of whose missing values rows were dropped.
    missing : list of str
        What was done with missing values, for the paragraph on the methods.
    notes : list of str
        What else was noticed.
    warnings : list of str
        What the reader must not overlook.
    facts : pairs of a label and a value
        What else is known of the data.
    command : str
        How to do the same again.
    seconds : float, optional
        How long the fit took.
    event : str
        For survival, the name of the event.
    """

    X: Any
    y: Any
    sample_weight: Any = None
    offset: Any = None
    exposure: Any = None
    target: str = "y"
    source: str = ""
    title: str = ""
    terms: Mapping[str, str] = field(default_factory=dict)
    dropped: Sequence[tuple[str, str]] = ()
    encoded: Sequence[tuple[str, str]] = ()
    imputed: Sequence[tuple[str, str]] = ()
    notes: Sequence[str] = ()
    warnings: Sequence[str] = ()
    facts: Sequence[tuple[str, str]] = ()
    command: str = ""
    seconds: float | None = None
    entry: Any = None
    strata: Any = None
    event: str = ""
    gaps: Sequence[tuple[str, str]] = ()
    missing: Sequence[str] = ()

    @property
    def rows(self) -> dict[str, Any]:
        """What is known of the rows."""
        known = {name: getattr(self, name) for name in ("offset", "exposure", "sample_weight")}
        return {"X": self.X, "y": self.y} | {
            name: value for name, value in known.items() if value is not None
        }


def build_page(model: Any, asked: Asked, level: float = 0.95, method: str = "auto") -> Page:
    """Return what a report says of a fitted model.

    Parameters
    ----------
    model : HorseshoeRegressor, HorseshoeClassifier, AdaptiveRegressor or AdaptiveClassifier
        A fitted model.
    asked : Asked
        What was asked, and the data.
    level : float, default=0.95
        The coverage of the intervals.
    method : {"auto", "mode", "posterior"}, default="auto"
        How intervals are made, where the model has a choice.

    Returns
    -------
    Page

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from horseshoe import HorseshoeRegressor
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
    >>> page = build_page(HorseshoeRegressor().fit(X, y), Asked(X, y, target="progression"))
    >>> page.answer[0][:51], page.table.rows[0].names
    ('5 of 10 variables matter for progression: bmi (+5.7', ('bmi',))
    """
    level = check_level(level)
    with warnings.catch_warnings(record=True) as heard:  # of draws that do not agree: for the reader to know
        warnings.simplefilter("always")
        effects = effects_of(model, level, asked.terms, method)
    said = methods(model, effects, _n_rows(asked.X), level, asked.target, method, asked.missing)
    drawn, ended = (
        draw_all(drawings(model, effects, asked.rows, level, method)),
        draw_all(ending(model, effects)),
    )
    classes = [str(label) for label in model.classes_.tolist()] if hasattr(model, "classes_") else []
    return Page(
        title=asked.title or f"What matters for {asked.target}",
        subtitle=_subtitle(effects, asked),
        answer=answer(effects, level, asked.target, classes),
        warnings=(*asked.warnings, *dict.fromkeys(str(one.message) for one in heard)),
        asked=_asked(model, effects, asked, classes),
        data=_data(effects, asked),
        dropped=_reasons(asked.dropped),
        encoded=_reasons(asked.encoded),
        imputed=_reasons(asked.imputed),
        gaps=_reasons(asked.gaps),
        notes=(*asked.notes, *drawn.notes, *ended.notes),
        table=table_of(effects, level),
        pictures=drawn.pictures,
        how_sure=(*how_sure(effects, level, method), *_known_part(model, effects[0], asked)),
        convergence=convergence(effects),
        components=components(effects),
        ending=ended.pictures,
        methods=said.paragraph,
        citations=said.citations,
        command=asked.command,
        version=__version__,
    )


def _reasons(pairs: Sequence[tuple[str, str]]) -> tuple[Reason, ...]:
    return tuple(Reason(str(column), str(reason)) for column, reason in pairs)


def _n_rows(X: Any) -> int:
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)


def _subtitle(effects: Sequence[Effects], asked: Asked) -> str:
    terms, _ = terms_of(effects)
    size = f"{counted(_n_rows(asked.X), 'row')}, {counted(len(terms), 'column')}"
    return f"{named(asked.source)}: {size}" if asked.source else size


def _asked(model: Any, effects: Sequence[Effects], asked: Asked, classes: Sequence[str]) -> tuple[Fact, ...]:
    until = f", until {asked.event}" if asked.event else ""
    found = [Fact("To explain", asked.target + until), Fact("Taken to have", family_words(effects[0].family))]
    if classes:
        found.append(Fact("Classes", ", ".join(classes)))
    given = (("weights", asked.sample_weight), ("an offset", asked.offset), ("an exposure", asked.exposure))
    of_times = (("entry times", asked.entry), ("strata", asked.strata))
    known = [name for name, values in (*given, *of_times) if values is not None]
    if known:
        found.append(Fact("Given", ", ".join(known)))
    found.append(Fact("Estimator", type(model).__name__))
    if asked.seconds is not None:
        found.append(Fact("Time", f"{asked.seconds:.2g} s"))
    return tuple(found)


def _known_part(model: Any, one: Effects, asked: Asked) -> tuple[str, ...]:
    """Say that what an offset explains is not in the share explained."""
    given = "exposure" if asked.exposure is not None else "offset" if asked.offset is not None else None
    if given is None:
        return ()
    nothing = "an intercept" if one.family.has_intercept else "no effects"
    compares = f"{model.statistics().measure} compares with {nothing} beside the {given}"
    return (f"{compares}, so it is what the columns explain beyond it.",)


def _data(effects: Sequence[Effects], asked: Asked) -> tuple[Fact, ...]:
    terms, _ = terms_of(effects)
    fitted = len(effects[0].names)
    more = "" if fitted == len(terms) else f" ({counted(fitted, 'column')} after encoding)"
    found = [Fact("Source", asked.source)] if asked.source else []
    found += [Fact("Rows", f"{_n_rows(asked.X):,}"), Fact("Columns", f"{len(terms):,}{more}")]
    events = dict(effects[0].model.statistics().lines()).get("events")
    found += [] if events is None else [Fact("Events", events)]
    response = np.asarray(asked.y)
    if events is None and response.dtype.kind in "fiu" and not hasattr(effects[0].model, "classes_"):
        low, mean, high = (alone(float(value)) for value in (response.min(), response.mean(), response.max()))
        found.append(Fact(named(asked.target), f"{low} to {high}, mean {mean}"))
    return (*found, *(Fact(str(label), str(value)) for label, value in asked.facts))

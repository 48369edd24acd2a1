"""From a fitted model and its data to the content of a report."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from horseshoe._checks import check_level
from horseshoe._version import __version__
from horseshoe.report.page.answer import answer, terms_of
from horseshoe.report.page.coefficient_table import table_of
from horseshoe.report.page.content import Fact, Page
from horseshoe.report.page.effects import Effects, effects_of
from horseshoe.report.page.evidence import components, convergence, how_sure
from horseshoe.report.page.methods import family_words, methods
from horseshoe.report.page.phrases import counted, named, numeral
from horseshoe.report.page.pictures import data_pictures, draw_all, fit_pictures


@dataclass(frozen=True)
class ReportInput:
    """The data and the request that a report is about: what was fitted, and what happened to it before.

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
        """What was fitted to, by the names that pictures take it under."""
        names = ("X", "y", "offset", "exposure", "sample_weight")
        return {name: getattr(self, name) for name in names if getattr(self, name) is not None}

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return int(self.X.shape[0]) if hasattr(self.X, "shape") else len(self.X)


def build_page(model: Any, given: ReportInput, level: float = 0.95, method: str = "auto") -> Page:
    """Return what a report says of a fitted model.

    Parameters
    ----------
    model : HorseshoeRegressor, HorseshoeClassifier, AdaptiveRegressor or AdaptiveClassifier
        A fitted model.
    given : ReportInput
        The data, and the request.
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
    >>> page = build_page(HorseshoeRegressor().fit(X, y), ReportInput(X, y, target="progression"))
    >>> page.answer[0][:51], page.table.rows[0].names
    ('5 of 10 variables matter for progression: bmi (+5.7', ('bmi',))
    """
    level = check_level(level)
    with warnings.catch_warnings(record=True) as heard:  # of draws that do not agree: for the reader to know
        warnings.simplefilter("always")
        effects = effects_of(model, level, given.terms, method)
    described = methods(model, effects, given.n_rows, level, given.target, method, given.missing)
    drawn = draw_all(data_pictures(model, effects, given.rows, level, method))
    ended = draw_all(fit_pictures(model, effects))
    classes = [str(label) for label in model.classes_.tolist()] if hasattr(model, "classes_") else []
    return Page(
        title=given.title or f"What matters for {given.target}",
        subtitle=_subtitle(effects, given),
        answer=answer(effects, level, given.target, classes),
        warnings=(*given.warnings, *dict.fromkeys(str(one.message) for one in heard)),
        asked=_request_facts(model, effects, given, classes),
        data=_data_facts(effects, given),
        dropped=_facts(given.dropped),
        encoded=_facts(given.encoded),
        imputed=_facts(given.imputed),
        gaps=_facts(given.gaps),
        notes=(*given.notes, *drawn.notes, *ended.notes),
        table=table_of(effects, level),
        pictures=drawn.pictures,
        how_sure=(*how_sure(effects, level, method), *_beyond_offset(model, effects[0], given)),
        convergence=convergence(effects),
        components=components(effects),
        ending=ended.pictures,
        methods=described.paragraph,
        citations=described.citations,
        command=given.command,
        version=__version__,
    )


def _facts(pairs: Sequence[tuple[str, str]]) -> tuple[Fact, ...]:
    return tuple(Fact(str(label), str(text)) for label, text in pairs)


def _subtitle(effects: Sequence[Effects], given: ReportInput) -> str:
    terms, _ = terms_of(effects)
    size = f"{counted(given.n_rows, 'row')}, {counted(len(terms), 'column')}"
    return f"{named(given.source)}: {size}" if given.source else size


def _request_facts(
    model: Any, effects: Sequence[Effects], given: ReportInput, classes: Sequence[str]
) -> tuple[Fact, ...]:
    until = f", until {given.event}" if given.event else ""
    beside = {
        "weights": given.sample_weight,
        "an offset": given.offset,
        "an exposure": given.exposure,
        "entry times": given.entry,
        "strata": given.strata,
    }
    found = {
        "To explain": given.target + until,
        "Taken to have": family_words(effects[0].family),
        "Classes": ", ".join(classes),
        "Given": ", ".join(name for name, values in beside.items() if values is not None),
        "Estimator": type(model).__name__,
        "Time": "" if given.seconds is None else f"{given.seconds:.2g} s",
    }
    return tuple(Fact(label, text) for label, text in found.items() if text)


def _beyond_offset(model: Any, one: Effects, given: ReportInput) -> tuple[str, ...]:
    """Say that what an offset explains is not in the share explained."""
    name = "exposure" if given.exposure is not None else "offset"
    if given.exposure is None and given.offset is None:
        return ()
    nothing = "an intercept" if one.family.has_intercept else "no effects"
    compares = f"{model.statistics().measure} compares with {nothing} beside the {name}"
    return (f"{compares}, so it is what the columns explain beyond it.",)


def _data_facts(effects: Sequence[Effects], given: ReportInput) -> tuple[Fact, ...]:
    terms, _ = terms_of(effects)
    model, fitted = effects[0].model, len(effects[0].names)
    more = "" if fitted == len(terms) else f" ({counted(fitted, 'column')} after encoding)"
    found = [("Source", given.source)] if given.source else []
    found += [("Rows", f"{given.n_rows:,}"), ("Columns", f"{len(terms):,}{more}")]
    events = dict(model.statistics().lines()).get("events")
    response = np.asarray(given.y)
    if events is not None:
        found.append(("Events", events))
    elif response.dtype.kind in "fiu" and not hasattr(model, "classes_"):
        low, mean, high = (
            numeral(float(value)) for value in (response.min(), response.mean(), response.max())
        )
        found.append((named(given.target), f"{low} to {high}, mean {mean}"))
    return _facts((*found, *given.facts))

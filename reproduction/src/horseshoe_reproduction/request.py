"""What was asked for: a table, how many data sets, which methods, which seed."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple
from zlib import crc32

from horseshoe_reproduction import FIGURES, MORE, SEED, TABLES, load
from horseshoe_reproduction.environment import here, machine, require, versions
from horseshoe_reproduction.experiment import Experiment, RequestError
from horseshoe_reproduction.methods import METHODS

# What stands in the name of a file before the value of an option.
MARKS = {"replicates": "r", "seed": "seed", "methods": "", "settings": ""}
# Letters of the name of a file; the rest of a longer one is its checksum.
LONGEST = 150


class Request(NamedTuple):
    """A table to be made.

    Examples
    --------
    >>> request = requested("table3", replicates=3, methods=("mcp", "hs-em"))
    >>> request.command
    'horseshoe reproduce table3 --replicates 3 --methods hs-em,mcp'
    >>> request.stem
    'table3-r3-hs-em-mcp'
    """

    experiment: Experiment
    replicates: int
    methods: tuple[str, ...]
    seed: int
    # The settings that were asked for; None is all. The experiment has only these.
    chosen: tuple[str, ...] | None = None

    @property
    def options(self) -> dict[str, str]:
        """The options that are not those of the whole table."""
        both = {
            "replicates": (self.replicates, self.experiment.replicates),
            "seed": (self.seed, SEED),
            "methods": (",".join(self.methods), ",".join(self.experiment.methods)),
        }
        found = {option: str(asked) for option, (asked, usual) in both.items() if asked != usual}
        return found if self.chosen is None else {**found, "settings": ",".join(self.chosen)}

    @property
    def stem(self) -> str:
        """The name of the files: that of the experiment alone for the whole of it."""
        marks = [MARKS[option] + value.replace(",", "-") for option, value in self.options.items()]
        stem = "-".join([self.experiment.name, *marks])
        return stem if len(stem) <= LONGEST else f"{stem[:LONGEST]}-{crc32(stem.encode()):08x}"

    @property
    def command(self) -> str:
        """The command that makes the same table."""
        given = self.options
        if any("," in name for name in self.chosen or ()):
            given["settings"] = " --settings ".join(self.chosen or ())
        options = [f"--{option} {value}" for option, value in given.items()]
        return " ".join(["horseshoe", "reproduce", self.experiment.name, *options])

    @property
    def journal(self) -> str:
        """The name of the journal."""
        return f"{self.experiment.name}-seed{self.seed}.jsonl"

    def heading(self) -> dict[str, object]:
        """Return what must be the same for results to be taken together."""
        start = {"experiment": self.experiment.name, "seed": self.seed}
        return {**start, "machine": machine(), "versions": versions()}

    def about(self) -> dict[str, str]:
        """Return what the report says of how it was made."""
        printed = self.experiment.name in TABLES
        beside = f" (the paper has {self.experiment.replicates})" if printed else ""
        experiment = self.experiment
        counts = sorted({experiment.count(setting, self.replicates) for setting in experiment.settings})
        count = f"{' or '.join(map(str, counts))} of each setting{beside}"
        return {"replicates": count, "seed": str(self.seed), **here()}


def requested(
    name: str,
    replicates: int | None = None,
    methods: tuple[str, ...] | None = None,
    seed: int = SEED,
    settings: tuple[str, ...] | None = None,
) -> Request:
    """Return the request, or say why it cannot be met.

    Examples
    --------
    >>> requested("table3", replicates=0)
    Traceback (most recent call last):
    horseshoe_reproduction.experiment.RequestError: replicates=0 must be at least 1
    """
    if name not in (*TABLES, *MORE):
        raise RequestError(f"{name!r} is not known: use one of {', '.join((*TABLES, *FIGURES, *MORE))}")
    experiment, narrowed = _narrowed(load(name), settings)
    count = experiment.replicates if replicates is None else replicates
    if count < 1:
        raise RequestError(f"replicates={count} must be at least 1")
    chosen = _chosen(experiment, methods)
    for method in chosen:
        for module in METHODS[method].needs:
            require(module)
    return Request(experiment, count, chosen, seed, narrowed)


def _narrowed(
    experiment: Experiment, settings: tuple[str, ...] | None
) -> tuple[Experiment, tuple[str, ...] | None]:
    """Return the experiment with the settings that are asked for, and their names; None is all."""
    if settings is None:
        return experiment, None
    for name in settings:
        if name not in experiment.settings:
            known = "; ".join(experiment.settings)
            raise RequestError(f"{name!r} is not a setting of {experiment.name}: use some of {known}")
    if not settings:
        raise RequestError(f"no setting is left: use some of {'; '.join(experiment.settings)}")
    kept = {name: text for name, text in experiment.settings.items() if name in settings}
    return replace(experiment, settings=kept), tuple(kept) if len(kept) < len(experiment.settings) else None


def _chosen(experiment: Experiment, methods: tuple[str, ...] | None) -> tuple[str, ...]:
    """Return the methods to run, or say which name is not one."""
    for name in methods or ():
        if name not in experiment.methods:
            known = ", ".join(experiment.methods)
            there = f"not a method of {experiment.name}" if name in METHODS else "not a method"
            raise RequestError(f"{name!r} is {there}: use some of {known}")
    if methods is not None and not methods:
        raise RequestError(f"no method is left: use some of {', '.join(experiment.methods)}")
    return tuple(m for m in experiment.methods if methods is None or m in methods)

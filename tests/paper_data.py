"""The data sets that are not part of horseshoe, for the tests that need them."""

import os
from pathlib import Path

import pytest

TABLES = {"table5": ("boston", "concrete", "eye"), "table6": ("pima", "heart")}


def need(name):
    """Skip a test whose data set, or whose table's data sets, are not at hand."""
    folder = os.environ.get("HORSESHOE_DATA")
    for data in TABLES.get(name, (name,)):
        if data == "diabetes" or data.startswith("table"):
            continue
        if not folder or not (Path(folder) / f"{data}.csv").exists():
            pytest.skip(f"set HORSESHOE_DATA to a folder with {data}.csv to run this")

"""The data sets are found, and are the ones of the paper or refused."""

import hashlib
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from urllib.error import URLError

import numpy as np
import pytest

from horseshoe_reproduction import datasets
from horseshoe_reproduction.datasets import (
    SOURCES,
    MissingDataError,
    Source,
    Table,
    WrongDataError,
    fingerprint,
    load,
)

FOLDER = os.environ.get("HORSESHOE_DATA")
SHAPES = {
    "diabetes": (442, 10),
    "boston": (506, 13),
    "concrete": (1030, 8),
    "eye": (120, 200),
    "pima": (768, 8),
    "heart": (303, 13),
}
TINY = Table("boston", ("crim", "rad"), np.array([[1.5, 24.0], [2.5, 5.0]]), np.array([20.0, 30.0]))


@pytest.fixture
def folder():
    if not FOLDER:
        pytest.skip("HORSESHOE_DATA is not set: the data sets of the paper are not here")
    return Path(FOLDER)


@pytest.fixture
def tiny(monkeypatch):
    """No folder, and a Boston of two rows."""
    monkeypatch.delenv("HORSESHOE_DATA", raising=False)
    monkeypatch.setitem(SOURCES, "boston", Source("somebody", "0" * 64, fingerprint(TINY), 531, TINY.names))


def stub(monkeypatch, numbers, names, categories=None):
    """Let OpenML answer with these columns; returns the list of the calls."""
    calls = []

    def fetch(**options):
        calls.append(options)
        return SimpleNamespace(data=numbers, feature_names=names, categories=categories or {})

    monkeypatch.setattr("sklearn.datasets.fetch_openml", fetch)
    return calls


def all_columns(table):
    return np.column_stack([table.values, table.target])


@pytest.mark.parametrize("name", SHAPES)
def test_every_set_has_its_size(folder, name):
    table = load(name)
    assert table.name == name
    assert table.values.shape == SHAPES[name] == (table.target.size, len(table.names))
    assert table.values.dtype == table.target.dtype == np.float64
    assert np.isfinite(table.target).all()
    assert np.isnan(table.values).sum() == (6 if name == "heart" else 0)
    assert fingerprint(table) == SOURCES[name].numbers


def test_known_values(folder):
    heart, pima, boston, eye = load("heart"), load("pima"), load("boston"), load("eye")
    assert set(np.unique(heart.target)) == {0.0, 1.0}
    assert heart.target.sum() == 139
    assert pima.target.sum() == 268
    assert pima.values[0].tolist() == [6, 148, 72, 35, 0, 33.6, 0.627, 50]
    assert pima.target[:2].tolist() == [1.0, 0.0]
    assert boston.names[-1] == "lstat"
    assert boston.target[0] == 24.0
    assert eye.names[0].startswith("probe_")


@pytest.mark.parametrize("name", ["boston", "concrete", "pima"])
def test_names_recorded_for_fetched_sets_are_those_of_the_files(folder, name):
    assert load(name).names == SOURCES[name].names


def test_the_copy_of_scikit_learn_is_the_file(folder, monkeypatch):
    table = load("diabetes")
    monkeypatch.delenv("HORSESHOE_DATA")
    bundled = load("diabetes")
    assert bundled.names == table.names
    np.testing.assert_array_equal(bundled.values, table.values)
    np.testing.assert_array_equal(bundled.target, table.target)


def test_diabetes_needs_no_folder(monkeypatch, tmp_path):
    monkeypatch.setenv("HORSESHOE_DATA", str(tmp_path))
    assert load("diabetes").values.shape == (442, 10)


def test_another_version_of_scikit_learns_copy_is_refused(monkeypatch):
    from sklearn.datasets import load_diabetes

    bunch = load_diabetes(scaled=False)
    bunch.data[3, 3] += 1e-9
    monkeypatch.delenv("HORSESHOE_DATA", raising=False)
    monkeypatch.setattr("sklearn.datasets.load_diabetes", lambda scaled: bunch)
    with pytest.raises(WrongDataError, match=SOURCES["diabetes"].numbers):
        load("diabetes")


@pytest.mark.parametrize("name", SHAPES)
def test_a_changed_byte_is_refused(folder, monkeypatch, tmp_path, name):
    content = bytearray((folder / f"{name}.csv").read_bytes())
    assert hashlib.sha256(content).hexdigest() == SOURCES[name].sha256
    content[-2] ^= 1
    path = tmp_path / f"{name}.csv"
    path.write_bytes(content)
    monkeypatch.setenv("HORSESHOE_DATA", str(tmp_path))
    with pytest.raises(WrongDataError) as caught:
        load(name)
    found = hashlib.sha256(content).hexdigest()
    for part in (
        str(path),
        SOURCES[name].sha256,
        found,
        "Put the original file there",
        "unset HORSESHOE_DATA",
    ):
        assert part in str(caught.value)


def test_unknown_names_are_refused():
    with pytest.raises(ValueError, match="no data set 'iris'; there are diabetes, boston"):
        load("iris")


@pytest.mark.parametrize("name", ["eye", "heart"])
def test_missing_without_a_copy_elsewhere(monkeypatch, name):
    monkeypatch.delenv("HORSESHOE_DATA", raising=False)
    calls = stub(monkeypatch, np.zeros((1, 1)), ["x"])
    with pytest.raises(MissingDataError) as caught:
        load(name)
    assert not calls
    assert isinstance(caught.value, FileNotFoundError)
    for part in (name, "HORSESHOE_DATA is not set", f"{name}.csv", SOURCES[name].origin, "none was tried"):
        assert part in str(caught.value)


def test_missing_names_the_folder_that_lacks_the_file(monkeypatch, tmp_path):
    monkeypatch.setenv("HORSESHOE_DATA", str(tmp_path))
    with pytest.raises(MissingDataError, match=f"HORSESHOE_DATA is {tmp_path}, which has no such file"):
        load("eye")


@pytest.mark.parametrize("name", ["boston", "concrete", "pima"])
@pytest.mark.parametrize("error", [URLError("no route"), ValueError("unknown id"), TimeoutError("slow")])
def test_a_failing_fetch_is_reported(monkeypatch, name, error):
    def fail(**options):
        raise error

    monkeypatch.delenv("HORSESHOE_DATA", raising=False)
    monkeypatch.setattr("sklearn.datasets.fetch_openml", fail)
    with pytest.raises(MissingDataError) as caught:
        load(name)
    tried = f"OpenML's data set {SOURCES[name].openml} was tried, and failed: {type(error).__name__}: {error}"
    for part in (f"the {name} data set", f"{name}.csv", SOURCES[name].origin, tried):
        assert part in str(caught.value)
    assert caught.value.__cause__ is error


def test_the_right_numbers_pass_from_openml(monkeypatch, tiny):
    calls = stub(monkeypatch, all_columns(TINY), ["CRIM", "RAD", "MEDV"])
    table = load("boston")
    assert table.names == TINY.names
    np.testing.assert_array_equal(table.values, TINY.values)
    np.testing.assert_array_equal(table.target, TINY.target)
    assert calls[0]["data_id"] == 531
    assert calls[0]["as_frame"] is False  # pandas is optional
    assert calls[0]["target_column"] is None


def test_categories_are_decoded(monkeypatch, tiny):
    coded = np.array([[1.5, 1.0, 20.0], [2.5, 0.0, 30.0]])
    stub(monkeypatch, coded, ["CRIM", "RAD", "MEDV"], {"RAD": ["5", "24"]})
    np.testing.assert_array_equal(load("boston").values, TINY.values)


def test_decoding_keeps_missing_values_and_reads_words():
    codes = np.array([0.0, np.nan, 1.0])
    decoded = datasets._decoded(codes, ["tested_positive", "tested_negative"])
    np.testing.assert_array_equal(decoded, [1.0, np.nan, 0.0])


@pytest.mark.parametrize("change", ["value", "rows", "columns"])
def test_other_numbers_from_openml_are_refused(monkeypatch, tiny, change):
    numbers = all_columns(TINY)
    if change == "value":
        numbers[1, 0] += 1e-12
    elif change == "rows":
        numbers = numbers[::-1]
    else:
        numbers = numbers[:, [1, 0, 2]]
    stub(monkeypatch, numbers, ["CRIM", "RAD", "MEDV"])
    with pytest.raises(MissingDataError, match=r"531 was tried.*531 is not the boston") as caught:
        load("boston")
    assert fingerprint(TINY) in str(caught.value)
    assert isinstance(caught.value.__cause__, WrongDataError)


@pytest.mark.parametrize("name", ["boston", "concrete", "pima"])
def test_the_whole_sets_pass_from_openml_and_changed_ones_do_not(folder, monkeypatch, name):
    table = load(name)
    numbers, names = all_columns(table), [f"column {j}" for j in range(len(table.names) + 1)]
    categories = {names[-1]: ["tested_negative", "tested_positive"]} if name == "pima" else {}
    monkeypatch.delenv("HORSESHOE_DATA")
    stub(monkeypatch, numbers, names, categories)
    assert fingerprint(load(name)) == fingerprint(table)
    changed = numbers.copy()
    changed[-1, 0] += 1.0
    stub(monkeypatch, changed, names, categories)
    with pytest.raises(MissingDataError, match="is not the"):
        load(name)


def test_fingerprints_see_numbers_only():
    zeros = Table("boston", ("a",), np.array([[0.0], [np.nan]]), np.zeros(2))
    minus = Table("boston", ("a",), np.array([[-0.0], [-np.nan]]), np.zeros(2))
    assert fingerprint(zeros) == fingerprint(minus)
    assert fingerprint(zeros) != fingerprint(TINY)


def test_the_module_adds_neither_pandas_nor_scikit_learn_to_what_is_imported():
    code = (
        "import sys, horseshoe; before = set(sys.modules); import horseshoe_reproduction.datasets; "
        "print(*{name.split('.')[0] for name in set(sys.modules) - before})"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "horseshoe_reproduction" in done.stdout.split()
    assert not {"pandas", "sklearn", "scipy"} & set(done.stdout.split())

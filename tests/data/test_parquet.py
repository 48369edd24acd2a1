"""Parquet files: the fit of the same table in memory, and files that are not what they should be."""

import numpy as np
import pytest

from horseshoe import HorseshoeClassifier, HorseshoeRegressor
from horseshoe.data.sources.parquet import open_parquet

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")


@pytest.fixture(autouse=True)
def small_parts(monkeypatch):
    monkeypatch.setattr("horseshoe.data.sources.parquet.PART_BYTES", 8000)
    for module in ("chunked",):
        monkeypatch.setattr(f"horseshoe.data.{module}.ROOM", 0)


def table(n=500, p=6, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((n, p))
    y = 2.0 * x[:, 1] - x[:, 4] + rng.standard_normal(n)
    columns = {f"c{j}": x[:, j] for j in range(p)}
    return {**columns, "y": y, "w": rng.uniform(0.5, 2.0, n)}, x


def write(path, columns, **options):
    pq.write_table(pa.table(columns), path, **options)
    return path


@pytest.mark.parametrize("rows", [37, 200, 10_000])
@pytest.mark.parametrize("family", ["gaussian", "poisson"])
def test_a_file_is_fitted_as_its_table(tmp_path, rows, family):
    columns, x = table()
    if family == "poisson":
        columns["y"] = np.random.default_rng(1).poisson(np.exp(0.3 * columns["y"]))
    path = write(tmp_path / "a.parquet", columns, row_group_size=rows)
    theirs = HorseshoeRegressor(family=family).fit(x, columns["y"], columns["w"])
    X, y, w = open_parquet(path, "y", "w")
    ours = HorseshoeRegressor(family=family).fit(X, y, w)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-9)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(x), rtol=1e-9)
    assert ours.feature_names_in_.tolist() == [f"c{j}" for j in range(6)]


def test_wide_files_are_read_by_columns(tmp_path):
    columns, x = table(40, 90)
    path = write(tmp_path / "a.parquet", columns, row_group_size=17)
    opened = open_parquet(path, "y", columns=[f"c{j}" for j in range(90)])
    assert opened.X.axis == 1
    theirs = HorseshoeRegressor(tol=1e-9).fit(x, columns["y"])
    np.testing.assert_allclose(HorseshoeRegressor(tol=1e-9).fit(*opened).coef_, theirs.coef_, rtol=1e-8)


def test_a_folder_is_one_table(tmp_path):
    columns, x = table()
    for number, rows in enumerate(np.array_split(np.arange(500), 3)):
        write(tmp_path / f"part-{number}.parquet", {name: values[rows] for name, values in columns.items()})
    X, y, _ = open_parquet(tmp_path, "y", "w")
    np.testing.assert_array_equal(np.concatenate(list(X.each(np.asarray))), x)
    labels = y > 0.0
    theirs = HorseshoeClassifier().fit(x, labels)
    np.testing.assert_allclose(HorseshoeClassifier().fit(X, labels).coef_, theirs.coef_, rtol=1e-8)


def test_only_the_columns_that_are_wanted_are_read(tmp_path):
    columns, x = table()
    X = open_parquet(write(tmp_path / "a.parquet", columns), "y", "w").X
    found = np.concatenate(list(X.each(np.asarray, across=np.array([4, 1]))))
    np.testing.assert_array_equal(found, x[:, [4, 1]])


def test_row_groups_that_are_not_wanted_are_skipped(tmp_path, monkeypatch):
    columns, x = table()
    X = open_parquet(write(tmp_path / "a.parquet", columns, row_group_size=100), "y", "w").X
    read, groups = X._group, []
    monkeypatch.setattr(X, "_group", lambda *args: (groups.append(args[1]), read(*args))[1])
    found = np.concatenate(list(X.each(np.asarray, which=[2])))
    start = X.edges[2]
    np.testing.assert_array_equal(found[:3], x[start : start + 3])
    assert len(groups) == 1


def test_missing_values_are_named(tmp_path):
    columns, _ = table()
    columns["c2"] = [None if i == 321 else 1.0 * i for i in range(500)]
    X, y, _ = open_parquet(write(tmp_path / "a.parquet", columns, row_group_size=50), "y", "w")
    with pytest.raises(ValueError, match=r"Input X contains NaN in column 'c2' \(2\), row 321"):
        HorseshoeRegressor().fit(X, y)


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda data: data[: len(data) // 2], "cannot be read as Parquet .*it may not be whole"),
        (lambda data: b"no table", "cannot be read as Parquet"),
        (lambda data: data[:100] + bytes(4000) + data[4100:], "cannot be read as Parquet"),
    ],
    ids=["truncated", "other", "holes"],
)
def test_files_that_are_not_whole_are_refused(tmp_path, spoil, message):
    path = write(tmp_path / "a.parquet", table()[0], compression="none")
    path.write_bytes(spoil(path.read_bytes()))
    with pytest.raises(ValueError, match=message):
        HorseshoeRegressor().fit(*open_parquet(path, "y", "w"))


def test_a_file_that_changes_between_passes_is_refused(tmp_path):
    path = write(tmp_path / "a.parquet", table()[0])
    X, y, _ = open_parquet(path, "y", "w")
    write(path, table(499)[0])
    with pytest.raises(ValueError, match="changed while it was read"):
        HorseshoeRegressor().fit(X, y)


def test_files_with_other_columns_are_refused(tmp_path):
    columns, _ = table()
    write(tmp_path / "a.parquet", columns)
    write(tmp_path / "b.parquet", {name: columns[name] for name in columns if name != "c3"})
    with pytest.raises(ValueError, match=r"b.parquet has 0 columns of the name 'c3'"):
        open_parquet(tmp_path, "y", "w")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"target": "z"}, "has no column 'z': it has 'c0'"),
        ({"target": "y", "columns": []}, "has no column beside 'y'"),
        ({"target": "y", "columns": ["c0", "word"]}, "column 'word' of .* holds .*string.*encode it"),
    ],
)
def test_columns_that_will_not_do_are_refused(tmp_path, options, message):
    path = write(tmp_path / "a.parquet", {**table()[0], "word": ["a"] * 500})
    with pytest.raises(ValueError, match=message):
        open_parquet(path, **options)


def test_no_file_is_no_table(tmp_path):
    for path in (tmp_path, tmp_path / "none.parquet"):
        with pytest.raises(FileNotFoundError, match="is no Parquet file, nor a folder with any"):
            open_parquet(path, "y")

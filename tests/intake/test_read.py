"""Files that come in: read as they were meant, or refused with a sentence."""

import gzip
import io
import os
import pickle
import threading
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from horseshoe.intake import TableError, delimited, read_table
from loops import each

SOME = pd.DataFrame({"größe": [1.5, 2.25, 3.0], "name": ["é", "b c", "d"], "n": [1, 2, 3]})


def read(data, **options):
    return read_table("-", stdin=data if isinstance(data, bytes) else data.encode(), **options)


def refused(data):
    with pytest.raises(TableError) as caught:
        read(data)
    return str(caught.value)


@pytest.mark.parametrize(
    ("mark", "note"), [(",", None), (";", "semicolons"), ("\t", "tabs"), ("|", "vertical bars")]
)
def test_delimiters(mark, note):
    table = read(SOME.to_csv(sep=mark, index=False))
    pd.testing.assert_frame_equal(table.frame, SOME)
    assert table.notes == ((f"columns separated by {note}",) if note else ())
    assert table.name == "standard input"


@pytest.mark.parametrize(
    ("codec", "note"),
    [
        ("utf-8", None),
        ("utf-8-sig", "read as UTF-8 with a byte order mark"),
        ("utf-16", "read as UTF-16"),
        ("utf-16-le", "read as UTF-16 without a byte order mark"),
        ("latin-1", "read as Latin-1: the bytes are not UTF-8"),
    ],
)
def test_encodings(tmp_path, codec, note):
    path = tmp_path / "some.csv"
    path.write_bytes(SOME.to_csv(index=False).encode(codec))
    table = read_table(path)
    pd.testing.assert_frame_equal(table.frame, SOME)
    assert table.notes == ((note,) if note else ())
    assert table.name == str(path)


def test_curly_quotes_are_of_windows():
    table = read("wert,y\n“a”,1\nb,2\n".encode("cp1252"))
    assert table.frame["wert"].tolist() == ["“a”", "b"]
    assert table.notes[0].startswith("read as Windows-1252")


def test_latin_1_far_behind_the_beginning():
    rows = b"word,y\n" + b"plain,1\n" * 20_000 + "größe,2\n".encode("latin-1")
    assert read(rows).frame["word"].iloc[-1] == "größe"


def test_decimal_commas():
    table = read("a;b;c\n1,5;x;1\n-2,25;y;2\n,5;x;3\n")
    assert table.frame["a"].tolist() == [1.5, -2.25, 0.5]
    assert table.notes == ("columns separated by semicolons", "decimal commas")


def test_quoted_decimal_commas_between_commas():
    table = read('a,b\n"1,5",2\n"2,75",3\n')
    assert table.frame["a"].tolist() == [1.5, 2.75]
    assert "decimal commas" in table.notes


def test_quotes_hide_delimiters_and_line_ends():
    table = read('"a, or b","c\nd"\n"x, y",1\n"p\nq",2\n')
    assert list(table.frame.columns) == ["a, or b", "c\nd"]
    assert table.frame.iloc[:, 0].tolist() == ["x, y", "p\nq"]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_line_ends_and_blank_lines(end):
    table = read(end.join(["", "a,b", "1,2", "", "3,4", ""]))
    assert table.frame.to_numpy().tolist() == [[1, 2], [3, 4]]


def test_spaces():
    table = read("a   b  c\n1 2.5   3\n 4 5 6\n")
    assert table.frame.to_numpy().tolist() == [[1, 2.5, 3], [4, 5, 6]]
    assert table.notes == ("columns separated by spaces",)


def test_numbers_are_exact():
    values = (
        np.random.default_rng(0).standard_normal((200, 2)) * 10.0 ** np.arange(-50, 50).repeat(2)[:, None]
    )
    assert (
        read(pd.DataFrame(values, columns=["a", "b"]).to_csv(index=False)).frame.to_numpy() == values
    ).all()


def test_words_for_missing_values():
    table = read("a,b,y\n1,?,1\nNA,x,2\nn/a,y,3\n,None,4\n2,-,5\n")
    frame = table.frame
    assert table.notes == ("-, ?, NA, n/a read as missing",)
    assert frame["a"].isna().tolist() == [False, True, True, True, False]
    assert frame["b"].isna().tolist() == [True, False, False, False, True]  # None may be a level


def test_words_stay_words():
    assert read("zip,y\n007,1\n008,2\n", words=["zip"]).frame["zip"].tolist() == ["007", "008"]


def test_row_names_of_pandas_and_r():
    pandas = read(SOME.to_csv())
    pd.testing.assert_frame_equal(pandas.frame, SOME)
    assert pandas.notes == ("the first column has no name and counts the rows: left out",)
    r = read('"a" "b"\n"x" 1 2\n"y" 3 4\n')
    assert r.frame.to_numpy().tolist() == [[1, 2], [3, 4]]
    assert any("row names" in note for note in r.notes)


def test_empty_columns_without_a_name_and_empty_rows():
    table = read("a,b,\n1,2,\n3,4,\n,,\n")
    assert table.frame.to_numpy().tolist() == [[1, 2], [3, 4]]
    assert table.notes == ("1 row without any value left out", "column 3 has no name and no values: left out")


def test_columns_may_be_called_by_number():
    assert list(read("0,1,2\n5,6,7\n").frame.columns) == ["0", "1", "2"]


def test_names_of_all_kinds(tmp_path):
    names = [
        'say "hi"',
        "two\nlines",
        "<script>alert(1)</script>",
        "Größe 体重 🐎",
        "a=b",
        "a:b",
        "`",
        "%s {x}",
    ]
    path = tmp_path / "odd.csv"
    pd.DataFrame([range(8), range(8)], columns=names).to_csv(path, index=False)
    assert list(read_table(path).frame.columns) == names


@each(
    ("data", "words"),
    [
        ("", ["empty", "header"]),
        ("\n\n  \n", ["empty"]),
        ("a,b\n", ["header but no rows"]),
        ("a,b\n,\n,\n", ["header but no rows"]),
        ("a,b,a,c,b\n1,2,3,4,5\n", ["2 column names", "a (columns 1, 3)", "b (columns 2, 5)"]),
        ("a,,c\n1,2,3\n", ["column 2", "no name", "first value is 2"]),
        ("1,2.5\n3,4\n", ["first line", "numbers", "header"]),
        ("a:b:c\n1:2:3\n4:5:6\n", ["one column", "colons"]),
        ("a,b\n1,2\n3\n5,6\n", ["line 3", "1 field", "header has 2"]),
        ("a,b\n1,2\n3,4,5\n", ["line 3", "3 fields"]),
        ("a,b\n1,2,9\n3,4\n", ["line 2", "3 fields"]),
        ('a,b\n1,"2\n3,4\n', ["quotation mark", "line 2"]),
        ('{"a": [1, 2]}', ["JSON"]),
        ("<!DOCTYPE html><html></html>", ["web page"]),
    ],
)
def test_refused_text(data, words):
    message = refused(data)
    assert all(word in message for word in words), message
    assert "\n" not in message


def _xlsx():
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("[Content_Types].xml", "<Types/>")
    return out.getvalue()


@pytest.mark.parametrize(
    ("data", "word"),
    [
        (gzip.compress(b"a,b\n1,2\n", mtime=0), "gunzip"),
        (pickle.dumps({"a": 1}), "pickle"),
        (_xlsx(), "Excel"),
        (b"PK\x03\x04 some other archive", "zip"),
        (b"\x89PNG\r\n", "picture"),
        (b"\x89HDF\r\n", "HDF5"),
        (bytes(range(256)) * 4, "bytes that no text has"),
        (b"\x00\x00\x00\x00", "bytes that no text has"),
        (b"\x6c\x1b\x01\x00", "PLINK"),
    ],
)
def test_refused_binary(data, word):
    assert word in refused(data)


def test_random_bytes_never_raise_anything_else():
    rng = np.random.default_rng(1)
    for size in (1, 2, 7, 100, 5000):
        for _ in range(10):
            data = rng.bytes(size)
            try:
                read(data)
            except TableError as error:
                assert str(error)  # noqa: PT017


def test_folder(tmp_path):
    (tmp_path / "inside.csv").write_text("a\n1\n")
    with pytest.raises(TableError, match=r"is a folder: name one file in it \(inside.csv\)"):
        read_table(tmp_path)


def test_not_there(tmp_path):
    (tmp_path / "patients.csv").write_text("a\n1\n")
    with pytest.raises(TableError, match=r"not there: did you mean patients\.csv"):
        read_table(tmp_path / "patient.csv")
    with pytest.raises(TableError, match="nor is its folder"):
        read_table(tmp_path / "no" / "such.csv")
    with pytest.raises(TableError, match="built-in data sets are diabetes"):
        read_table(tmp_path / "zzzz")
    with pytest.raises(TableError, match="did you mean diabetes"):
        read_table("diabetis")


@pytest.mark.parametrize("name", ["a\0b", "x" * 5000])
def test_names_no_file_can_have(name):
    with pytest.raises(TableError):
        read_table(name)


def test_no_permission(tmp_path, monkeypatch):
    path = tmp_path / "secret.csv"
    path.write_text("a,b\n1,2\n")

    def denied(*_args, **_kwargs):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", denied)
    with pytest.raises(TableError, match=r"no permission to read .*secret\.csv"):
        read_table(path)


def test_a_disk_that_fails(tmp_path, monkeypatch):
    path = tmp_path / "some.csv"
    path.write_text("a,b\n1,2\n")

    def failing(*_args, **_kwargs):
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(Path, "open", failing)
    with pytest.raises(TableError, match="cannot be read: Input/output error"):
        read_table(path)


@pytest.mark.parametrize(
    ("name", "rows", "target"),
    [
        ("diabetes", 442, "progression"),
        ("breast_cancer", 569, "diagnosis"),
        ("wine", 178, "cultivar"),
        ("iris", 150, "species"),
    ],
)
def test_built_in(tmp_path, monkeypatch, name, rows, target):
    monkeypatch.chdir(tmp_path)
    table = read_table(name)
    assert (len(table.frame), table.frame.columns[-1], table.name) == (rows, target, name)
    (tmp_path / name).write_text("a,b\n1,2\n")
    assert read_table(name).frame.shape == (1, 2)


@pytest.mark.parametrize("kind", ["parquet", "feather"])
def test_arrow(tmp_path, kind):
    path = tmp_path / "some.dat"  # told by content
    getattr(SOME, f"to_{kind}")(path)
    table = read_table(path)
    pd.testing.assert_frame_equal(table.frame, SOME)
    assert table.notes == (f"read as {kind.capitalize()}",)
    assert read_table("-", stdin=path.read_bytes()).frame.shape == SOME.shape
    path.write_bytes(path.read_bytes()[:200])
    with pytest.raises(TableError, match=f"damaged {kind.capitalize()} file"):
        read_table(path)


def test_arrow_without_rows(tmp_path):
    path = tmp_path / "none.parquet"
    SOME.iloc[:0].to_parquet(path)
    with pytest.raises(TableError, match="0 rows and 3 columns"):
        read_table(path)


def test_ten_thousand_columns():
    values = np.random.default_rng(2).standard_normal((5, 10_000))
    text = pd.DataFrame(values, columns=[f"gene_{j}" for j in range(10_000)]).to_csv(index=False)
    assert (read(text).frame.to_numpy() == values).all()


def test_a_stream_for_standard_input():
    assert read_table("-", stdin=io.BytesIO(b"a,b\n1,2\n")).frame.shape == (1, 2)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_pipe_is_read_once(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    writer = threading.Thread(target=lambda: path.write_bytes("größe;y\n1,5;2\n".encode("latin-1")))
    writer.start()
    table = read_table(path)
    writer.join()
    assert table.frame["größe"].tolist() == [1.5]


def test_suffixes_do_not_matter(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("a\tb\n1\t2\n")
    assert read_table(str(path)).notes == ("columns separated by tabs",)


def test_a_large_file_is_scanned_for_short_rows_only_if_values_are_missing(monkeypatch):
    scans = []
    original = delimited._odd_rows
    monkeypatch.setattr(delimited, "_odd_rows", lambda *args: scans.append(1) or original(*args))
    read("a,b\n" + "1,2\n" * 1000)
    assert not scans
    read("a,b\n" + "1,2\n" * 1000 + "1,\n")
    assert scans
    assert "line 402" in refused("a,b\n" + "1,2\n" * 400 + "1\n" + "1,2\n" * 5)

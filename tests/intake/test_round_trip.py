"""Whatever is written in one of the ways that are recognised is read back as it was."""

import csv
import io

import pandas as pd
from hypothesis import given, settings
from hypothesis import strategies as st

from horseshoe.intake import TableError, read_table

LETTERS = (
    st.text(st.sampled_from("abcxyzäöüßé \"',;|\t\n<>&"), min_size=1, max_size=8)
    .map(str.strip)
    .filter(lambda word: word not in ("", "-", ".") and not word.startswith("'"))
)
NUMBERS = st.floats(allow_nan=False, allow_infinity=False, width=64)


@st.composite
def tables(draw):
    names = draw(st.lists(LETTERS, min_size=2, max_size=5, unique=True))
    rows = draw(st.integers(2, 8))
    columns = {names[0]: draw(st.lists(NUMBERS, min_size=rows, max_size=rows))}
    for name in names[1:]:
        values = draw(st.sampled_from([NUMBERS, LETTERS.map(lambda word: f"w{word}")]))
        columns[name] = draw(st.lists(values, min_size=rows, max_size=rows))
    return pd.DataFrame(columns)


@settings(max_examples=60)
@given(
    frame=tables(),
    mark=st.sampled_from([",", ";", "\t", "|"]),
    codec=st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "latin-1"]),
    end=st.sampled_from(["\n", "\r\n"]),
    decimal=st.sampled_from([".", ","]),
)
def test_written_and_read(frame, mark, codec, end, decimal):
    out = io.StringIO(newline="")
    frame.to_csv(
        out,
        sep=mark,
        index=False,
        lineterminator=end,
        decimal=decimal,
        quoting=csv.QUOTE_NONNUMERIC if decimal == "." else csv.QUOTE_ALL,
    )
    table = read_table("-", stdin=out.getvalue().encode(codec))
    assert list(table.frame.columns) == list(frame.columns)
    for name in frame.columns:
        assert table.frame[name].tolist() == frame[name].tolist()


@settings(max_examples=100)
@given(st.binary(max_size=200) | st.text('ab12,;."\n\r\t |', max_size=60).map(str.encode))
def test_anything_else_is_a_table_or_a_sentence(data):
    try:
        table = read_table("-", stdin=data)
    except TableError as error:
        assert str(error).strip()  # noqa: PT017
    else:
        assert len(table.frame) > 0
        assert all(name.strip() for name in table.frame.columns)

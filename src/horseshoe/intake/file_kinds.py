"""Files: how they are opened, what those look like that are no text, and what to do with them."""

from __future__ import annotations

import io
from pathlib import Path
from typing import BinaryIO

from horseshoe.intake.messages import TableError

# The files of Arrow, which are read.
MAGIC: tuple[tuple[bytes, str, str], ...] = (
    (b"\x1f\x8b", "a gzip file", "unpack it with gunzip"),
    (b"BZh", "a bzip2 file", "unpack it with bunzip2"),
    (b"\xfd7zXZ", "an xz file", "unpack it with unxz"),
    (b"\x28\xb5\x2f\xfd", "a zstd file", "unpack it with unzstd"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive", "unpack it"),
    (b"Rar!", "a RAR archive", "unpack it"),
    (b"\xd0\xcf\x11\xe0", "an old Excel workbook", "save the sheet as CSV"),
    (b"%PDF", "a PDF", "export the table as CSV"),
    (b"\x89PNG", "a picture", "a table is needed"),
    (b"\xff\xd8\xff", "a picture", "a table is needed"),
    (b"GIF8", "a picture", "a table is needed"),
    (b"SQLite format 3", "an SQLite database", "export the table as CSV"),
    (b"\x89HDF", "an HDF5 file", "export the table as CSV or Parquet"),
    (b"CDF", "a NetCDF file", "export the table as CSV or Parquet"),
    (b"\x93NUMPY", "a NumPy array", "save it as CSV with a header of names"),
    (b"RDX", "an R workspace", "write the table with write.csv in R"),
    (b"X\n\0\0", "an R object (rds)", "write the table with write.csv in R"),
    (b"<stata_dta>", "a Stata file", "export it as CSV"),
    (b"$FL2", "an SPSS file", "export it as CSV"),
    (b"\x6c\x1b\x01", "a PLINK .bed file", "name the file itself, with its .bim and .fam beside it"),
    (b"\x7fELF", "a program", "a table is needed"),
)
ARROW = {b"PAR1": "parquet", b"ARROW1": "feather", b"FEA1": "feather"}


class Source:
    """Bytes that can be opened more than once: a file, or all of standard input."""

    def __init__(self, name: str, path: Path | None = None, data: bytes = b""):
        self.name, self.path, self.data = name, path, data

    def open(self) -> BinaryIO:
        """Return the bytes as a stream from their beginning."""
        if self.path is None:
            return io.BytesIO(self.data)
        try:
            return self.path.open("rb")
        except PermissionError:
            raise TableError(f"no permission to read {self.name}: ask its owner, or copy it") from None
        except OSError as error:
            raise TableError(f"{self.name} cannot be read: {error.strerror or error}") from None


def arrow_kind(head: bytes) -> str | None:
    """Return which of Arrow's files begins so.

    Examples
    --------
    >>> arrow_kind(b"PAR1..."), arrow_kind(b"a,b")
    ('parquet', None)
    """
    return next((kind for magic, kind in ARROW.items() if head.startswith(magic)), None)


def looks_binary(head: bytes) -> str | None:
    r"""Return what a file that is no text looks like and what to do; None if it may be text.

    Examples
    --------
    >>> looks_binary(b"a,b\n1,2\n") is None
    True
    >>> looks_binary(b"\x1f\x8b\x08\x00")
    'it looks like a gzip file: unpack it with gunzip'
    """
    if head.startswith(b"PK\x03\x04"):
        office = b"[Content_Types].xml" in head or b"xl/" in head or b"opendocument" in head
        what = ("an Excel workbook", "save the sheet as CSV") if office else ("a zip archive", "unpack it")
        return f"it looks like {what[0]}: {what[1]}"
    if head[:1] == b"\x80" and head[1:2] in (b"\x02", b"\x03", b"\x04", b"\x05"):
        return "it looks like a pickle, which could run anything: save the table as CSV or Parquet"
    for magic, what_it_is, advice in MAGIC:
        if head.startswith(magic):
            return f"it looks like {what_it_is}: {advice}"
    return _no_text(head)


def _no_text(head: bytes) -> str | None:
    if head.startswith((b"\xff\xfe", b"\xfe\xff", b"\xef\xbb\xbf")) or sixteen_bits(head):
        return None
    control = sum(head.count(byte) for byte in range(32) if byte not in (7, 8, 9, 10, 11, 12, 13, 27))
    if b"\0" in head or control > len(head) // 100:
        return "it holds bytes that no text has: a CSV, TSV, Parquet or Feather file is needed"
    start = head.lstrip()[:200].lower()
    if start.startswith((b"<!doctype", b"<html", b"<?xml")):
        return "it looks like a web page or XML: save the table as CSV"
    if start.startswith((b"{", b"[{", b"[[")):
        return "it looks like JSON: save the table as CSV"
    return None


def sixteen_bits(head: bytes) -> str | None:
    r"""Return the byte order of UTF-16 text without a mark; None if it is none.

    Examples
    --------
    >>> sixteen_bits("age;bmi".encode("utf-16-le"))
    'utf-16-le'
    """
    head = head[: len(head) // 2 * 2]
    even, odd = head[::2], head[1::2]
    for zeros, letters, codec in ((odd, even, "utf-16-le"), (even, odd, "utf-16-be")):
        if head and zeros.count(0) > 0.7 * len(zeros) and letters.count(0) == 0:
            return codec
    return None

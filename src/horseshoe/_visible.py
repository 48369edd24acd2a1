"""Text of users as a terminal may show it: control characters and overrides written out."""

from __future__ import annotations

import re

UNSAFE = re.compile(
    "[\x00-\x1f\x7f-\x9f"  # C0 and C1 controls, among them escape, line ends and tabs
    "\u202a-\u202e\u2066-\u2069"  # embeddings, overrides and isolates of direction
    "\u2028\u2029\ud800-\udfff]"  # ends of lines and paragraphs, and halves of characters
)


def visible(text: str, keep: str = "") -> str:
    r"""Return a text with all that a terminal obeys written as Python writes it; ``keep`` stays as it is.

    Examples
    --------
    >>> print(visible("\x1b[31mred\n\u202etxt"), visible("two\nlines", keep="\n"))
    \x1b[31mred\n\u202etxt two
    lines
    """
    return UNSAFE.sub(lambda found: found[0] if found[0] in keep else _written(found[0]), text)


def _written(sign: str) -> str:
    return sign.encode("unicode_escape").decode("ascii")

"""Options that take one value are given once: of two, one would be dropped without a word."""

from __future__ import annotations

from collections import Counter
from typing import Any

from typer.core import TyperCommand

from horseshoe.cli.shared import told

ONCE = {
    "--target": "one target is explained at a time, so run the command once for each; several responses "
    "together are for Python, as in AdaptiveRegressor().fit(X, Y)",
}
"""What to do about an option that is given more than once, where there is more to say."""


class Once(TyperCommand):
    """A command that refuses to be given an option of one value more than once; flags may be repeated.

    Examples
    --------
    >>> import typer
    >>> app = typer.Typer()
    >>> @app.command(cls=Once)
    ... def greet(name: str = "you"):
    ...     pass
    >>> from typer.testing import CliRunner
    >>> print(CliRunner().invoke(app, ["--name", "Ann", "--name", "Bea"]).stderr.strip())
    horseshoe: --name is given 2 times, and takes one value: give it once
    """

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Refuse what is given again, and go on as ever."""
        _, _, given = self.make_parser(ctx).parse_args(args=list(args))
        single: Any = [one for one in given if one.param_type_name == "option" and one.nargs == 1]
        with told(ValueError):
            _refuse_again([one.opts[0] for one in single if not (one.multiple or one.is_flag or one.count)])
        return super().parse_args(ctx, args)


def _refuse_again(names: list[str]) -> None:
    """Refuse a name that is there more than once.

    Examples
    --------
    >>> _refuse_again(["--target", "--family", "--family"])
    Traceback (most recent call last):
    ValueError: --family is given 2 times, and takes one value: give it once
    """
    for name, times in Counter(names).items():
        if times > 1:
            what = ONCE.get(name, "give it once")
            raise ValueError(f"{name} is given {times} times, and takes one value: {what}")

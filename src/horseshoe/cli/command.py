"""What all commands of the program have in common, before and around what they do."""

from __future__ import annotations

from collections import Counter
from typing import Any

from typer.core import TyperCommand

from horseshoe.cli.terminal import exit_with_message, warnings_as_notices
from horseshoe.threads import one_thread

# What to do about an option that is given more than once, where there is more to say.
ADVICE = {
    "--target": "one target is explained at a time, so run the command once for each; several responses "
    "together are for Python, as in AdaptiveRegressor().fit(X, Y)",
}


class Command(TyperCommand):
    """A command that refuses an option of one value that is given twice; flags may be repeated.

    What the user can mend ends it with a message and exit code 2; warnings are printed as sentences.

    Examples
    --------
    >>> import typer
    >>> app = typer.Typer()
    >>> @app.command(cls=Command)
    ... def greet(name: str = "you"):
    ...     pass
    >>> from typer.testing import CliRunner
    >>> print(CliRunner().invoke(app, ["--name", "Ann", "--name", "Bea"]).stderr.strip())
    horseshoe: --name is given 2 times, and takes one value: give it once
    """

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Refuse an option of one value that is given twice: of two values one would be dropped silently."""
        _, _, given = self.make_parser(ctx).parse_args(args=list(args))
        options: Any = [one for one in given if one.param_type_name == "option" and one.nargs == 1]
        names = [one.opts[0] for one in options if not (one.multiple or one.is_flag or one.count)]
        with exit_with_message(ValueError):
            for name, times in Counter(names).items():
                if times > 1:
                    advice = ADVICE.get(name, "give it once")
                    raise ValueError(f"{name} is given {times} times, and takes one value: {advice}")
        return super().parse_args(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        """Run the command."""
        with exit_with_message(ValueError), warnings_as_notices(), one_thread():
            return super().invoke(ctx)

"""The commands as a user gives them, in this process."""

from typer.testing import CliRunner

from horseshoe.cli.app import app


def run(*arguments, stdin=None, **environment):
    """Return how a command ended, and what it printed."""
    return CliRunner().invoke(app, [str(one) for one in arguments], input=stdin, env=environment or None)


def done(*arguments, **options):
    """Return the same of a command that does what is asked."""
    result = run(*arguments, **options)
    assert result.exit_code == 0, result.output
    return result


def refused(*arguments, **options):
    """Return the one message of a command that a user can mend."""
    result = run(*arguments, **options)
    assert result.exit_code == 2, result.output
    assert "Traceback" not in result.output
    return result.stderr

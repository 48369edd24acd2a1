"""The commands in the documents do what the documents show."""

import doctest
import re
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from horseshoe.cli.app import app

ROOT = Path(__file__).parents[1]
PAGES = ["README.md", *sorted(f"docs/{path.name}" for path in (ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"```console\n(.*?)```", re.DOTALL)
LIKE = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def commands(page):
    """Return pairs of a command and what the page says it prints."""
    found = []
    for block in BLOCK.findall((ROOT / page).read_text("utf-8")):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, shown = part.partition("\n")
            found.append((command, shown))
    return found


def run(command):
    """Run a command of the program; standard output goes where `>` says."""
    words = shlex.split(command)
    assert words[0] == "horseshoe", command
    words, target = (words[1:-2], words[-1]) if ">" in words else (words[1:], None)
    done = CliRunner().invoke(app, words, env={"COLUMNS": "80", "NO_COLOR": "1"})
    assert done.exit_code == 0, f"{command}: {done.output}"
    if target is None:
        return "\n".join(line.rstrip() for line in done.output.splitlines())
    Path(target).write_text(done.stdout)
    return done.stderr


def write_lung(folder):
    """Write the table that docs/command_line.md speaks of, as the page says."""
    from sksurv.datasets import load_veterans_lung_cancer

    table, seen = load_veterans_lung_cancer()
    status = ["dead" if each else "censored" for each in seen["Status"]]
    table.assign(days=seen["Survival_in_days"], status=status).to_csv(folder / "lung.csv", index=False)


@pytest.mark.parametrize("page", [page for page in PAGES if commands(page)])
def test_commands_print_what_the_page_shows(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    if any("lung.csv" in command for command, _ in commands(page)):
        write_lung(tmp_path)
    for command, shown in commands(page):
        printed = run(command)
        assert doctest.OutputChecker().check_output(shown, printed + "\n", LIKE), f"{command}\n{printed}"


def test_there_are_such_commands():
    assert len(commands("docs/command_line.md")) >= 5

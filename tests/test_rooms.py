"""The rooms of the package: who imports whom, who knows how X is kept, and what an import brings along."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import horseshoe

ROOT = Path(horseshoe.__file__).parent
FILES = {path.relative_to(ROOT).as_posix(): path.read_text("utf-8") for path in sorted(ROOT.rglob("*.py"))}
LEVELS = """
    _types _lazy _checks _extras _version _visible threads linalg variates files store
    data priors families
    conditional
    em sampling
    posterior
    model
    average report intake
    plots
    estimators
    cli results
"""
LEVEL = {room: number for number, line in enumerate(LEVELS.split("\n"), -1) for room in line.split()}
FREE = ("__init__", "__main__")


def imports(text):
    """Yield the line and the full name of all that is imported, late or for type checkers alone too."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import | ast.ImportFrom):
            start = "" if isinstance(node, ast.Import) else "." * node.level + f"{node.module or ''}."
            yield from ((node.lineno, start + alias.name) for alias in node.names)


def room_of(name):
    """Return the room of ``horseshoe.room.module.thing``; a public name of the package lives in one too."""
    return (*horseshoe._HOMES.get(name.removeprefix("horseshoe."), name).split("."), "")[1]


def may_import(room, other):
    """Allow what is to the left, and the room itself; the leftmost are one room."""
    here, there = LEVEL[room], LEVEL.get(other, len(LEVEL))
    return room == other or there < here or there == here == 0


def test_imports_go_to_the_left():
    wrong = {}
    for path, text in FILES.items():
        room = path.removesuffix(".py").split("/")[0]
        own = [(line, name) for line, name in imports(text) if name.split(".")[0] in ("horseshoe", "")]
        if room not in (*LEVEL, *FREE):
            wrong[path] = f"{path} is in no room"
        elif room in LEVEL:
            wrong |= {
                (path, line): f"{path}:{line} imports {name.rpartition('.')[0] or name}"
                for line, name in own
                if not may_import(room, room_of(name))
            }
    assert not wrong, "\n" + "\n".join(wrong.values())


def test_the_program_writes_in_one_place():
    """Text of users goes to a terminal by `horseshoe.cli.terminal`, which shows what a terminal obeys."""
    direct = re.compile(
        r"rich\.text|stdout\.write|(?<![.\w])print\(|typer\.echo\((?!json_text|f\"horseshoe )"
    )
    code = {path: re.sub(r"(?m)^ *(>>>|\.\.\.) .*$", "", text) for path, text in FILES.items()}
    wrong = [path for path, text in code.items() if path.startswith("cli/") and direct.search(text)]
    assert wrong == ["cli/terminal.py"]


def test_only_the_data_know_how_x_is_kept():
    kept = re.compile(r"\._x\b|(from|import) scipy\.sparse|from scipy import .*\bsparse\b")
    wrong = [path for path, text in FILES.items() if not path.startswith("data/") and kept.search(text)]
    assert not wrong


def test_an_import_brings_nothing_heavy_along():
    heavy = (
        "matplotlib",
        "dask",
        "distributed",
        "bed_reader",
        "typer",
        "pandas",
        "formulaic",
        "sklearn.linear_model",
        "polars",
        "scipy.stats",
        "numba",
    )
    code = f"import sys, horseshoe; print(*[name for name in {heavy} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []

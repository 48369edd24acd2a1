"""Virtual environments of the peers, made on demand, one each so that their pins do not meet."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import venv
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.peers.methods import OURS
from benchmarks.peers.pins import ENVIRONMENTS

ROOT = Path(__file__).resolve().parents[1] / ".venvs"

_VERSIONS = """
import json, sys
from importlib.metadata import PackageNotFoundError, version
found = {}
for name in sys.argv[1:]:
    try:
        found[name] = version(name)
    except PackageNotFoundError:
        found[name] = "not installed"
print(json.dumps(found))
"""

_PLACES = re.compile(r"[a-z+]+://\S+|(?<![\w.])/[^\s'\"]+")


@dataclass
class Environment:
    """An interpreter to run methods in, or the reason there is none."""

    name: str
    python: str | None
    reason: str = ""
    versions: dict[str, str] = field(default_factory=dict)


def last_line(text: str) -> str:
    """Return the line of a tool's output that says what went wrong, without addresses and paths."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith("ERROR") or "Error:" in line]
    chosen = (errors or lines or ["no output"])[-1]
    return _PLACES.sub("...", chosen)[:160]


def versions_in(python: str, names: tuple[str, ...]) -> dict[str, str]:
    """Return the installed versions of some distributions, as an interpreter sees them."""
    done = subprocess.run([python, "-c", _VERSIONS, *names], capture_output=True, text=True, check=False)
    found: dict[str, str] = json.loads(done.stdout) if done.returncode == 0 else {}
    return found


def _python_of(place: Path) -> Path:
    return place / "bin" / "python"


def _create(place: Path, requirements: tuple[str, ...]) -> str:
    """Make one environment; return what went wrong, or nothing."""
    shutil.rmtree(place, ignore_errors=True)
    venv.create(place, with_pip=True)
    command = [str(_python_of(place)), "-m", "pip", "install", "--quiet", "--no-input"]
    command += ["--disable-pip-version-check", "--retries", "1", *requirements]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return "" if done.returncode == 0 else f"pip could not install it: {last_line(done.stderr)}"


def ensure(name: str) -> Environment:
    """Return a peer's environment, made anew when it is missing or its requirements changed."""
    requirements = ENVIRONMENTS[name]
    place = ROOT / name
    stamp = place / "requirements.json"
    wanted = json.dumps([sys.version, *requirements])
    if not stamp.is_file() or stamp.read_text(encoding="utf-8") != wanted:
        print(f"environment {name}: {' '.join(requirements)}", file=sys.stderr, flush=True)
        try:
            reason = _create(place, requirements)
        except (OSError, subprocess.SubprocessError) as error:
            reason = f"no environment: {last_line(str(error))}"
        if reason:
            return Environment(name, None, reason)
        stamp.write_text(wanted, encoding="utf-8")
    python = str(_python_of(place))
    return Environment(name, python, "", versions_in(python, tuple(r.split("==")[0] for r in requirements)))


def place_of(name: str | None, environments: dict[str, Environment]) -> Environment:
    """Return the environment of a name; our own interpreter for none."""
    return Environment(OURS, sys.executable) if name is None else environments[name]

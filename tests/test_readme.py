"""The first example of the README needs nothing but the library itself."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text("utf-8")
MODULES = {"python-glmnet": "glmnet"}
RUN = """
import doctest, sys
class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {blocked}:
            raise ImportError(name + " is not among what the library itself installs")
sys.meta_path.insert(0, Refuse())
test = doctest.DocTestParser().get_doctest(sys.stdin.read(), {{}}, "README", None, 0)
found = doctest.DocTestRunner(verbose=False).run(test)
print(found.attempted, found.failed)
"""


def extras():
    """Return the modules that only extras install."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    wanted = [name for group in project["optional-dependencies"].values() for name in group]
    names = {re.match(r"[\w-]+", name)[0] for name in wanted} - {"horseshoe"}
    return sorted(MODULES.get(name, name.replace("-", "_")) for name in names)


def run(example):
    code = RUN.format(blocked=extras())
    done = subprocess.run(
        [sys.executable, "-c", code], input=example, capture_output=True, text=True, check=True
    )
    *said, last = done.stdout.strip().splitlines()
    attempted, failed = map(int, last.split())
    return attempted, failed, "\n".join(said)


def test_the_first_example_runs_without_any_extra():
    first = re.search(r"```python\n(.*?)```", README, re.DOTALL)[1]
    attempted, failed, said = run(first)
    assert attempted > 3
    assert failed == 0, said


def test_the_extras_are_refused_there():
    assert {"pandas", "matplotlib", "polyagamma"} <= set(extras())
    assert run(">>> import pandas\n")[1] == 1


def test_the_metadata_say_where_to_read_on():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert project["readme"] == "README.md"
    assert project["urls"]
    assert all(re.match(r"https://\S+$", url) for url in project["urls"].values())

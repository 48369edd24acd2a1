"""What is released: archives with the right content and metadata, and a workflow that calls what there is."""

import os
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from email.parser import Parser
from pathlib import Path

import pytest
import yaml

from horseshoe import __version__

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
WORKFLOW = yaml.safe_load((ROOT / ".github/workflows/ci.yml").read_text("utf-8"))


def build(folder, project, stem):
    """Return the wheel and the source archive of a project."""
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder), str(project)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder / f"{stem}-py3-none-any.whl", folder / f"{stem}.tar.gz"


@pytest.fixture(scope="module")
def archives(tmp_path_factory):
    """Build the source archive, and the wheel from it, as `make dist` does."""
    return build(tmp_path_factory.mktemp("dist"), ROOT, f"horseshoe-{__version__}")


@pytest.fixture(scope="module")
def of_the_reproduction(tmp_path_factory):
    """Build the archives of the reproduction."""
    return build(tmp_path_factory.mktemp("dist"), ROOT / "reproduction", "horseshoe_reproduction-0.1.0")


@pytest.fixture(scope="module")
def in_wheel(archives):
    with zipfile.ZipFile(archives[0]) as wheel:
        return {name: wheel.read(name) for name in wheel.namelist()}


@pytest.fixture(scope="module")
def metadata(in_wheel):
    return Parser().parsestr(in_wheel[f"horseshoe-{__version__}.dist-info/METADATA"].decode("utf-8"))


def test_the_archives_are_fit_for_an_index(archives, of_the_reproduction):
    files = map(str, archives + of_the_reproduction)
    command = [sys.executable, "-m", "twine", "check", "--strict", *files]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("PASSED") == 4


def test_the_metadata(metadata):
    assert (metadata["Name"], metadata["Version"]) == ("horseshoe", __version__)
    assert metadata["License-Expression"] == "BSD-3-Clause"
    assert metadata["License-File"] == "LICENSE"
    assert metadata["Requires-Python"] == ">=3.11"
    assert metadata["Summary"] == PROJECT["description"]
    assert metadata["Description-Content-Type"] == "text/markdown"
    assert set(metadata.get_all("Provides-Extra")) == set(PROJECT["optional-dependencies"])
    needed = {
        re.match(r"[\w-]+", line)[0] for line in metadata.get_all("Requires-Dist") if "extra ==" not in line
    }
    assert needed == {"numpy", "scipy", "scikit-learn"}


def test_the_wheel_has_the_package_and_nothing_else(in_wheel):
    ours = {path for path in (ROOT / "src/horseshoe").rglob("*") if path.is_file()}
    kept = {path for path in ours if "__pycache__" not in path.parts}
    assert {name for name in in_wheel if name.startswith("horseshoe/")} == {
        path.relative_to(ROOT / "src").as_posix() for path in kept
    }
    assert "horseshoe/py.typed" in in_wheel
    assert {name.split("/")[0] for name in in_wheel} == {"horseshoe", f"horseshoe-{__version__}.dist-info"}
    assert b"horseshoe.__main__:main" in in_wheel[f"horseshoe-{__version__}.dist-info/entry_points.txt"]


def test_the_source_archive_has_what_a_packager_needs(archives):
    with tarfile.open(archives[1]) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    for wanted in ("src/horseshoe/py.typed", "tests/registry.py", "docs/index.md", "docs/conf.py", "LICENSE"):
        assert wanted in names
    for wanted in ("README.md", "CHANGELOG.md", "CITATION.cff", "pyproject.toml", "examples/diabetes.py"):
        assert wanted in names
    left_over = [
        name for name in names if "__pycache__" in name or name.startswith((".venv", "build", "dist"))
    ]
    assert not left_over
    assert not [name for name in names if name.startswith(("docs/gallery", "docs/generated"))]


def test_the_wheel_of_the_reproduction_offers_its_command(of_the_reproduction):
    with zipfile.ZipFile(of_the_reproduction[0]) as wheel:
        names = wheel.namelist()
        points = wheel.read("horseshoe_reproduction-0.1.0.dist-info/entry_points.txt").decode("utf-8")
    assert "[horseshoe.commands]\nreproduce = horseshoe_reproduction.command:reproduce" in points
    assert "horseshoe_reproduction/printed.csv" in names
    assert {name.split("/")[0].split("-")[0] for name in names} == {"horseshoe_reproduction"}


def test_the_source_archives_have_what_their_tests_import(archives, of_the_reproduction, tmp_path):
    """Unpack both, and run some tests of each where nothing else of the tree is."""
    for archive in (archives[1], of_the_reproduction[1]):
        with tarfile.open(archive) as files:
            files.extractall(tmp_path, filter="data")
    ours, theirs = (
        tmp_path / file.name.removesuffix(".tar.gz") for file in (archives[1], of_the_reproduction[1])
    )
    sources = {"PYTHONPATH": os.pathsep.join([str(ours / "src"), str(theirs / "src"), str(ours)])}
    for folder, *tests in (
        (ours, "tests/reproduction/test_scores.py", "tests/estimators/test_slab.py", "--collect-only"),
        (ours, "tests/reproduction/test_scores.py", "tests/test_variates.py"),
        (theirs, "src/horseshoe_reproduction/scores.py", "--doctest-modules"),
    ):
        command = [sys.executable, "-P", "-m", "pytest", "-q", "-p", "no:cacheprovider", *tests]
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, cwd=folder, env=os.environ | sources
        )
        assert done.returncode == 0, done.stdout + done.stderr


def test_the_wheel_works_where_nothing_else_of_the_tree_is(archives, tmp_path):
    with zipfile.ZipFile(archives[0]) as wheel:
        wheel.extractall(tmp_path)
    code = (
        f"import sys; sys.path[:0] = [{str(tmp_path)!r}]; import horseshoe;"
        "fit = horseshoe.HorseshoeRegressor().fit([[1.0], [2.0], [3.0], [4.0]], [1.0, 2.1, 2.9, 4.0]);"
        "print(horseshoe.__version__, horseshoe.__file__, fit.support_.sum())"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-c", code], capture_output=True, text=True, check=True, cwd=tmp_path
    )
    version, file, selected = done.stdout.split()
    assert (version, selected) == (__version__, "1")
    assert Path(file).is_relative_to(tmp_path)


def test_the_classifiers_name_the_versions_that_are_tested():
    said = {line.rsplit(" ", 1)[1] for line in PROJECT["classifiers"] if ":: 3." in line}
    assert said == set(WORKFLOW["jobs"]["test"]["strategy"]["matrix"]["python"])


def test_the_workflow_calls_targets_that_there_are():
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    called = {
        target
        for job in WORKFLOW["jobs"].values()
        for step in job["steps"]
        for target in re.findall(r"\bmake (?:[A-Z]+=\S+ )*([a-z-]+)", step.get("run", ""))
    }
    assert called <= targets
    assert {"lint", "test", "docs", "dist"} <= called


def test_the_workflow_pins_its_actions_and_may_only_read():
    used = [step["uses"] for job in WORKFLOW["jobs"].values() for step in job["steps"] if "uses" in step]
    assert used
    assert all(re.fullmatch(r"[\w-]+/[\w-]+@v\d+\.\d+\.\d+", action) for action in used)
    assert WORKFLOW["permissions"] == {"contents": "read"}


def test_it_is_tested_on_three_systems():
    systems = WORKFLOW["jobs"]["test"]["strategy"]["matrix"]["os"]
    assert {name.split("-")[0] for name in systems} == {"ubuntu", "macos", "windows"}

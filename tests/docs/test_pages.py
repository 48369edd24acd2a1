"""The pages hang together: all are in the contents, links lead somewhere, and what is in Python is run."""

import re
from pathlib import Path

import pytest

import horseshoe
from horseshoe import families, plots, priors

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = sorted([*DOCS.glob("*.md"), *DOCS.glob("decisions/*.md")])
TEXTS = [*PAGES, *ROOT.glob("*.md"), ROOT / "experiments/README.md"]
MADE_BY_THE_BUILD = {DOCS / "gallery/index.rst"}

every_text = pytest.mark.parametrize("page", TEXTS, ids=lambda page: str(page.relative_to(ROOT)))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_is_in_the_contents(page):
    contents = re.findall(r"```\{toctree\}\n(.*?)```", (DOCS / "index.md").read_text("utf-8"), re.DOTALL)
    listed = {line.strip() for block in contents for line in block.splitlines()}
    name = str(page.relative_to(DOCS).with_suffix(""))
    assert page.stem == "index" or name in listed or f"{Path(name).parent}/*" in listed


@every_text
def test_links_lead_to_files_of_the_repository(page):
    text = re.sub(r"```.*?```|`[^`\n]*`", "", page.read_text("utf-8"), flags=re.DOTALL)
    targets = {link.partition("#")[0] for link in re.findall(r"\]\(([^)\s]+)\)", text)}
    files = {page.parent / target for target in targets if target and "://" not in target}
    missing = [str(file) for file in files - MADE_BY_THE_BUILD if not file.exists()]
    assert not missing


@every_text
def test_what_is_in_python_is_run(page):
    """A block that says it is Python begins with a prompt, so that doctest runs it."""
    blocks = re.findall(r"^ *```(?:python|py)\n(.*?)```", page.read_text("utf-8"), re.DOTALL | re.MULTILINE)
    assert all(block.lstrip().startswith(">>>") for block in blocks)


def test_every_public_name_is_in_the_reference():
    said = set(re.findall(r"\w+", (DOCS / "api.md").read_text("utf-8")))
    assert set(horseshoe.__all__) - {"__version__"} <= said
    assert set(plots.__all__) <= said
    for module in (priors, families):
        classes = {name for name in module.__all__ if isinstance(getattr(module, name), type)}
        assert classes - INNER <= said


INNER = {"Estimating", "Groups", "Slab", "Counts", "Location", "Shares"}
"""Classes that users neither make nor write."""


def test_the_reference_names_only_what_there_is():
    text = (DOCS / "api.md").read_text("utf-8")
    for module, names in re.findall(r"currentmodule:: (\S+)(.*?)(?=currentmodule|\Z)", text, re.DOTALL):
        for name in re.findall(r"^   ([A-Za-z]\S+)$", names, re.MULTILINE):
            home, _, last = f"{module}.{name}".rpartition(".")
            assert hasattr(__import__(home, fromlist=[last]), last), name

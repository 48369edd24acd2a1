"""How the site is built: `make docs` writes it to build/docs, without the network."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]

project = "horseshoe"
author = "The horseshoe developers"
copyright = author
release = re.search(r'__version__ = "(.+)"', (ROOT / "src/horseshoe/_version.py").read_text("utf-8"))[1]  # type: ignore[index]

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["conftest.py", "gallery/*.ipynb", "gallery/*.py", "gallery/*.zip", "**/README.txt"]
default_role = "py:obj"

myst_enable_extensions = ["dollarmath", "amsmath", "deflist"]
myst_heading_anchors = 3
myst_dmath_double_inline = True

autosummary_generate = True
autodoc_typehints = "none"  # the docstrings say it in words
autodoc_default_options = {"member-order": "bysource"}
numpydoc_class_members_toctree = False
numpydoc_show_inherited_class_members = True
numpydoc_xref_param_type = False

sphinx_gallery_conf = {
    "examples_dirs": "../examples/gallery",
    "gallery_dirs": "gallery",
    "within_subsection_order": "FileNameSortKey",
    "abort_on_example_error": True,
    "run_stale_examples": True,  # the library may have changed since
    "download_all_examples": False,
    "remove_config_comments": True,
    "show_memory": False,
    "write_computation_times": False,
    "image_scrapers": ("matplotlib",),
    "matplotlib_animations": False,
}

html_theme = "furo"
html_title = f"horseshoe {release}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_math_renderer = "mathml"
html_copy_source = False
html_show_sphinx = False
templates_path = ["_templates"]


def setup(app: Any) -> None:
    """Write formulas as MathML, which browsers read without a script, and mend links that lead out."""
    app.add_html_math_renderer("mathml", (inline_math, None), (display_math, None))
    app.connect("source-read", keep_links_inside)
    app.connect("autodoc-process-docstring", plain_references)
    app.connect("autodoc-skip-member", leave_out)
    app.connect("build-finished", ask_nobody)


def inline_math(translator: Any, node: Any) -> None:
    """Write a formula that stands in a line of text."""
    write_math(translator, node, as_block=False)


def display_math(translator: Any, node: Any) -> None:
    """Write a formula on a line of its own."""
    write_math(translator, node, as_block=True)


def write_math(translator: Any, node: Any, as_block: bool) -> None:
    """Write the MathML of a formula; docutils brings the translator along."""
    from docutils import nodes
    from docutils.utils.math import latex2mathml

    translator.body.append(latex2mathml.tex2mathml(node.astext(), as_block=as_block))
    raise nodes.SkipNode


def keep_links_inside(app: Any, name: str, source: list[str]) -> None:
    """Lead links to files of the repository that have a page here to that page."""
    up = "../" * name.count("/")
    for file, page in PAGES.items():
        source[0] = re.sub(rf"\]\(\.\./{up}{file}", f"]({up}{page}", source[0])


PAGES = {
    "CONTRIBUTING.md": "CONTRIBUTING.md",
    "CHANGELOG.md": "CHANGELOG.md",
    "SECURITY.md": "SECURITY.md",
    "experiments/results[^)]*": "results.md",
}
"""Files of the repository, and the pages that show them."""


def plain_references(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Take docstrings for what they mean: |r| is a number, and scikit-learn's own site is not at hand."""
    for at, line in enumerate(lines):
        if line.strip().endswith("Examples"):  # what follows is code
            break
        lines[at] = re.sub(r":ref:`([^`<]*?)\s*(?:<[^`]*>)?`", r"\1", line).replace("|", r"\|")


def leave_out(app: Any, what: str, name: str, obj: Any, skip: bool, options: Any) -> bool | None:
    """Leave out what scikit-learn gives every estimator for its own use: requests of metadata."""
    return True if re.fullmatch(r"set_\w+_request|get_metadata_routing", name) else None


def ask_nobody(app: Any, failed: Exception | None) -> None:
    """Fail if a page would load something from elsewhere: the site is read without a network too."""
    from sphinx.errors import ExtensionError

    elsewhere = re.compile(r"<(?:script|link|img|iframe|source)\b[^>]*?(?:src|href)=\"(?:https?:)?//[^>]*>")
    for page in () if failed else Path(app.outdir).rglob("*.html"):
        for found in elsewhere.findall(page.read_text("utf-8")):
            raise ExtensionError(f"{page.name} loads something from elsewhere: {found}")

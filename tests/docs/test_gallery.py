"""The pages of the gallery are scripts too; `make docs` runs all of them, this the quickest."""

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted((ROOT / "examples/gallery").glob("plot_*.py"))
RUN = ["plot_4_counts.py", "plot_6_robust.py"]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_has_a_title_prose_and_a_picture(page):
    tree = ast.parse(page.read_text("utf-8"))
    title, line, blank, *text = ast.get_docstring(tree).splitlines()
    assert line == "=" * len(title)
    assert blank == ""
    assert " ".join(text).endswith(".")
    assert "plt.show()" in page.read_text("utf-8")


def test_there_is_a_page_for_each_kind_of_question():
    said = " ".join(page.stem.split("_", 2)[2] for page in PAGES)
    tasks = "adaptive genomics clinical counts categories robust posterior pipelines"
    assert said == f"{tasks} amounts ordered quantiles survival"


@pytest.mark.parametrize("name", RUN)
def test_a_page_runs_as_a_script(name, tmp_path):
    page = ROOT / "examples/gallery" / name
    quiet = "ignore:FigureCanvasAgg is non-interactive:UserWarning"
    done = subprocess.run(
        [sys.executable, "-W", "error", "-W", quiet, str(page)],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        env=os.environ | {"MPLBACKEND": "Agg"},
    )
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) > 5

"""The recorded answers: every case is there once, says something, and a resumed fit is the same fit."""

import numpy as np
import pytest
from benchmarks.against.packages import package_of
from benchmarks.answers.__main__ import answer
from benchmarks.answers.compare import difference, moved
from benchmarks.answers.structured import RESPONSES, STRUCTURES, Task, fit, structured_fits, structured_runs

EACH = [
    (f"{way}{kind}", responses[0])
    for kind, responses in RESPONSES.items()
    for way in ("Horseshoe", "Adaptive")
]


def test_every_structure_meets_every_estimator_once():
    names = [name for name, _ in (*structured_fits(), *structured_runs())]
    assert len(set(names)) == len(names)
    for structure in STRUCTURES:
        kinds = {name.split("/")[1] for name in names if name.endswith(structure.replace(" ", "_"))}
        missing = {"slab": {f"Adaptive{kind}" for kind in RESPONSES}, "resumed": {"sampler"}}
        assert {name for name, _ in EACH} | {"sampler"} == kinds | missing.get(structure, set())


@pytest.mark.parametrize(("estimator", "response"), EACH)
def test_a_resumed_fit_is_the_same_fit(estimator, response):
    plain, resumed = (fit(Task(estimator, response, "wide", name)) for name in ("plain", "resumed"))
    assert not moved({key: difference(np.asarray(plain[key]), np.asarray(resumed[key])) for key in plain})


def test_an_answer_that_moves_is_seen():
    name, function = next(structured_fits())
    found = answer(name, function)
    other = {**found, "coef": found["coef"] * (1.0 + 1e-9)}
    assert moved({key: difference(found[key], other[key]) for key in found})
    assert found["status"] == "CONVERGED"


def test_the_package_of_a_tree_is_named_in_its_project(tmp_path):
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "of_old"\n')
    assert package_of(tmp_path) == "of_old"

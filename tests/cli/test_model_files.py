"""Model files with a digest that fits and another recipe: refused by name, field and fault."""

import json

import numpy as np
import pandas
import pytest

import genotypes
from cli.commands import done, refused
from mutations.models import signed


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Return a table, and the models of a number, of classes and of survival."""
    folder, rng = tmp_path_factory.mktemp("models"), np.random.default_rng(0)
    data = pandas.DataFrame(rng.standard_normal((60, 2)), columns=["age", "dose"])
    data["city"] = rng.choice(["Bonn", "Berlin", "Kiel"], 60)
    data["y"] = 2.0 * data["dose"] + rng.standard_normal(60)
    data["sick"] = np.where(data["y"] > 0, "yes", "no")
    data["died"] = rng.integers(0, 2, 60)
    data["months"] = rng.exponential(size=60).round(3) + 0.1
    data.to_csv(folder / "table.csv", index=False)
    outcomes = {"number": ["y"], "classes": ["sick"], "survival": ["months", "--event", "died=1"]}
    targets = {"y", "sick", "months", "died"}
    for name, target in outcomes.items():
        drop = [word for other in sorted(targets - set(target) - {"died"}) for word in ("--drop", other)]
        drop += [] if name == "survival" else ["--drop", "died"]
        done(
            "fit",
            folder / "table.csv",
            "--target",
            *target,
            *drop,
            "--estimator",
            "mode",
            "--model",
            folder / f"{name}.json",
        )
    return folder


CHANGES = [
    ("number", {"encoded": ["age"]}, "recipe: encoded has 1 column, but the model has 4"),
    ("number", {"encoded": ["dose", "age", "city=Berlin", "city=Kiel"]}, "encoded has the column"),
    ("number", {"family": "classes"}, "recipe: family is classes, but the model is a HorseshoeRegressor"),
    ("number", {"encoded": None}, "recipe.encoded: None is not"),
    ("classes", {"classes": ["no", "perhaps"]}, "recipe: classes are no, perhaps, but the model has no, yes"),
    ("classes", {"classes": ["no"]}, "recipe: classes are no, but the model has no, yes"),
    ("classes", {"family": "gaussian"}, "recipe: family is gaussian, but the model is a HorseshoeClassifier"),
    (
        "survival",
        {"family": "gaussian", "event": None},
        "family is gaussian, but the model is a HorseshoeSurv",
    ),
]


def changed(path, **recipe):
    """Write a model file with another recipe, and the digest that belongs to it."""
    content = json.loads(path.read_text("utf-8"))
    content["recipe"] |= recipe
    new = path.with_name("changed.json")
    new.write_bytes(signed(content))
    return new


@pytest.mark.parametrize(("name", "recipe", "sentence"), CHANGES, ids=[one[2] for one in CHANGES])
def test_another_recipe_is_refused(files, name, recipe, sentence):
    done("show", files / f"{name}.json")
    done("predict", files / f"{name}.json", files / "table.csv")
    path = changed(files / f"{name}.json", **recipe)
    for command in (("show", path), ("predict", path, files / "table.csv")):
        message = refused(*command)
        assert message.startswith(f"horseshoe: the model file '{path}' cannot be loaded: ")
        assert sentence in message
        assert message.endswith("; save the model again\n")


def test_numbers_that_are_none_are_refused(files):
    content = json.loads((files / "number.json").read_text("utf-8"))
    content["fitted"]["regressions"][0]["sigma2"] = "NaN"
    path = files / "changed.json"
    path.write_bytes(signed(content))
    for command in (("show", path), ("predict", path, files / "table.csv")):
        message = refused(*command)
        assert "fitted.regressions[0].sigma2 is not finite; save the model again" in message


def test_snps_of_another_model_are_refused(tmp_path):
    rng = np.random.default_rng(1)
    values = rng.integers(0, 3, (60, 8)).astype(np.int8)
    bed, model = tmp_path / "cohort.bed", tmp_path / "model.json"
    genotypes.write(bed, values)
    people = pandas.read_csv(bed.with_suffix(".fam"), sep=r"\s+", header=None, dtype=str)
    table = pandas.DataFrame({"FID": people[0], "IID": people[1], "bmi": 3.0 * values[:, 2] + rng.random(60)})
    table.to_csv(tmp_path / "pheno.tsv", sep="\t", index=False)
    done("fit", bed, "--target", f"{tmp_path / 'pheno.tsv'}:bmi", "--estimator", "mode", "--model", model)
    done("show", model)
    none = {"place": [], "mean": [], "snps": {key: [] for key in ("ids", "counted", "other")}}
    assert "recipe: place lacks SNP 2, which the model uses" in refused("show", changed(model, **none))
    assert "recipe: n_columns is 9, but the model has 8 columns" in refused(
        "show", changed(model, n_columns=9)
    )

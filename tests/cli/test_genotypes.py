"""``horseshoe fit cohort.bed --target pheno.tsv:bmi``, and predictions for another file of genotypes."""

import json

import numpy as np
import pandas
import pytest
from typer.testing import CliRunner

import genotypes
from horseshoe import HorseshoeRegressor, load_model
from horseshoe.cli.app import app
from horseshoe.intake.genotype_recipe import GenotypeRecipe


def run(*arguments):
    return CliRunner().invoke(app, [str(one) for one in arguments])


def done(*arguments):
    result = run(*arguments)
    assert result.exit_code == 0, result.output
    return result.stdout


def refused(*arguments):
    result = run(*arguments)
    assert result.exit_code == 2, result.output
    assert "Traceback" not in result.output
    return result.stderr


N, P = 70, 120


class Cohort:
    def __init__(self, folder):
        self.folder, self.bed = folder, folder / "cohort.bed"
        self.values, self.x = genotypes.draw(N, P)
        noise = np.random.default_rng(1).standard_normal(N)
        self.y = 25.0 + 2.0 * self.x[:, 0] - 1.8 * self.x[:, 3] + 0.5 * noise
        genotypes.write(self.bed, self.values)
        self.order = np.random.default_rng(2).permutation(N)  # the table is in an order of its own
        ids = {name.upper(): np.array(values)[self.order] for name, values in genotypes.people(N).items()}
        self.table = pandas.DataFrame({**ids, "bmi": self.y[self.order], "w": 1.0 + self.order % 2})
        self.write()

    @property
    def target(self):
        return f"{self.folder / 'pheno.tsv'}:bmi"

    def write(self, table=None):
        table = self.table if table is None else table
        table.to_csv(self.folder / "pheno.tsv", sep="\t", index=False)


@pytest.fixture
def cohort(tmp_path):
    return Cohort(tmp_path)


def test_a_fit_is_that_of_the_array(cohort, tmp_path):
    text = done(
        "fit", cohort.bed, "--target", cohort.target, "--estimator", "mode", "--json", "--weights", "w"
    )
    found = json.loads(text)
    weights = 1.0 + np.arange(N) % 2
    theirs = HorseshoeRegressor().fit(cohort.x, cohort.y, sample_weight=weights)
    coef = np.array([row["coef"] for row in found["coefficients"][1:]])
    np.testing.assert_allclose(coef, theirs.coef_, atol=1e-8)
    assert found["coefficients"][1]["feature"] == "rs0_A"
    assert any("missing genotypes" in note for note in found["notes"])


def test_model_report_and_predictions(cohort, tmp_path):
    model, report = tmp_path / "model.json", tmp_path / "report.html"
    done(
        "fit",
        cohort.bed,
        "--target",
        cohort.target,
        "--estimator",
        "mode",
        "--model",
        model,
        "--report",
        report,
    )
    assert "rs0_A" in report.read_text("utf-8")
    assert "rs0_A" in done("show", model)
    here = done("predict", model, cohort.bed)
    assert here.splitlines()[0] == "row,fid,iid,prediction,lower,upper"
    theirs = HorseshoeRegressor().fit(cohort.x, cohort.y).predict(cohort.x)
    np.testing.assert_allclose(column(here, "prediction"), theirs, rtol=1e-8)
    recipe = load_model(model).recipe_
    assert len(recipe["snps"]["ids"]) == int(
        (load_model(model).coef_ != 0.0).sum()
    )  # no more than what is used
    assert GenotypeRecipe.from_plain(recipe).to_plain() == recipe


def column(text, name):
    head, *lines = text.splitlines()
    place = head.split(",").index(name)
    return np.array([float(line.split(",")[place]) for line in lines])


@pytest.fixture
def fitted(cohort, tmp_path):
    model = tmp_path / "model.json"
    done("fit", cohort.bed, "--target", cohort.target, "--estimator", "mode", "--model", model)
    return model, column(done("predict", model, cohort.bed), "prediction")


def test_alleles_the_other_way_round_are_turned(cohort, fitted, tmp_path):
    model, theirs = fitted
    turned = np.where(cohort.values == genotypes.MISSING, genotypes.MISSING, 2 - cohort.values)
    other = genotypes.write(tmp_path / "new.bed", turned.astype(np.int8), **genotypes.snps(P, ("G", "A")))
    np.testing.assert_allclose(column(done("predict", model, other), "prediction"), theirs, rtol=1e-12)


def test_other_alleles_and_absent_snps_are_refused(cohort, fitted, tmp_path):
    model, theirs = fitted
    other = genotypes.write(tmp_path / "new.bed", cohort.values, **genotypes.snps(P, ("T", "C")))
    told = refused("predict", model, other)
    assert "other alleles than in the fit, such as rs0: A/G there, T/C in the file" in told
    some = genotypes.write(tmp_path / "few.bed", cohort.values[:, 1:], sid=[f"rs{j}" for j in range(1, P)])
    assert "1 SNP of the model not in" in refused("predict", model, some)
    filled = column(done("predict", model, some, "--missing", "median"), "prediction")
    effect = load_model(model).coef_[0]
    np.testing.assert_allclose(filled, theirs - effect * (cohort.x[:, 0] - cohort.x[:, 0].mean()), rtol=1e-9)


def test_snps_in_another_order_are_found_by_name(cohort, fitted, tmp_path):
    model, theirs = fitted
    order = np.random.default_rng(0).permutation(P)
    names = [f"rs{j}" for j in order]
    other = genotypes.write(tmp_path / "new.bed", cohort.values[:, order], sid=names)
    np.testing.assert_allclose(column(done("predict", model, other), "prediction"), theirs, rtol=1e-12)


def test_the_phenotype_file(cohort):
    fit = ("fit", cohort.bed, "--estimator", "mode", "--target")
    assert "pheno.tsv:bmi" in refused(*fit, "bmi")
    assert "did you mean bmi" in refused(*fit, cohort.target.replace(":bmi", ":bm"))
    cohort.write(cohort.table.iloc[3:])
    gone = [f"f{i} i{i}" for i in sorted(cohort.order[:3])]
    told = refused(*fit, cohort.target)
    assert "3 individuals of" in told
    assert all(one in told for one in gone)
    assert "3 individuals without bmi left out" in done(*fit, cohort.target, "--missing", "drop")
    cohort.write(pandas.concat([cohort.table, cohort.table.iloc[:1]]))
    assert "stands more than once in" in refused(*fit, cohort.target)
    cohort.write(cohort.table.assign(IID=[f"other{i}" for i in range(N)]))
    assert "no individual of" in refused(*fit, cohort.target)
    cohort.write(cohort.table.drop(columns=["FID", "IID"]))
    assert "no column IID" in refused(*fit, cohort.target)


def test_ids_that_look_like_numbers_and_unknown_phenotypes(cohort):
    ids = [f"{i:03}" for i in range(N)]
    genotypes.write(cohort.bed, cohort.values, fid=["0"] * N, iid=ids)
    table = cohort.table.assign(IID=np.array(ids)[cohort.order]).drop(columns="FID")
    table.loc[table["IID"] == "004", "bmi"] = -9.0
    cohort.write(table)
    fit = ("fit", cohort.bed, "--estimator", "mode", "--target", cohort.target)
    assert "0 004" in refused(*fit)
    told = done(*fit, "--missing", "drop")
    assert "-9 in bmi is taken to be missing, as PLINK does (1 individual)" in told


def test_what_is_for_tables_alone(cohort, fitted, tmp_path):
    model, _ = fitted
    for way in ("--drop", "--columns"):
        assert "is for tables" in refused("fit", cohort.bed, "--target", cohort.target, way, "rs1")
    assert "name a .bed file" in refused("predict", model, cohort.folder / "pheno.tsv")
    assert "--keep" in refused("predict", model, cohort.bed, "--keep", "bmi")
    other = tmp_path / "table.json"
    done("fit", "diabetes", "--target", "progression", "--estimator", "mode", "--model", other)
    assert "not fitted to any" in refused("predict", other, cohort.bed)


def test_snps_of_the_same_name_are_refused(cohort):
    genotypes.write(cohort.bed, cohort.values, sid=["rs1"] * 2 + [f"rs{j}" for j in range(2, P)])
    told = refused("fit", cohort.bed, "--target", cohort.target)
    assert "with the same id and allele as another: rs1_A" in told


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("family", "no such"), ("place", [3, 1]), ("place", [10**6]), ("snps", None), ("mean", [3.0]),
        ("n_columns", -1), ("classes", "a"), ("target", 3), ("ids", [1]), ("counted", ["A"]),
    ],
)  # fmt: skip
def test_a_recipe_from_anyone_is_checked(fitted, key, value):
    plain = load_model(fitted[0]).recipe_
    place = plain["snps"] if key in plain["snps"] else plain
    place[key] = value
    with pytest.raises(ValueError, match="recipe"):
        GenotypeRecipe.from_plain(plain)
    with pytest.raises(ValueError, match="recipe: the field 'target' is missing"):
        GenotypeRecipe.from_plain({"place": []})

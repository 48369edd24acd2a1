"""From a file and a question to the answer, in one command."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas
import pytest

from cli.commands import done, refused
from horseshoe import AdaptiveClassifier, AdaptiveRegressor, HorseshoeRegressor, load_model
from horseshoe.cli.fitting import check_output


@pytest.fixture
def frame():
    rng = np.random.default_rng(0)
    data = pandas.DataFrame(rng.standard_normal((80, 4)), columns=["age", "dose", "noise", "more noise"])
    data["city"] = rng.choice(["Bonn", "Berlin", "Kiel"], 80)
    eta = 2.0 * data["dose"] + 1.5 * (data["city"] == "Kiel")
    data["y"] = (eta + 0.5 * rng.standard_normal(80)).round(6)
    data["sick"] = np.where(eta + rng.logistic(size=80) > 0.5, "yes", "no")
    data["visits"] = rng.poisson(np.exp(0.4 * eta))
    return data


@pytest.fixture
def table(frame, tmp_path):
    path = tmp_path / "patients.csv"
    frame.to_csv(path, index=False)
    return path


OTHERS = ["--drop", "sick", "--drop", "visits"]


@pytest.mark.parametrize("mode", [[], ["--estimator", "mode"]])
def test_columns_that_reproduce_the_target_are_named(frame, tmp_path, mode):
    path = tmp_path / "weights.csv"
    frame.assign(gain=frame["dose"] - frame["age"]).to_csv(path, index=False)
    shown = done("fit", path, "--target", "gain", *OTHERS, "--drop", "y", *mode).stdout
    told = " ".join(shown.split())
    assert "reproduce the response to rounding. Drop them if they are computed from the response" in told
    assert "Be careful: age and dose" in told or "Be careful: dose and age" in told
    assert "least squares on the selected variables reproduces y to rounding" in told


def test_the_answer_is_the_adaptive_one_and_names_what_matters(table):
    shown = done("fit", table, "--target", "y", *OTHERS).stdout
    assert "2 of 5 variables matter for y: " in shown
    assert "dose" in shown
    assert "city=Kiel" in shown
    assert "family gaussian" in shown
    assert "reference" in shown or "compared" in shown  # of the category
    assert "What the average is made of" in shown


def test_a_second_target_is_not_dropped_without_a_word(table):
    for second in (["--target", "visits"], ["-t", "visits"], ["--target=visits"]):
        message = refused("fit", table, "--target", "y", *second)
        assert "--target is given 2 times, and takes one value: one target is explained at a time" in message
        assert "several responses together are for Python" in message


@pytest.mark.parametrize("option", ["--family", "--event", "--weights", "--offset", "--exposure", "--seed"])
@pytest.mark.parametrize("command", ["fit", "sample"])
def test_an_option_of_one_value_is_given_once(table, command, option):
    message = refused(command, table, "--target", "y", option, "1", option, "1")
    assert f"horseshoe: {option} is given 2 times, and takes one value: give it once" in message


def test_flags_and_options_of_several_values_may_be_repeated(table):
    done("fit", table, "--target", "y", *OTHERS, "--estimator", "mode", "-q", "-q", "--json")


def test_factors_are_groups_and_columns_can_be_always_in(table, tmp_path):
    options = (
        "--estimator",
        "mode",
        "--unpenalized",
        "noise",
        "--model",
        tmp_path / "m.json",
        "--report",
        tmp_path / "r.html",
    )
    found = json.loads(done("fit", table, "--target", "y", *OTHERS, *options, "--json").stdout)
    rows = {row["feature"]: row for row in found["coefficients"]}
    assert rows["noise"]["selected"]
    assert rows["noise"]["unpenalized"]
    assert not rows["more noise"]["selected"]
    city = [row for name, row in rows.items() if name.startswith("city=")]
    assert {row["group"] for row in city} == {"city"}
    assert len(city) == 2
    assert all(row["selected"] for row in city)
    assert load_model(tmp_path / "m.json").unpenalized is not None
    missed = refused("fit", table, "--target", "y", "--unpenalized", "noize")
    assert "--unpenalized noize: there is no such column" in missed
    assert "do you mean noise?" in missed


def test_json_is_the_same_answer_for_machines(table, frame):
    found = json.loads(done("fit", table, "--target", "y", *OTHERS, "--json").stdout)
    encoded = pandas.get_dummies(frame[["age", "dose", "noise", "more noise", "city"]], dtype=float)
    names = {row["feature"]: row for row in found["coefficients"]}
    assert found["estimator"] == "AdaptiveRegressor"
    assert {name for name, row in names.items() if row["selected"]} >= {"dose", "city=Kiel"}
    assert names["city=Kiel"]["term"] == "city"
    reference = ({"Bonn", "Berlin", "Kiel"} - {name[5:] for name in names if name.startswith("city=")}).pop()
    X = encoded.drop(columns=f"city_{reference}").rename(columns=lambda name: name.replace("city_", "city="))
    X = X[[n for n in names if n != "(Intercept)"]]
    groups = [name.split("=")[0] for name in X.columns]  # the columns of a factor belong together
    model = AdaptiveRegressor(feature_groups=groups).fit(X, frame["y"])
    assert [names[name]["coef"] for name in model.feature_names_in_] == model.coef_.tolist()
    assert found["statistics"]["n"] == 80
    assert found["status"]["name"] == "CONVERGED"
    assert sum(component["weight"] for component in found["components"]) == pytest.approx(1.0)
    assert found["data"]["rows_read"] == 80


def test_the_single_mode_and_its_posterior(table):
    mode = json.loads(done("fit", table, "--target", "y", *OTHERS, "--estimator", "mode", "--json").stdout)
    drawn = json.loads(
        done("fit", table, "--target", "y", *OTHERS, "--estimator", "posterior", "--json").stdout
    )
    assert mode["estimator"] == drawn["estimator"] == "HorseshoeRegressor"
    one, other = ({row["feature"]: row for row in each["coefficients"]} for each in (mode, drawn))
    assert one["dose"]["coef"] == other["dose"]["coef"]
    assert one["noise"]["lower"] == 0.0  # at the mode a zero is a zero
    assert other["noise"]["lower"] < 0.0 < other["noise"]["upper"]
    assert mode["components"] is None


def test_words_as_a_target_are_classes(table):
    found = json.loads(
        done("fit", table, "--target", "sick", "--drop", "y", "--drop", "visits", "--json").stdout
    )
    assert found["estimator"] == "AdaptiveClassifier"
    assert found["classes"] == ["no", "yes"]
    assert "The odds of yes are multiplied" in " ".join(found["answer"])


def test_counts_with_exposure_weights_and_offset(frame, tmp_path):
    frame["years"], frame["often"], frame["known"] = 2.0, 1.0, 0.1
    path = tmp_path / "counts.csv"
    frame.drop(columns=["y", "sick"]).to_csv(path, index=False)
    common = ("fit", path, "--target", "visits", "--family", "poisson", "--json", "--weights", "often")
    plain = json.loads(done(*common, "--drop", "years", "--drop", "known").stdout)
    known = json.loads(done(*common, "--exposure", "years", "--offset", "known").stdout)
    one, other = ({row["feature"]: row["coef"] for row in each["coefficients"]} for each in (plain, known))
    assert one["dose"] == pytest.approx(other["dose"], rel=1e-6)
    assert one["(Intercept)"] - other["(Intercept)"] == pytest.approx(np.log(2.0) + 0.1, rel=1e-6)


def test_a_formula_says_which_columns(table):
    found = json.loads(done("fit", table, "--formula", "y ~ dose*city + exp(age)", "--json").stdout)
    names = [row["feature"] for row in found["coefficients"]]
    assert "exp(age)" in names
    assert any("dose" in name and "city" in name for name in names)
    assert found["target"] == "y"


def test_the_model_predicts_what_it_would_in_python(table, frame, tmp_path):
    path, out = tmp_path / "model.json", tmp_path / "predictions.csv"
    done("fit", table, "--target", "y", *OTHERS, "--model", path)
    shuffled = tmp_path / "new.csv"
    frame[["city", "more noise", "dose", "noise", "age"]].to_csv(shuffled, index=False)
    done("predict", path, shuffled, "--out", out, "--keep", "city")
    found = pandas.read_csv(out)
    model = load_model(path)
    again = pandas.read_csv(table)
    X = pandas.DataFrame({name: again.get(name) for name in model.feature_names_in_})
    for name in X.columns:
        if name.startswith("city="):
            X[name] = (again["city"] == name[5:]).astype(float)
    assert found["prediction"].tolist() == model.predict(X).tolist()
    assert (found["lower"] < found["prediction"]).all()
    assert found["city"].tolist() == frame["city"].tolist()
    assert found["row"].tolist() == list(range(1, 81))
    assert done("predict", path, shuffled).stdout.splitlines()[0] == "row,prediction,lower,upper"


def test_probabilities_of_classes_are_written(table, tmp_path):
    path = tmp_path / "model.json"
    done("fit", table, "--target", "sick", "--drop", "y", "--drop", "visits", "--model", path)
    lines = done("predict", path, table).stdout.splitlines()
    assert lines[0] == "row,prediction,p(no),p(yes)"
    shares = np.array([line.split(",")[2:] for line in lines[1:]], dtype=float)
    assert np.allclose(shares.sum(axis=1), 1.0)
    assert isinstance(load_model(path), AdaptiveClassifier)


def test_imputation_is_remembered(frame, tmp_path):
    path, model = tmp_path / "gaps.csv", tmp_path / "model.json"
    frame.loc[3, "dose"] = np.nan
    frame.drop(columns=["sick", "visits"]).to_csv(path, index=False)
    message = refused("fit", path, "--target", "y")
    assert "dose" in message
    assert "--missing" in message
    assert "1" in message
    done("fit", path, "--target", "y", "--missing", "median", "--model", model)
    found = pandas.read_csv(pandas.io.common.StringIO(done("predict", model, path).stdout))
    assert len(found) == 80
    kept = json.loads(done("fit", path, "--target", "y", "--missing", "drop", "--json").stdout)
    assert kept["data"]["rows_dropped"] == 1


def test_what_was_filled_in_and_dropped_is_in_the_report(frame, tmp_path):
    path, report, model = tmp_path / "gaps.csv", tmp_path / "r.html", tmp_path / "m.json"
    frame.loc[[3, 5], "dose"] = np.nan
    frame.loc[[7, 8, 9], "age"] = np.nan
    frame.drop(columns=["sick", "visits"]).to_csv(path, index=False)
    asked = (
        "fit",
        path,
        "--target",
        "y",
        "--estimator",
        "mode",
        "--unpenalized",
        "age",
        "--missing",
        "median",
    )
    message = refused(*asked)
    assert "age is not penalised; 3 of 80 rows have no value of it" in message
    assert "--missing 'age=median', or drop these rows with --missing 'age=drop'" in message
    dropping = ("--missing", "age=drop", "--report", report, "--model", model, "--json")
    found = json.loads(done(*asked, *dropping).stdout)["data"]
    assert (found["imputed_columns"], found["rows_imputed"]) == ({"dose": 2}, 2)
    assert found["dropped_gaps"] == {"age": 3}
    page = report.read_text(encoding="utf-8")
    assert "Values filled in</dt><dd><bdi>2 in 2 rows" in page
    assert "Rows dropped for missing values</h3><ul><li><bdi>age</bdi>: 3 missing values" in page
    assert (
        "2 missing values in 2 rows were filled in with the median or the most frequent level: dose (2). "
        "Because of missing values, 3 of 80 rows were dropped: age (3)." in page
    )
    assert len(done("predict", model, path).stdout.splitlines()) == 1 + 77
    assert done(*asked, "--missing", "age=median").exit_code == 0
    assert "--missing median and --missing drop" in refused(*asked, "--missing", "drop")


def test_show_says_what_a_model_holds(table, tmp_path):
    path = tmp_path / "model.json"
    first = done("fit", table, "--target", "y", *OTHERS, "--model", path).stdout
    shown = done("show", path).stdout
    answer = next(line for line in first.splitlines() if "matter for y" in line)
    assert answer in shown
    found = json.loads(done("show", path, "--json").stdout)
    assert found["target"] == "y"
    assert any(row["term"] == "city" for row in found["coefficients"])


def test_a_model_of_python_is_shown_and_used_by_name(frame, tmp_path):
    path = tmp_path / "model.json"
    X = frame[["age", "dose"]]
    model = HorseshoeRegressor().fit(X, frame["y"])
    model.save(path)
    assert "dose" in done("show", path).stdout
    new = tmp_path / "new.csv"
    frame[["dose", "age"]].to_csv(new, index=False)
    found = pandas.read_csv(pandas.io.common.StringIO(done("predict", path, new).stdout))
    assert np.allclose(found["prediction"], model.predict(X))
    frame[["dose"]].to_csv(new, index=False)
    assert "'age'" in refused("predict", path, new)


def test_a_report_is_one_file(table, tmp_path):
    path = tmp_path / "report.html"
    said = done("fit", table, "--target", "y", *OTHERS, "--report", path).stdout
    assert "Report written to" in said
    page = path.read_text(encoding="utf-8")
    assert page.startswith("<!DOCTYPE html>")
    assert "city=Kiel" in page
    assert not re.search(r"""(src|href)\s*=\s*["']https?:""", page)
    assert list(tmp_path.glob("*.draft")) == []


def test_draws_of_the_posterior(table, tmp_path):
    csv, npz = tmp_path / "draws.csv", tmp_path / "draws.npz"
    few = ("--draws", 50, "--warmup", 50, "--chains", 2)
    shown = done("sample", table, "--target", "y", *OTHERS, *few, "--out", csv).stdout
    assert "R-hat" in shown
    drawn = pandas.read_csv(csv)
    assert drawn.shape[0] == 100
    assert "coef[dose]" in drawn.columns
    done("sample", table, "--target", "y", *OTHERS, *few, "--out", npz, "--json")
    with np.load(npz) as arrays:
        assert arrays["coef"].shape[:2] == (2, 50)
    assert ".npz" in refused("sample", table, "--target", "y", "--out", tmp_path / "draws.txt")


def test_standard_input_and_built_in_names(table):
    piped = done("fit", "-", "--target", "y", *OTHERS, "--json", stdin=table.read_bytes()).stdout
    assert (
        json.loads(piped)["coefficients"]
        == json.loads(done("fit", table, "--target", "y", *OTHERS, "--json").stdout)["coefficients"]
    )
    assert "bmi" in done("fit", "diabetes", "--target", "progression").stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nowhere.csv", "--target", "y"], ["nowhere.csv"]),
        (["diabetes", "--target", "progresion"], ["progresion", "progression"]),
        (["diabetes"], ["--target"]),
        (
            ["diabetes", "--target", "progression", "--estimator", "best"],
            ["--estimator", "'adaptive', 'mode', 'posterior'"],
        ),
        (["diabetes", "--target", "progression", "--report", "no/such/folder/r.html"], ["no/such/folder"]),
        (["diabetes", "--target", "progression", "--cv", "1000"], ["cv=1000"]),
        (["diabetes", "--target", "progression", "--family", "weibull"], ["weibull"]),
        (["diabetes", "--formula", "progression ~ __import__('os')"], ["formula"]),
    ],
)
def test_what_a_user_can_mend_is_one_sentence(arguments, words):
    message = refused("fit", *arguments)
    for word in words:
        assert word in message


def test_a_file_that_cannot_be_written_leaves_the_old_one(table, tmp_path, monkeypatch):
    path = tmp_path / "model.json"
    path.write_text("old")

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("horseshoe.files.os.fsync", full)
    assert "No space left" in refused("fit", table, "--target", "y", *OTHERS, "--model", path)
    assert path.read_text() == "old"
    assert list(tmp_path.glob("*.draft")) == []


def program(*arguments, **options):
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)} | options.pop("env", {})
    return subprocess.run(
        [sys.executable, "-m", "horseshoe", *map(str, arguments)],
        capture_output=True,
        env=environment,
        timeout=120,
        **options,
    )


def test_the_program_ends_with_two_for_data_and_one_for_its_own_faults(tmp_path):
    (tmp_path / "empty.csv").write_text("")
    wrong = program("fit", tmp_path / "empty.csv", "--target", "y")
    assert wrong.returncode == 2
    assert b"empty" in wrong.stderr
    assert b"Traceback" not in wrong.stderr
    (tmp_path / "sitecustomize.py").write_text(
        "import horseshoe.intake.read as room\n"
        "def broken(*a, **k): raise RuntimeError('oops')\n"
        "room.read_table = broken\n"
    )
    path = os.pathsep.join([str(tmp_path), *sys.path])
    fault = program("fit", "diabetes", "--target", "progression", env={"PYTHONPATH": path})
    assert fault.returncode == 1
    assert b"a fault of horseshoe" in fault.stderr
    assert b"Traceback" not in fault.stderr
    told = program(
        "fit", "diabetes", "--target", "progression", env={"PYTHONPATH": path, "HORSESHOE_DEBUG": "1"}
    )
    assert b"Traceback" in told.stderr


def test_it_works_in_a_pipe_without_colour_at_80_columns():
    shown = program("--no-color", "fit", "diabetes", "--target", "progression", env={"COLUMNS": "80"})
    lines = shown.stdout.decode().splitlines()
    assert b"\x1b[" not in shown.stdout
    assert max(map(len, lines)) <= 80
    assert any("bmi" in line for line in lines)


def test_names_full_of_markup_are_text(tmp_path, frame):
    path = tmp_path / "names.csv"
    frame = frame.rename(columns={"dose": "[bold red]<script>alert(1)</script>[/]"})
    frame.drop(columns=["sick", "visits"]).to_csv(path, index=False)
    shown = done("fit", path, "--target", "y", COLUMNS="200").stdout
    assert "[bold red]<script>alert(1)</script>[/]" in shown


def test_a_reader_that_has_seen_enough_is_no_fault(tmp_path):
    """As `horseshoe ... | head -1` does."""
    read, write = os.pipe()
    os.close(read)
    command = [sys.executable, "-m", "horseshoe", "fit", "diabetes", "--target", "progression"]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    ended = subprocess.run(command, stdout=write, stderr=subprocess.PIPE, env=environment, timeout=120)
    os.close(write)
    assert ended.returncode == 141
    assert ended.stderr == b""


def test_no_output_takes_the_place_of_an_input_or_of_another_output(table, frame, tmp_path):
    before, model = table.read_bytes(), tmp_path / "m.json"
    chosen = ["fit", table, "--target", "y", *OTHERS, "--estimator", "mode"]
    assert "named twice" in refused(*chosen, "--model", table)
    assert "named twice" in refused(*chosen, "--report", tmp_path / "." / "patients.csv")
    assert "named twice" in refused(*chosen, "--model", model, "--report", model)
    done(*chosen, "--model", model)
    kept = model.read_bytes()
    for name in (table, model):
        assert "named twice" in refused("predict", model, table, "--out", name)
    assert (table.read_bytes(), model.read_bytes()) == (before, kept)


@pytest.mark.skipif(os.name != "posix", reason="pipes with names are of POSIX")
def test_a_device_or_a_pipe_is_not_replaced_by_a_file(table, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    words = refused(
        "fit", table, "--target", "y", *OTHERS, "--estimator", "mode", "--report", tmp_path / "pipe"
    )
    assert "is no ordinary file" in words
    assert (tmp_path / "pipe").is_fifo()
    for name in ("/dev/null", "/dev/stdout"):
        with pytest.raises(ValueError, match="is no ordinary file"):
            check_output(Path(name))


def test_a_class_of_one_row_is_refused_with_a_way_out(frame, tmp_path):
    frame.assign(rare=[1, *[0] * 79]).to_csv(tmp_path / "rare.csv", index=False)
    words = refused("fit", tmp_path / "rare.csv", "--target", "rare", "--columns", "age", "--columns", "dose")
    assert words.startswith("horseshoe: the class 1 of rare has one row only")
    assert "--estimator mode" in words


def test_a_kept_column_does_not_take_the_place_of_a_prediction(table, frame, tmp_path):
    done("fit", table, "--target", "y", *OTHERS, "--estimator", "mode", "--model", tmp_path / "m.json")
    frame.assign(prediction=0).to_csv(tmp_path / "new.csv", index=False)
    words = refused("predict", tmp_path / "m.json", tmp_path / "new.csv", "--keep", "prediction")
    assert "the output has a column of that name" in words


def test_draws_that_do_not_agree_are_said_to_programs(frame, tmp_path):
    frame.assign(apart=np.where(frame["dose"] > 0.1, "b", "a")).to_csv(tmp_path / "apart.csv", index=False)
    chosen = ["--columns", "dose", "--columns", "age", "--estimator", "posterior", "--json"]
    found = json.loads(done("fit", tmp_path / "apart.csv", "--target", "apart", *chosen).stdout)
    heard = [warning for warning in found["warnings"] if "R-hat" in warning]
    assert heard
    assert not any("n_draws" in warning for warning in heard)  # which is no option


def test_show_counts_the_terms_of_a_formula_as_fit_does(table, tmp_path):
    model, formula = tmp_path / "m.json", "y ~ dose * city + age"
    words = done("fit", table, "--formula", formula, "--model", model, "--json").stdout
    assert json.loads(done("show", model, "--json").stdout)["answer"] == json.loads(words)["answer"]


def test_the_components_of_many_classes_do_not_hide_the_answer(frame, tmp_path):
    parts = pandas.qcut(frame["dose"] + 0.3 * frame["noise"], 4, labels=list("abcd"))
    frame.assign(part=parts).to_csv(tmp_path / "four.csv", index=False)
    chosen = ["--columns", "dose", "--columns", "age"]
    shown = done("fit", tmp_path / "four.csv", "--target", "part", *chosen).stdout
    assert "What the average is made of" not in shown
    assert "--json say what the average of each class is made of" in shown


def test_sample_says_on_which_scale_it_draws_and_what_may_be_wrong(frame, tmp_path):
    path = tmp_path / "some.csv"
    frame.assign(copy=2.0 * frame["y"] + 1e-3 * frame["age"], three=["a", "b", "c", "b"] * 20).to_csv(
        path, index=False
    )
    few = ["--draws", "20", "--warmup", "20", "--columns", "dose"]
    assert "changes of the log odds of yes" in done("sample", path, "--target", "sick", *few).stdout
    assert "changes of the log of the mean of visits" in done("sample", path, "-t", "visits", *few).stdout
    leaked = done("sample", path, "--target", "y", *few, "--columns", "copy").stdout
    assert "Warning: copy determines y" in " ".join(leaked.split())
    assert "changes of" not in leaked
    words = refused("sample", path, "--target", "three", *few)
    assert "three has 3 classes" in words
    assert "estimators_" not in words


def test_a_mode_that_selects_nothing_of_wide_classes_does_not_say_that_nothing_matters(tmp_path):
    """Two columns each separate the classes; the mode misses both, and its start is the reason."""
    rng = np.random.default_rng(0)
    label = np.repeat(["a", "b"], 6)
    values = rng.standard_normal((12, 1000))
    values[:, :2] += np.where(label == "b", 100.0, 0.0)[:, None]
    table = pandas.DataFrame(values, columns=[f"g{j}" for j in range(1000)]).assign(type=label)
    path = tmp_path / "wide.csv"
    table.to_csv(path, index=False)
    told = " ".join(done("fit", path, "--target", "type", "--estimator", "mode").stdout.split())
    assert (
        "The mode selects none of the 1,000 variables for type. That does not show that none matters" in told
    )
    assert "do not show that any" not in told
    assert "do not support" not in told


def test_an_option_that_was_used_is_not_advised(tmp_path):
    rng = np.random.default_rng(0)
    label = np.repeat(["a", "b"], (27, 11))
    values = rng.standard_normal((38, 300))
    values[:, :2] += np.where(label == "b", 6.0, 0.0)[:, None]
    path = tmp_path / "apart.csv"
    pandas.DataFrame(values).add_prefix("g").assign(type=label).to_csv(path, index=False)
    warned = done("fit", path, "--target", "type", "--estimator", "mode").stderr
    assert "the chains behind these intervals do not agree yet" in warned
    assert "--draws" in warned
    assert "--estimator mode" not in warned


def test_notes_that_are_too_many_are_counted_in_english(tmp_path):
    rng = np.random.default_rng(0)
    frame = pandas.DataFrame(rng.standard_normal((60, 17)), columns=[f"n{j}" for j in range(17)])
    frame.iloc[:5] = np.nan
    for j in range(12):
        frame[f"c{j}"] = rng.choice(["u", "v", "w"], 60)
    path = tmp_path / "notes.csv"
    frame.assign(y=rng.standard_normal(60)).to_csv(path, index=False)
    told = done("fit", path, "--target", "y", "--missing", "median", "--estimator", "mode").stdout
    assert "and 7 more columns filled in" in told
    assert "and 2 more factors with reference levels" in told
    whole = done("fit", path, "--target", "y", "--missing", "drop", "--estimator", "mode").stdout
    assert "values filled in once" not in whole


def test_columns_and_variables_are_both_counted(table):
    told = " ".join(done("fit", table, "--target", "y", *OTHERS).stdout.split())
    assert "of 5 variables matter for y" in told
    assert "columns 6 (5 variables before encoding)" in told
    plain = done("fit", "diabetes", "--target", "progression", "--estimator", "mode").stdout
    assert "before encoding" not in plain


@pytest.mark.parametrize("mode", [[], ["--estimator", "mode"]])
def test_survival_has_its_concordance(tmp_path, mode):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((150, 6))
    time, until = rng.exponential(np.exp(-X[:, 0])), rng.exponential(2.0, 150)
    frame = pandas.DataFrame(X, columns=list("abcdef"))
    frame["t"], frame["seen"] = np.minimum(time, until), (time <= until).astype(int)
    path, model = tmp_path / "lives.csv", tmp_path / "model.json"
    frame.to_csv(path, index=False)
    asked = ["--target", "t", "--event", "seen"]
    found = json.loads(done("fit", path, *asked, *mode, "--json", "--model", model).stdout)["statistics"]
    own, held_out = found["concordance"], found["cv_concordance"]
    assert (own is None, held_out is None) == ((True, False) if not mode else (False, True))
    loaded = load_model(model)
    y = np.array(
        list(zip(frame["seen"] == 1, frame["t"], strict=True)), dtype=[("event", bool), ("time", float)]
    )
    training = loaded.score(frame[list("abcdef")], y)
    if mode:
        assert own == pytest.approx(training, abs=1e-12)
    else:
        assert 0.5 < held_out < training  # by fits that have not seen the row
    label = "concordance" if mode else "cross-validated concordance"
    assert label in done("show", model).stdout


def test_the_table_has_the_effects_of_the_selected_variables_alone(tmp_path):
    model = tmp_path / "model.json"
    wide = done("fit", "breast_cancer", "--target", "diagnosis", "--model", model, COLUMNS="120").stdout
    assert re.search(r"Per SD +Inclusion +Selected only", wide)
    narrow = done("show", model, COLUMNS="80").stdout
    assert re.search(r"To +Inclusion +Selected only", narrow)
    assert max(map(len, narrow.splitlines())) <= 80


def test_the_smaller_model_is_not_said_to_predict_as_well(tmp_path):
    model = tmp_path / "model.json"
    told = " ".join(done("fit", "breast_cancer", "--target", "diagnosis", "--model", model).stdout.split())
    assert "The smaller model with 3 variables also has worst smoothness and worst perimeter" in told
    assert "about as" not in told

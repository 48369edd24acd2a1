"""How the commands read numbers: their signs, and the values that stand for missing ones."""

import json

import numpy as np
import pytest

from cli.commands import done, refused

RNG = np.random.default_rng(5)
N = 50
SALES = RNG.integers(1000, 9000, N)
CHANGE = RNG.standard_normal(N).round(2)
Y = (0.002 * SALES + 0.5 * CHANGE + 0.1 * RNG.standard_normal(N)).round(3)
FEW = ("--estimator", "mode", "--quiet")


def written(path, mark, columns, sign="."):
    rows = [mark.join(columns)]
    rows += [
        mark.join(str(each).replace(".", sign) for each in row) for row in zip(*columns.values(), strict=True)
    ]
    path.write_text("\n".join(rows))
    return path


def grouped(numbers, sign):
    return [f"{number:,}".replace(",", sign) for number in numbers]


def effect_of(found, name):
    return next(row["coef"] for row in json.loads(found.stdout)["coefficients"] if row["feature"] == name)


@pytest.mark.parametrize("mark", [";", "\t"])
def test_points_between_thousands_beside_decimal_commas(tmp_path, mark):
    path = written(tmp_path / "a.csv", mark, {"change": CHANGE, "y": Y}, ",")
    lines = path.read_text().splitlines()
    sales = ["sales", *grouped(SALES, ".")]
    path.write_text("\n".join(mark.join(pair) for pair in zip(sales, lines, strict=True)))
    found = done("fit", path, "--target", "y", *FEW, "--json")
    assert effect_of(found, "sales") == pytest.approx(0.002, rel=0.02)
    assert "sales: numbers with points between thousands" in json.loads(found.stdout)["notes"]


@pytest.mark.parametrize("command", ["fit", "sample"])
def test_a_file_that_does_not_show_its_sign_needs_an_option(tmp_path, command):
    path = written(tmp_path / "a.csv", ";", {"sales": grouped(SALES, "."), "y": Y.round().astype(int)})
    few = FEW if command == "fit" else ("--draws", "20", "--warmup", "20", "--quiet")
    message = refused(command, path, "--target", "y", *few)
    assert f"sales is {grouped(SALES, '.')[0]} in row 1" in message
    assert "say which it is with --decimal point or --decimal comma" in message
    assert (
        "sales: numbers with points between thousands"
        in done(*(command, path, "--target", "y", *few, "--decimal", "comma"), COLUMNS="200").stdout
    )


@pytest.mark.parametrize("sign", ["'", "\u2019"])
def test_apostrophes_between_thousands(tmp_path, sign):
    path = written(tmp_path / "a.csv", ";", {"sales": grouped(SALES, sign), "change": CHANGE, "y": Y})
    found = done("fit", path, "--target", "y", *FEW, "--json")
    assert effect_of(found, "sales") == pytest.approx(0.002, rel=0.02)


def test_codes_for_missing_values(tmp_path):
    ages = RNG.integers(18, 90, N)
    ages[[4, 7]] = -999
    path = written(tmp_path / "a.csv", ",", {"age": ages, "sales": SALES, "y": Y})
    asked = ("fit", path, "--target", "y", *FEW)
    message = refused(*asked)
    assert "age is -999 in 2 rows (the first in row 5), far from its other values" in message
    assert "--missing-value 'age=-999'" in message
    assert "--numeric age" in message
    for value in ("-999", "age=-999"):
        assert "2 of 50 rows have missing values" in refused(*asked, "--missing-value", value)
        found = json.loads(done(*asked, "--missing-value", value, "--missing", "drop", "--json").stdout)
        assert found["data"]["rows_dropped"] == 2
    assert json.loads(done(*asked, "--numeric", "age", "--json").stdout)["data"]["rows_dropped"] == 0
    model = tmp_path / "model.json"
    done(*asked, "--missing-value", "-999", "--missing", "drop", "--model", model)
    predicted = done("predict", model, path)
    assert len(predicted.stdout.splitlines()) == 1 + N - 2
    assert "age: -999 read as missing in 2 rows" in predicted.stderr


def test_new_rows_far_outside_the_range_are_said(tmp_path):
    x = RNG.integers(1, 10, N) + RNG.integers(0, 10, N) / 10
    path = written(tmp_path / "a.csv", ",", {"x": x, "z": CHANGE, "y": (2.0 * x + CHANGE).round(3)})
    model, new = tmp_path / "model.json", tmp_path / "new.csv"
    done("fit", path, "--target", "y", *FEW, "--model", model)
    new.write_text('x,z\n2.5,0\n"1,234",0\n3,0\n')
    predicted = done("predict", model, new)
    assert "x: numbers with commas between thousands" in predicted.stderr
    ends = f"{min(x):g} to {max(x):g}"
    said = f"Warning: x is far outside the range that was fitted ({ends}) in 1 row: 1234 in row 2"
    assert said in predicted.stderr
    assert len(predicted.stdout.splitlines()) == 4
    assert "Warning" not in done("predict", model, path).stderr


def test_new_rows_that_do_not_show_their_sign_have_that_of_the_fit(tmp_path):
    path = written(tmp_path / "a.csv", ";", {"sales": grouped(SALES, "."), "z": CHANGE, "y": Y}, "_")
    path.write_text(path.read_text().replace("_", ","))
    model, new = tmp_path / "model.json", tmp_path / "new.csv"
    said = "sales: numbers with points between thousands"
    lines = [line.split(";") for line in path.read_text().splitlines()]
    path.write_text("\n".join(";".join([row[0].replace(",", "."), *row[1:]]) for row in lines))
    done("fit", path, "--target", "y", *FEW, "--model", model)
    new.write_text("sales;z;version\n7.805;0;1.234\n2.100;1;2.345\n")
    predicted = done("predict", model, new)
    assert said in predicted.stderr
    assert "decimal commas" in predicted.stderr
    values = [float(line.split(",")[1]) for line in predicted.stdout.splitlines()[1:]]
    assert values == pytest.approx([0.002 * 7805, 0.002 * 2100 + 0.5], abs=0.3)
    assert "points between" not in done("predict", model, new, "--decimal", "point").stderr


def test_columns_that_the_model_does_not_use_are_not_asked_about(tmp_path):
    path = written(tmp_path / "a.csv", ",", {"x": RNG.integers(1, 99, N), "y": RNG.integers(1, 99, N)})
    model, new = tmp_path / "model.json", tmp_path / "new.csv"
    done("fit", path, "--target", "y", *FEW, "--model", model)
    new.write_text("x;other\n7;7.805\n")
    done("predict", model, new)

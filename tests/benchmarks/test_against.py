"""Two trees in turns: the order, the arithmetic of the ratios, the verdicts, and the worker of a tree."""

import io
import json
import subprocess
from pathlib import Path

import numpy as np
import pytest
from benchmarks.against import trees
from benchmarks.against.__main__ import parse
from benchmarks.against.compare import OTHER, THIS, Comparison, compare, difference, order, play
from benchmarks.against.shapes import SHAPES, chosen
from benchmarks.against.table import render
from benchmarks.against.worker import ANSWER, TreeJob
from benchmarks.harness.clocks import timed
from benchmarks.harness.entrants import Entrant
from benchmarks.harness.measure import Result
from benchmarks.harness.serving import serve
from benchmarks.tasks.task import Case

TINY = "poisson 20x5"


class Machine:
    """A machine that gets slower with every turn, and the order in which it was asked."""

    def __init__(self):
        self.asked = []

    def worker(self, name, seconds):
        machine = self

        class Worker:
            def ask(self, command):
                assert command == "time"
                machine.asked.append(name)
                return {"seconds": seconds * 1.01 ** len(machine.asked)}

        return Worker()


def result(name, *rounds):
    return Result(Case("linear", "70x350"), name, rounds=[list(turns) for turns in rounds])


def comparison(this, other):
    sides = [result(name, *([seconds] for seconds in part)) for name, part in ((THIS, this), (OTHER, other))]
    return Comparison("linear 70x350", *sides, difference=0.0)


def test_each_tree_goes_first_in_every_other_round():
    assert [order(k)[0] for k in range(4)] == [THIS, OTHER, THIS, OTHER]
    assert all(set(order(k)) == {THIS, OTHER} for k in range(4))


def test_a_drift_of_the_machine_cancels():
    machine = Machine()
    sides = {
        name: Entrant(result(name), machine.worker(name, seconds))
        for name, seconds in ((THIS, 0.3), (OTHER, 0.2))
    }
    play(sides, 40)
    assert machine.asked[:4] == [THIS, OTHER, OTHER, THIS]
    found = Comparison("linear 70x350", sides[THIS].result, sides[OTHER].result)
    assert found.quartiles[1] == pytest.approx(1.5, rel=1e-3)
    assert max(found.this.fits) / min(found.this.fits) > 1.7


def test_the_verdict_goes_by_the_median_of_the_ratios_within_rounds():
    found = comparison(this=(1.0, 2.0, 9.0, 4.2), other=(1.0, 2.0, 3.0, 4.0))
    assert found.ratios == pytest.approx([1.0, 1.0, 3.0, 1.05])
    assert found.quartiles == pytest.approx((1.0, 1.025, 1.5375))
    assert found.passed(1.05) is True
    assert found.passed(1.02) is False


def test_the_limit_itself_passes():
    assert comparison(this=(1.25,), other=(1.0,)).passed(1.25) is True


def test_a_round_that_timed_one_tree_alone_does_not_count():
    sides = result(THIS, [1.0], [1.0], []), result(OTHER, [2.0], [], [1.0])
    assert Comparison("linear 70x350", *sides).ratios == [0.5]


def test_a_lost_tree_is_not_measured_and_the_table_says_why():
    sides = result(THIS), result(OTHER)
    sides[1].reason = "ImportError: no horseshoe"
    found = Comparison("linear 70x350", *sides)
    assert found.passed(1.05) is None
    assert "NOT MEASURED (the other: ImportError: no horseshoe)" in render([found], 1.05)


def test_the_table_shows_ratio_spread_difference_and_verdict():
    slower = comparison(this=(2.0, 2.2), other=(1.0, 1.0))
    row = render([slower], 1.05).splitlines()[-1]
    assert row == "| linear 70x350 | 2.10 | 1.00 | 2.100 | 2.050 to 2.150 | 2 | nothing | FAIL |"


def test_a_fast_action_is_repeated_until_it_can_be_timed():
    clock = {"now": 0.0, "runs": 0}

    def run():
        clock["now"] += 0.02
        clock["runs"] += 1

    found = timed(run, clock=lambda: clock["now"])
    assert found["seconds"] == pytest.approx(0.02)
    assert found["fits_per_turn"] == clock["runs"] >= 10


def test_answers_of_other_sizes_differ_without_limit(tmp_path):
    for name, values in {"a": [1.0, 2.0], "b": [1.0, 2.5], "c": [1.0]}.items():
        np.save(tmp_path / f"{name}.npy", np.array(values))
    a, b, c, none = (tmp_path / f"{name}.npy" for name in ("a", "b", "c", "none"))
    assert [difference(a, a), difference(a, b), difference(a, c)] == [0.0, 0.5, np.inf]
    assert difference(a, none) is None


def test_shapes_are_named_one_by_one_by_kind_or_by_size():
    assert chosen("linear 70x350") == ["linear 70x350"]
    assert chosen("poisson") == ["poisson 100x400", "poisson 1000x200", "poisson 300x20000"]
    assert chosen(TINY) == [TINY]
    assert chosen("linear 20x5") == chosen("nothing") == chosen("poisson 5") == []
    assert chosen("adaptive 20x30") == []
    assert len(set(SHAPES)) == len(SHAPES)


def test_a_worker_answers_every_line_with_a_line(tmp_path):
    answers = io.StringIO()
    serve(TreeJob(TINY, tmp_path), io.StringIO('"time"\n"quality"\n'), answers)
    first, time, quality = (json.loads(line) for line in answers.getvalue().splitlines())
    assert first["first_cpu"] > 0.0
    assert time["seconds"] > 0.0
    assert quality == {}
    assert np.load(tmp_path / ANSWER).shape == (5,)


def tree_that_answers(place, name, value):
    """Return the sources of a tree with a regressor that always answers the same."""
    (place / "src" / name).mkdir(parents=True)
    (place / "pyproject.toml").write_text(f'[project]\nname = "{name}"\n')
    (place / "src" / name / "__init__.py").write_text(
        "class HorseshoeRegressor:\n"
        "    def __init__(self, family): self.intercept_ = 0.0\n"
        f"    def fit(self, X, y): self.coef_ = X[0] * 0.0 + {value}; return self\n"
    )
    return place / "src"


@pytest.mark.parametrize("name", ["horseshoe", "of_old"])
def test_each_worker_has_the_package_of_its_tree_whatever_its_name(tmp_path, name):
    this = tree_that_answers(tmp_path / "this", "horseshoe", 1.0)
    other = tree_that_answers(tmp_path / "other", name, 1.5)
    found = compare(TINY, {THIS: this, OTHER: other}, rounds=1)
    assert found.difference == 0.5, (found.this.reason, found.other.reason)
    assert len(found.ratios) == 1


def test_a_worker_refuses_another_horseshoe(tmp_path):
    found = compare(TINY, {THIS: tmp_path, OTHER: tmp_path}, rounds=1)
    assert found.passed(1.05) is None
    assert "horseshoe was imported from elsewhere" in found.this.reason


@pytest.fixture
def repository(tmp_path, monkeypatch):
    place = tmp_path / "repository"
    place.mkdir()
    monkeypatch.setattr(trees, "ROOT", place)
    who = ["-c", "user.name=a", "-c", "user.email=a@b"]
    for command in (["init", "-q"], [*who, "commit", "-q", "--allow-empty", "-m", "one"]):
        subprocess.run(["git", *command], cwd=place, check=True)
    return place


def test_the_other_tree_is_removed_when_the_work_fails(repository):
    seen: list[Path] = []

    def fail():
        with trees.checked_out(trees.commit_of("HEAD")) as tree:
            seen.append(tree)
            assert (tree / ".git").exists()
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert not seen[0].exists()
    listed = subprocess.run(["git", "worktree", "list"], cwd=repository, capture_output=True, text=True)
    assert len(listed.stdout.splitlines()) == 1


def test_an_unknown_revision_is_refused(repository, capsys):
    with pytest.raises(SystemExit):
        parse(["no-such-revision"])
    assert "'no-such-revision' is no revision" in capsys.readouterr().err

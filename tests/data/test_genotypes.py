"""Genotypes in a .bed file: the answers of the decoded array, without the array; files that are damaged."""

import numpy as np
import pytest
from bed_reader import open_bed as opened
from bed_reader import to_bed

import genotypes
from horseshoe import AdaptiveRegressor, HorseshoeClassifier, HorseshoeRegressor, load_model
from horseshoe.data.sources import parts
from horseshoe.data.sources.genotypes import ABSENT, Genotypes, Packed, open_bed, snps_of
from horseshoe.data.sources.parts import Picked
from horseshoe.data.validation import check_x

SHAPES = {"wide": (60, 150), "long": (200, 20)}


@pytest.fixture(params=SHAPES)
def both(request, tmp_path, monkeypatch):
    """Return a file and the array that it holds; blocks are small, so that there are several."""
    monkeypatch.setattr("horseshoe.data.sources.genotypes.PART_BYTES", 15_000)
    values, x = genotypes.draw(*SHAPES[request.param])
    rng = np.random.default_rng(1)
    y = 1.5 * x[:, 0] - 1.2 * x[:, 3] + x[:, 5] + 0.5 * rng.standard_normal(len(x))
    known = {"sample_weight": rng.uniform(0.5, 2.0, len(x)), "offset": rng.uniform(-0.3, 0.3, len(x))}
    return genotypes.write(tmp_path / "cohort.bed", values), x, y, known


def test_columns_are_those_of_the_array(both):
    path, x, _, _ = both
    columns = check_x(opened(path))
    assert len(columns._parts.edges) > 2
    np.testing.assert_array_equal(columns.dense(), x)
    assert columns.names[2] == "rs2_A"
    rows = np.arange(len(x)) % 3 == 0
    np.testing.assert_array_equal(columns.rows(rows).dense(), x[rows])
    keep = np.arange(x.shape[1]) % 4 == 0
    np.testing.assert_array_equal(columns.take(keep).dense(), x[:, keep])


@pytest.mark.parametrize("family", ["gaussian", "binomial", "poisson", "student_t"])
def test_a_fit_is_that_of_the_array(both, family):
    path, x, y, known = both
    if family == "binomial":
        y = (y > np.median(y)).astype(float)
    y = np.round(np.exp(0.3 * y)) if family == "poisson" else y
    ours = HorseshoeRegressor(family=family).fit(opened(path), y, **known)
    theirs = HorseshoeRegressor(family=family).fit(x, y, **known)
    assert np.array_equal(ours.support_, theirs.support_)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-8)
    np.testing.assert_allclose(ours.predict(opened(path)), theirs.predict(x), rtol=1e-8)


def test_averages_and_classes(both):
    path, x, y, _ = both
    ours, theirs = (AdaptiveRegressor(cv=2).fit(X, y) for X in (opened(path), x))
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-8)
    labels = np.where(y > np.median(y), "case", "control")
    ours, theirs = (HorseshoeClassifier().fit(X, labels) for X in (opened(path), x))
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-8)


def test_a_model_knows_names_and_alleles(both, tmp_path):
    path, x, y, _ = both
    model = HorseshoeRegressor().fit(opened(path), y)
    model.save(tmp_path / "model.json")
    again = load_model(tmp_path / "model.json")
    assert np.array_equal(again.predict(opened(path)), model.predict(opened(path)))
    values = np.where(np.isin(x, (0.0, 1.0, 2.0)), x, genotypes.MISSING).astype(np.int8)
    other = {"allele_1": ["G"] * x.shape[1], "allele_2": ["A"] * x.shape[1]}
    turned = genotypes.write(tmp_path / "turned.bed", values, **other)
    with pytest.raises(ValueError, match="column 0 of X is 'rs0_G', and was 'rs0_A' in the fit"):
        again.predict(opened(turned))


def test_some_individuals_turned_and_absent_columns(tmp_path):
    values, _ = genotypes.draw(9, 4)
    bed = opened(genotypes.write(tmp_path / "a.bed", values))
    rows = np.array([5, 2, 7])
    fill = np.array([0.1, 0.2, 0.3, 0.4])
    flip = np.array([True, False, False, False])
    parts = Genotypes(bed, rows, np.array([3, ABSENT, 0, 1]), flip, fill)
    found = values[rows][:, [3, 0, 0, 1]].astype(float)
    found = np.where(found == genotypes.MISSING, fill, np.where(flip, 2 - found, found))
    found[:, 1] = fill[1]
    np.testing.assert_array_equal(check_x(parts).dense(), found)


@pytest.mark.parametrize("n", [1, 4, 7, 13])
@pytest.mark.parametrize("first", [True, False])
def test_bytes_are_decoded_as_bed_reader_does(n, first, tmp_path):
    values = np.random.default_rng(n).choice(np.array([genotypes.MISSING, 0, 1, 2], dtype=np.int8), (n, 11))
    path = genotypes.write(tmp_path / "a.bed", values)
    packed, bed = Packed(path, n, first), opened(path, count_A1=first)
    for places in (np.arange(11), np.array([3, 4, 5, 0, 9]), np.zeros(0, dtype=int)):
        for rows in (np.arange(n), np.arange(n // 2, n), np.arange(n)[::-1], np.zeros(0, dtype=int)):
            np.testing.assert_array_equal(packed.read(rows, places), bed.read((rows, places), dtype="int8"))


def test_individual_after_individual(tmp_path):
    values, x = genotypes.draw(20, 30)
    to_bed(tmp_path / "a.bed", values, major="individual")
    columns = check_x(opened(tmp_path / "a.bed"))
    assert columns._parts._packed is None
    np.testing.assert_array_equal(columns.dense(), x)


def test_single_precision_is_read_as_such(tmp_path):
    values, x = genotypes.draw(20, 30)
    parts = Genotypes(opened(genotypes.write(tmp_path / "a.bed", values)))
    (block,), (double,) = ([*table.each(np.asarray)] for table in (parts.single(), parts))
    assert block.dtype == np.float32
    np.testing.assert_array_equal(block, x.astype(np.float32))
    np.testing.assert_array_equal(double, x)
    some = Picked(parts, np.arange(30) % 2 == 0).single()
    assert next(some.each(np.asarray)).dtype == np.float32


def test_a_file_that_is_cut_off_while_it_is_read(tmp_path):
    values, _ = genotypes.draw(20, 30)
    path = genotypes.write(tmp_path / "a.bed", values)
    packed = Packed(path, 20, True)
    path.write_bytes(path.read_bytes()[:50])
    with pytest.raises(ValueError, match=r"a\.bed was cut off while it was read"):
        packed.read(np.arange(20), np.arange(30))


def test_names_are_ids_or_places(tmp_path):
    values, _ = genotypes.draw(5, 3)
    bed = opened(genotypes.write(tmp_path / "a.bed", values, sid=["rs1", ".", "x"]))
    assert snps_of(bed).names.tolist() == ["rs1_A", "7:101_A", "x_A"]
    assert snps_of(opened(tmp_path / "a.bed", count_A1=False)).names.tolist() == ["rs1_G", "7:101_G", "x_G"]


class TestDamaged:
    @pytest.fixture
    def path(self, tmp_path):
        return genotypes.write(tmp_path / "cohort.bed", genotypes.draw(10, 6)[0])

    def refused(self, path):
        with pytest.raises(ValueError) as caught:
            open_bed(path)
        return str(caught.value)

    def test_a_file_that_was_cut_off(self, path):
        path.write_bytes(path.read_bytes()[:-2])
        told = self.refused(path)
        assert "has 19 bytes, but 10 individuals (.fam) and 6 SNPs (.bim) take 21: it was cut off" in told

    def test_a_fam_file_that_does_not_match(self, path):
        fam = path.with_suffix(".fam")
        fam.write_text("".join(fam.read_text().splitlines(keepends=True)[:4]))
        assert "4 individuals (.fam)" in self.refused(path)
        with pytest.raises(ValueError, match="do not belong together"):
            HorseshoeRegressor().fit(opened(path), np.arange(4.0))
        fam.write_text("f i\n")
        assert "cannot be read" in self.refused(path)
        fam.unlink()
        assert "cohort.fam is not there" in self.refused(path)

    def test_a_file_that_is_none(self, path):
        path.write_text("chr1\t100\t200\n")
        assert "is no PLINK file" in self.refused(path)

    def test_a_file_that_changes_while_it_is_read(self, path):
        columns = check_x(opened(path))
        columns.dense()
        path.write_bytes(path.read_bytes() + b"\0")
        with pytest.raises(ValueError, match="changed while it was read"):
            columns.dense()

    def test_the_extra_is_named(self, path, monkeypatch):
        monkeypatch.setitem(__import__("sys").modules, "bed_reader", None)
        with pytest.raises(ImportError, match=r"pip install 'horseshoe\[plink\]'"):
            open_bed(path)


def test_a_snp_without_any_genotype_is_left_out(tmp_path):
    values, x = genotypes.draw(40, 5, missing=0.0)
    values[:, 2] = genotypes.MISSING
    bed = opened(genotypes.write(tmp_path / "a.bed", values))
    model = HorseshoeRegressor().fit(bed, x[:, 0] + 0.1 * x[:, 1])
    assert model.coef_[2] == 0.0
    assert model.scale_[2] == 0.0


def test_parts_are_the_seam():
    assert issubclass(Genotypes, parts.Reading)

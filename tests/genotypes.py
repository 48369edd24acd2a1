"""PLINK file sets for tests, written by bed-reader itself."""

import numpy as np
from bed_reader import to_bed

MISSING = -127


def draw(n, p, seed=0, missing=0.03):
    """Return genotypes as bed-reader has them, and as the array that a fit is to see."""
    rng = np.random.default_rng(seed)
    values = rng.binomial(2, rng.uniform(0.2, 0.5, p), (n, p)).astype(np.int8)
    values[rng.random((n, p)) < missing] = MISSING
    return values, decoded(values)


def decoded(values):
    known = np.where(values == MISSING, np.nan, values.astype(float))
    return np.where(np.isnan(known), np.nanmean(known, axis=0), known)


def people(n):
    return {"fid": [f"f{i}" for i in range(n)], "iid": [f"i{i}" for i in range(n)]}


def snps(p, alleles=("A", "G")):
    return {
        "sid": [f"rs{j}" for j in range(p)],
        "chromosome": ["7"] * p,
        "bp_position": list(range(100, 100 + p)),
        "allele_1": [alleles[0]] * p,
        "allele_2": [alleles[1]] * p,
    }


def write(path, values, **properties):
    n, p = values.shape
    to_bed(path, np.asfortranarray(values), properties=people(n) | snps(p) | properties, num_threads=1)
    return path

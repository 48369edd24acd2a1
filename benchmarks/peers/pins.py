"""Pinned requirements of each peer's own environment."""

from __future__ import annotations

SKLEARN = "scikit-learn"
NUMPYRO = "numpyro"

ENVIRONMENTS: dict[str, tuple[str, ...]] = {
    SKLEARN: ("scikit-learn==1.9.1", "numpy==2.4.6", "scipy==1.17.1"),
    "celer": ("celer==0.7.4", "scikit-learn==1.8.0", "numpy==2.4.6", "scipy==1.17.1"),
    "python-glmnet": ("python-glmnet==2.6.1", "scikit-learn==1.9.1", "numpy==2.4.6", "scipy==1.17.1"),
    "adelie": ("adelie==1.1.52", "scikit-learn==1.9.1", "numpy==1.26.4", "scipy==1.17.1"),
    "skglm": ("skglm==0.5", "numba==0.68.1", "scikit-learn==1.9.1", "numpy==2.4.6", "scipy==1.17.1"),
    "abess": ("abess==0.4.11", "scikit-learn==1.9.1", "numpy==2.4.6", "scipy==1.17.1"),
    "glum": ("glum==3.4.1", "tabmat==4.2.1", "scikit-learn==1.9.1", "numpy==2.4.6", "scipy==1.17.1"),
    "dask-ml": ("dask-ml==2025.1.0", "dask==2026.8.0", "numpy==2.4.6", "scipy==1.17.1"),
    NUMPYRO: ("numpyro==0.22.0", "jax==0.10.2", "jaxlib==0.10.2", "numpy==2.4.6", "scipy==1.17.1"),
}

"""What lifelines says of the data of the tests, with Efron's ties, late entries, strata and weights.

    python -m venv build/lifelines && build/lifelines/bin/pip install lifelines
    PYTHONPATH=src:tests python tests/golden/survival.py data build/survival.json
    build/lifelines/bin/python tests/golden/survival.py ask build/survival.json

lifelines needs an older pandas than the tests have, so that it is asked in an environment of its own; the
second command writes the data for it, the third its answers to tests/golden/survival.json.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

LIFELINES: dict[str, tuple[str, ...]] = {
    "plain": (),
    "entry": ("entry",),
    "strata": ("strata",),
    "weights": ("weights",),
    "all": ("entry", "strata", "weights"),
}


def write(path: Path) -> None:
    """Write the data."""
    from survival_data import survival

    data = survival(entry_at_ties=True)
    weights = (data.weights + 0.5) / (data.weights + 0.5).mean()
    found = data._replace(weights=weights)._asdict()
    path.write_text(json.dumps({name: values.tolist() for name, values in found.items()}))


def ask(path: Path) -> None:
    """Write what lifelines says of them."""
    import lifelines
    import pandas as pd

    data = json.loads(path.read_text())
    X = pd.DataFrame(data.pop("X"))
    table = pd.concat([X.add_prefix("x"), pd.DataFrame(data)], axis=1)
    options: dict[str, Any] = {"entry": {"entry_col": "entry"}, "strata": {"strata": ["strata"]}}
    options["weights"] = {"weights_col": "weights", "robust": False}
    out: dict[str, Any] = {"lifelines": lifelines.__version__}
    for case, names in LIFELINES.items():
        more = {key: value for name in names for key, value in options[name].items()}
        used = table[[*(f"x{j}" for j in X.columns), "time", "event", *names]]
        fit = lifelines.CoxPHFitter().fit(used, "time", "event", fit_options={"precision": 1e-14}, **more)
        out[case] = {"coef": fit.params_.tolist(), "std": fit.standard_errors_.tolist()}
    (Path(__file__).parent / "survival.json").write_text(json.dumps(out, indent=1) + "\n")


if __name__ == "__main__":
    {"data": write, "ask": ask}[sys.argv[1]](Path(sys.argv[2]))

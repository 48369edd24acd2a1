"""Model files as the commands read them: with the recipe of their columns."""

from __future__ import annotations

from pathlib import Path
from typing import Any


def open_model(path: Path) -> tuple[Any, Any]:
    """Return the model in a file, and the recipe that was kept with it; None if there is none.

    Examples
    --------
    >>> import tempfile
    >>> from horseshoe import HorseshoeRegressor
    >>> path = Path(tempfile.mkdtemp()) / "model.json"
    >>> HorseshoeRegressor().fit([[1.0], [2.0], [3.0]], [1.0, 2.0, 2.5]).save(path)
    >>> open_model(path)
    (HorseshoeRegressor(), None)
    """
    from horseshoe.estimators.saving import load_model
    from horseshoe.intake.recipe import recipe_for
    from horseshoe.store.model_file import refusal

    model = load_model(path)
    try:
        return model, recipe_for(model)
    except ValueError as error:
        raise refusal(path, f"{error}; save the model again") from None

"""The command ``horseshoe show``."""

from __future__ import annotations

from typing import Any

import typer

from horseshoe.cli import options as cli
from horseshoe.cli.model_file import open_model
from horseshoe.cli.terminal import json_text, standard_output


def show(model: cli.ModelFile, level: cli.Level = 0.95, as_json: cli.AsJson = False) -> None:
    """Say what a model file holds: the answer, without the data it came from."""
    from horseshoe.cli.answer import Answer, as_plain, print_answer
    from horseshoe.intake.recipe_notes import terms_of

    fitted, recipe = open_model(model)
    about: dict[str, Any] = {} if recipe is None else {"target": recipe.target, "terms": terms_of(recipe)}
    answer = Answer(fitted, level, method="mode", **about)
    if as_json:
        typer.echo(json_text(as_plain(answer)))
    else:
        print_answer(standard_output(), answer)

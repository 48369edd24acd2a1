"""The command ``horseshoe show``."""

from __future__ import annotations

from typing import Any

import typer

from horseshoe.cli import options as given
from horseshoe.cli.models import open_model
from horseshoe.cli.shared import json_text, said_warnings, standard_output, told
from horseshoe.threads import one_thread


@one_thread()
def show(model: given.ModelFile, level: given.Level = 0.95, as_json: given.AsJson = False) -> None:
    """Say what a model file holds: the answer, without the data it came from."""
    from horseshoe.cli.answer import Answer, as_plain, print_answer
    from horseshoe.intake.recipe_notes import terms_of

    with told(ValueError), said_warnings():
        found, recipe = open_model(model)
        about: dict[str, Any] = {} if recipe is None else {"target": recipe.target, "terms": terms_of(recipe)}
        answer = Answer(found, level, method="mode", **about)
        if as_json:
            typer.echo(json_text(as_plain(answer)))
        else:
            print_answer(standard_output(), answer)

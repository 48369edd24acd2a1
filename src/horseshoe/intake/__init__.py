"""Tables that come in: files are read, columns understood, and a question made of them."""

from horseshoe.intake.ask import Question, ask
from horseshoe.intake.read import Table, read_table
from horseshoe.intake.recipe import Applied, Recipe
from horseshoe.intake.words import TableError

__all__ = ["Applied", "Question", "Recipe", "Table", "TableError", "ask", "read_table"]

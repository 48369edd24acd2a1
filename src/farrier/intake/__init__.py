"""Tables that come in: files are read, columns understood, and a question made of them."""

from farrier.intake.ask import Question, ask
from farrier.intake.read import Table, read_table
from farrier.intake.recipe import Applied, Recipe
from farrier.intake.words import TableError

__all__ = ["Applied", "Question", "Recipe", "Table", "TableError", "ask", "read_table"]

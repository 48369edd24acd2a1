"""Tables that come in: files are read, columns described, and a fit prepared."""

from horseshoe.intake.messages import TableError
from horseshoe.intake.problem import PreparedProblem, prepare_problem
from horseshoe.intake.read import Table, read_table
from horseshoe.intake.recipe import Applied, Recipe

__all__ = ["Applied", "PreparedProblem", "Recipe", "Table", "TableError", "prepare_problem", "read_table"]

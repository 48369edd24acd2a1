"""The reproduction uses what every user of horseshoe has, and nothing else of it."""

import ast
import re
from importlib import import_module
from pathlib import Path

import horseshoe_reproduction

FOLDER = Path(horseshoe_reproduction.__file__).parent
PUBLIC = {f"horseshoe{room}" for room in ("", ".priors", ".families", ".plots", ".results")}


def imported(text):
    """Yield the line, the module and the name of what is imported, late or for type checkers alone too."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom):
            yield from ((node.lineno, "." * node.level + (node.module or ""), one.name) for one in node.names)
        elif isinstance(node, ast.Import):
            yield from ((node.lineno, one.name, None) for one in node.names)


def test_only_public_names_of_horseshoe_are_used():
    wrong, seen = [], set()
    for path in sorted(FOLDER.rglob("*.py")):
        for line, module, name in imported(path.read_text("utf-8")):
            if module.partition(".")[0] not in ("horseshoe", ""):
                continue
            seen.add(module)
            known = module in PUBLIC and (name is None or name in import_module(module).__all__)
            wrong += [] if known else [f"{path.name}:{line} imports {name} from {module}"]
    assert not wrong, wrong
    assert {"horseshoe", "horseshoe.families", "horseshoe.priors"} <= seen


def test_no_attribute_that_is_private_is_used():
    private = re.compile(r"(?<!self)\._(?!replace\b|asdict\b|fields\b|exit\b)[a-z]")
    for path in sorted(FOLDER.rglob("*.py")):
        assert not private.findall(path.read_text("utf-8")), path


def test_nothing_of_horseshoe_knows_the_reproduction():
    import horseshoe

    for path in sorted(Path(horseshoe.__file__).parent.rglob("*.py")):
        assert "horseshoe_reproduction" not in path.read_text("utf-8"), path

"""The ``farrier`` program."""

from __future__ import annotations

import sys

from farrier._extras import require


def main() -> None:
    """Run the program, or say which extra it needs."""
    try:
        for module in ("typer", "rich"):
            require(module, extra="cli")
    except ImportError as error:
        sys.exit(str(error))
    from farrier.cli.app import app

    app()


if __name__ == "__main__":
    main()

"""The ``farrier`` command."""

from __future__ import annotations

import sys

from farrier._extras import require


def main() -> None:
    """Run the command, or say which extra it needs."""
    try:
        require("typer", extra="cli")
        require("rich", extra="cli")
    except ImportError as error:
        sys.exit(str(error))
    from farrier.cli.app import app

    app()


if __name__ == "__main__":
    main()

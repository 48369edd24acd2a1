"""The ``farrier`` program."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the program, or say which extra it needs."""
    from farrier.cli.stop import STOP

    STOP.install(sys.argv[1:])  # before anything that takes time
    from farrier._extras import require

    try:
        for module in ("typer", "rich"):
            require(module, extra="cli")
    except ImportError as error:
        sys.exit(str(error))
    from farrier.cli.app import app

    app()


if __name__ == "__main__":
    main()

"""Start the playground: what each stage does, to try in a browser.

hatch run play
hatch run play --port 8600
"""

from __future__ import annotations

import argparse
import socket
import sys
from importlib.util import find_spec
from pathlib import Path

APP = Path(__file__).with_name("frame") / "app.py"
ADDRESS = "localhost"
PROMISED = (f"--server.address={ADDRESS}", "--browser.gatherUsageStats=false")
"""Nobody but this machine is answered, and nobody is told about anybody.

It is said on the command line, which environment variables do not override, as they do files.
"""


def port_number(text: str) -> int:
    """Return the number of a port that nobody listens on.

    Raises:
        ArgumentTypeError: it is no number of a port, or the port is taken.
    """
    if not text.isascii() or not text.isdigit() or not 1 <= int(text) <= 65535:
        raise argparse.ArgumentTypeError(f"a port is a number from 1 to 65535; {text!r} was given")
    with socket.socket() as tried:
        tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            tried.bind((ADDRESS, int(text)))
        except OSError as error:
            raise argparse.ArgumentTypeError(
                f"port {text} cannot be used ({error.strerror}): give another"
            ) from None
    return int(text)


def main(arguments: list[str] | None = None) -> int:
    """Serve the pages on this machine only, until it is interrupted, and return the exit status."""
    parser = argparse.ArgumentParser(
        prog="hatch run play", description=(__doc__ or "").partition("\n")[0]
    )
    parser.add_argument(
        "--port", type=port_number, help="where to listen (8501, or the next that is free)"
    )
    options = parser.parse_args(arguments)
    if find_spec("streamlit") is None:
        print(
            "play: this needs streamlit, which is not installed: `hatch run play` brings it",
            file=sys.stderr,
        )
        return 1
    from streamlit.web import cli

    port = [] if options.port is None else [f"--server.port={options.port}"]
    cli.main(["run", str(APP), *PROMISED, *port])
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Start the playground: interactive pages for each stage.

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
"""The server listens on this machine only, and Streamlit collects no usage statistics.

Command-line options have precedence over environment variables and configuration files.
"""


def port_number(text: str) -> int:
    """Parse the number of a free port.

    Raises:
        ArgumentTypeError: it is not a port number, or the port is in use.
    """
    if not text.isascii() or not text.isdigit() or not 1 <= int(text) <= 65535:
        raise argparse.ArgumentTypeError(f"{text!r} is not a port number from 1 to 65535")
    with socket.socket() as tried:
        tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            tried.bind((ADDRESS, int(text)))
        except OSError as error:
            raise argparse.ArgumentTypeError(
                f"port {text} cannot be used ({error.strerror}): choose another"
            ) from None
    return int(text)


def main(arguments: list[str] | None = None) -> int:
    """Serve the pages on this machine until interrupted, and return the exit status."""
    parser = argparse.ArgumentParser(
        prog="hatch run play", description=(__doc__ or "").partition("\n")[0]
    )
    parser.add_argument(
        "--port", type=port_number, help="where to listen (8501, or the next that is free)"
    )
    options = parser.parse_args(arguments)
    if find_spec("streamlit") is None:
        print(
            "play: streamlit is not installed: use `hatch run play`",
            file=sys.stderr,
        )
        return 1
    from streamlit.web import cli

    port = [] if options.port is None else [f"--server.port={options.port}"]
    cli.main(["run", str(APP), *PROMISED, *port])
    return 0


if __name__ == "__main__":
    sys.exit(main())

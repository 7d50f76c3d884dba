"""Serve a folder to browsers on this machine, and print its address."""

from __future__ import annotations

import sys
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer


class Handler(SimpleHTTPRequestHandler):
    """A handler that knows the types of scripts and of WebAssembly, and logs nothing."""

    extensions_map = {  # noqa: RUF012 - as in the base class
        **SimpleHTTPRequestHandler.extensions_map,
        ".js": "text/javascript",
        ".mjs": "text/javascript",
        ".wasm": "application/wasm",
    }

    def log_message(self, format: str, *args: object) -> None:
        """Log nothing."""


def server(folder: str, port: int = 0) -> ThreadingHTTPServer:
    """Return a server of a folder; port 0 selects a free one."""
    return ThreadingHTTPServer(("127.0.0.1", port), partial(Handler, directory=folder))


if __name__ == "__main__":
    with server(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 0) as found:
        print(f"http://127.0.0.1:{found.server_address[1]}/  (stop with Ctrl+C)", flush=True)
        try:
            found.serve_forever()
        except KeyboardInterrupt:
            print()

"""Where the command `mt-train` begins: before all that it needs is imported, which takes a while.

Control-C in the middle of an import would end in a traceback, or in an import error of the module
that was half there. So it ends the process here until the command can answer it, and again when the
command is done. It is a module of its own because importing `mt_nn` is most of the waiting.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any


def main() -> int:
    """Import the command, run it, and return its exit code."""
    _answer_control_c(_end)
    _open_streams()
    from mt_nn.jobs.command import cli

    try:
        _answer_control_c(signal.default_int_handler)
        return cli.main()
    finally:
        _answer_control_c(_end)


def _answer_control_c(handler: Callable[[int, FrameType | None], Any]) -> None:
    """Take another handler, unless Control-C is ignored, as behind `nohup`."""
    if signal.getsignal(signal.SIGINT) in (signal.default_int_handler, _end):
        signal.signal(signal.SIGINT, handler)


def _end(*_: object) -> None:
    """End the process, whatever it is doing."""
    os.write(2, b"mt-train: interrupted.\n")
    os._exit(130)


def _open_streams() -> None:
    """Let nobody hear what goes to a stream that is closed.

    Its number would be that of the next file to be opened, which others might then write into.
    """
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            nothing = os.open(os.devnull, os.O_RDWR)  # has the least number that is free, this one
            setattr(sys, name, os.fdopen(nothing, "w" if number else "r", closefd=False))


if __name__ == "__main__":
    sys.exit(main())

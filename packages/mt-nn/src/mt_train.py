"""The entry point of the command `mt-train`, which handles Control-C during imports.

Control-C during an import, which takes a while, would print a traceback or cause import errors. So
it exits the process until the command can handle it, and again when the command is done. This is a
separate module because importing `mt_nn` takes most of the time.
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
    _handle_control_c(_exit)
    _open_streams()
    from mt_nn.jobs.command import cli

    try:
        _handle_control_c(signal.default_int_handler)
        return cli.main()
    finally:
        _handle_control_c(_exit)


def _handle_control_c(handler: Callable[[int, FrameType | None], Any]) -> None:
    """Install a handler, unless Control-C is ignored, as after `nohup`."""
    if signal.getsignal(signal.SIGINT) in (signal.default_int_handler, _exit):
        signal.signal(signal.SIGINT, handler)


def _exit(*_: object) -> None:
    """Exit the process immediately."""
    os.write(2, b"mt-train: interrupted.\n")
    os._exit(130)


def _open_streams() -> None:
    """Replace closed standard streams by the null device.

    Otherwise the next opened file would get the stream's number, and output would go into it.
    """
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            descriptor = os.open(os.devnull, os.O_RDWR)  # the lowest free number, which is `number`
            setattr(sys, name, os.fdopen(descriptor, "w" if number else "r", closefd=False))


if __name__ == "__main__":
    sys.exit(main())

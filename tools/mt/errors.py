"""User errors, which a command reports as one line of text."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager


class ToolError(Exception):
    """A command cannot continue; the message says what is wrong, and how to fix it."""


@contextmanager
def reported(command: str) -> Iterator[None]:
    """Print a user error and exit with status 1.

    A file that cannot be read or written counts as one.

    Args:
        command: the name of the command.
    """
    try:
        yield
    except (ToolError, OSError) as error:
        print(f"mt {command}: {error}", file=sys.stderr)
        raise SystemExit(1) from None

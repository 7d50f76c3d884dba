"""Mistakes that a command answers with a line of text."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager


class ToolError(Exception):
    """A command cannot do what it was asked for; says what is wrong, and what to do."""


@contextmanager
def reported(command: str) -> Iterator[None]:
    """Print a mistake and end the program with status 1.

    A file that cannot be read or written is one, too.

    Args:
        command: which one was asked for.
    """
    try:
        yield
    except (ToolError, OSError) as error:
        print(f"mt {command}: {error}", file=sys.stderr)
        raise SystemExit(1) from None

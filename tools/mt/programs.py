"""Running other programs, as hatch, git and pip, for what they print."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from mt.errors import ToolError
from mt.workspace import ROOT


class ProgramError(ToolError):
    """A program is not there, or failed."""


def output(
    command: Sequence[str], folder: Path = ROOT, environment: Mapping[str, str] | None = None
) -> str:
    """Run a program to its end, and return what it printed.

    Args:
        command: the program and its arguments.
        folder: where to run it.
        environment: all of its environment variables; those of this process if not given.

    Raises:
        ProgramError: it is not there or failed; with everything it said.
    """
    try:
        done = subprocess.run(
            command, cwd=folder, env=environment, capture_output=True, text=True, check=True
        )
    except FileNotFoundError as error:
        message = f"`{command[0]}` is not installed, or not on the search path"
        raise ProgramError(message) from error
    except subprocess.CalledProcessError as error:
        said = f"{error.stdout}{error.stderr}"
        message = f"`{' '.join(command)}` failed with status {error.returncode}:\n{said}"
        raise ProgramError(message) from error
    return done.stdout

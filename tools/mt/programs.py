"""Run other programs, such as hatch, git and pip, and return their output."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from mt.errors import ToolError
from mt.workspace import ROOT


class ProgramError(ToolError):
    """A program is not installed, or failed."""


def output(
    command: Sequence[str], folder: Path = ROOT, environment: Mapping[str, str] | None = None
) -> str:
    """Run a program and return what it prints to stdout.

    Args:
        command: the program and its arguments.
        folder: where to run it.
        environment: all of its environment variables; by default those of this process.

    Raises:
        ProgramError: it is not installed or failed; the message contains its output.
    """
    try:
        done = subprocess.run(
            command, cwd=folder, env=environment, capture_output=True, text=True, check=True
        )
    except FileNotFoundError as error:
        message = f"`{command[0]}` is not installed, or not on the search path"
        raise ProgramError(message) from error
    except subprocess.CalledProcessError as error:
        printed = f"{error.stdout}{error.stderr}"
        message = f"`{' '.join(command)}` failed with status {error.returncode}:\n{printed}"
        raise ProgramError(message) from error
    return done.stdout

"""Run other programs, such as hatch, git and pip, and modules that read requests line by line."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Self

from mt.errors import ToolError
from mt.workspace import ROOT


class ProgramError(ToolError):
    """A program is not installed, or failed."""


def output(
    command: Sequence[str], folder: Path = ROOT, environment: Mapping[str, str] | None = None
) -> str:
    """Run a program and return its output on stdout.

    Args:
        command: the program and its arguments.
        folder: where to run it.
        environment: all of its environment variables; by default those of this process.

    Raises:
        ProgramError: the program is not installed, or failed; the message contains its output.
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


class Server:
    """A child process that runs a module, reads requests and prints a line for each.

    Args:
        module: the module.
        arguments: its arguments.
        environment: environment variables besides those of this process.
    """

    def __init__(
        self, module: str, arguments: Sequence[str], environment: Mapping[str, str]
    ) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", module, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=ROOT / "tools",
            env={**os.environ, **environment},
        )

    def request(self, line: str) -> None:
        """Send a request."""
        with contextlib.suppress(BrokenPipeError):  # there will be no reply
            print(line, file=self._pipes()[0], flush=True)

    def reply(self) -> str:
        """Return the next line that the process prints; it is empty if the process has ended."""
        return self._pipes()[1].readline()

    def _pipes(self) -> tuple[IO[str], IO[str]]:
        requests, replies = self._process.stdin, self._process.stdout
        if requests is None or replies is None:
            raise RuntimeError("the process has no pipes.")
        return requests, replies

    def __enter__(self) -> Self:
        """Return the process."""
        return self

    def __exit__(self, *_: object) -> None:
        """End the process."""
        for pipe in self._pipes():
            with contextlib.suppress(BrokenPipeError):
                pipe.close()
        self._process.wait()

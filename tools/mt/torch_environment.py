"""Rerun a tool in hatch's environment `torch` if packages that it needs are missing here."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from importlib.util import find_spec

from mt.errors import ToolError

ENVIRONMENT = "torch"


def missing(modules: Sequence[str]) -> list[str]:
    """Return the modules that are not installed here."""
    return [name for name in modules if find_spec(name.partition(".")[0]) is None]


def run_in_torch_environment(arguments: Sequence[str], needed: Sequence[str]) -> int:
    """Run `mt` with these arguments in the environment `torch`.

    Args:
        arguments: the arguments of `mt`.
        needed: the modules that are missing here.

    Returns:
        The exit status.

    Raises:
        ToolError: hatch is not installed, or this is already its environment.
    """
    absent = ", ".join(needed)
    if os.environ.get("HATCH_ENV_ACTIVE") == ENVIRONMENT:
        message = f"{absent} is missing from the environment {ENVIRONMENT!r}: run `hatch env prune`"
        raise ToolError(message)
    hatch = shutil.which("hatch")
    if hatch is None:
        message = (
            f"this needs {absent}, which is not installed: pip install {' '.join(needed)}, or "
            f"pip install hatch, which has an environment for it"
        )
        raise ToolError(message)
    command = [hatch, "run", f"{ENVIRONMENT}:mt", *arguments]
    return subprocess.run(command, check=False).returncode

"""The jobs of continuous integration, derived from the workspace.

Which environments exist and on which Python they run is hatch's answer (`hatch env show --json`);
which stage is downstream of which is read from the packages. Neither is listed here.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterable, Mapping
from pathlib import PurePosixPath
from typing import Any

from mt.workspace import ROOT, Stage, UnknownStageError, Workspace, WorkspaceError

MATRIX = "stage"


def environments() -> dict[str, dict[str, Any]]:
    """Ask hatch for all environments, by name."""
    answer = output("hatch", "env", "show", "--json")
    found: dict[str, dict[str, Any]] = json.loads(answer)
    return found


def jobs(
    workspace: Workspace, environments: Mapping[str, Mapping[str, Any]], wanted: Iterable[Stage]
) -> list[dict[str, str]]:
    """Find the environments in which the wanted stages are tested.

    Args:
        workspace: The stages.
        environments: Hatch's environments by name.
        wanted: The stages to test.

    Returns:
        One job for each stage and Python: names of the stage, the Python and the environment.

    Raises:
        WorkspaceError: If a stage has no environment; its tests would silently never run.
    """
    found: dict[str, list[dict[str, str]]] = {name: [] for name in workspace.stages}
    for environment, config in environments.items():
        matrix, _, variant = environment.partition(".")
        if matrix == MATRIX:
            python, _, short = variant.partition("-")
            stage = workspace[short]
            found[stage.name].append(
                {
                    "stage": stage.short,
                    "python": config.get("python", python.removeprefix("py")),
                    "environment": environment,
                }
            )
    missing = [name for name, its_jobs in found.items() if not its_jobs]
    if missing:
        message = (
            f"no environment tests {', '.join(missing)}: add the stage to the matrix of "
            f"[tool.hatch.envs.{MATRIX}] in the root pyproject.toml"
        )
        raise WorkspaceError(message)
    names = {stage.name for stage in wanted}
    return [job for name in workspace.stages if name in names for job in found[name]]


def stages_of_names(workspace: Workspace, names: Iterable[str]) -> list[Stage]:
    """The named stages and everything downstream of them, in building order."""
    wanted = {stage.name for name in names for stage in workspace.downstream(workspace[name])}
    return [stage for stage in workspace.stages.values() if stage.name in wanted]


def stages_of_files(workspace: Workspace, files: Iterable[str]) -> list[Stage]:
    """The stages whose tests a change of these files can break.

    A file of a package concerns that stage and its downstream. Any other file (the workspace's own
    configuration, a tool, a workflow) concerns every stage.

    Args:
        workspace: The stages.
        files: Paths relative to the root of the repository.

    Returns:
        Stages in building order.
    """
    names = set()
    for file in files:
        match PurePosixPath(file).parts:
            case ("packages", package, _, *_):
                names.add(package)
            case _:
                return list(workspace.stages.values())
    try:
        return stages_of_names(workspace, names)
    except UnknownStageError:
        # A package was removed or renamed: what needed it is no longer known.
        return list(workspace.stages.values())


def output(*command: str) -> str:
    """Run a command in the root of the workspace and return what it printed."""
    try:
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    except FileNotFoundError as error:
        message = f"`{command[0]}` is not installed, or not on the search path"
        raise WorkspaceError(message) from error
    except subprocess.CalledProcessError as error:
        message = f"`{' '.join(command)}` failed with status {error.returncode}: {error.stderr}"
        raise WorkspaceError(message) from error
    return done.stdout

"""Derive the jobs of continuous integration: every stage on every Python, or only what changed.

    python tools/ci_matrix.py                     every stage
    python tools/ci_matrix.py mt-tensor           that stage and everything downstream of it
    python tools/ci_matrix.py --since origin/main what the changes since then can break

Prints one line of JSON in the form that GitHub Actions takes as `strategy.matrix`. Which
environments exist and on which Python they run is hatch's answer (`hatch env show --json`); which
stage is downstream of which is read from the packages. Neither is listed here.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any

from stages import ROOT, Stage, UnknownStageError, Workspace, WorkspaceError

MATRIX = "stage"


def environments() -> dict[str, dict[str, Any]]:
    """Ask hatch for all environments, by name."""
    answer = _run("hatch", "env", "show", "--json")
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


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the matrix."""
    parser = argparse.ArgumentParser(description="Print the matrix of test jobs as JSON.")
    parser.add_argument("package", nargs="*", help="test this package and all that build on it")
    parser.add_argument("--since", metavar="REVISION", help="test what changes since can break")
    options = parser.parse_args(arguments)
    if options.package and options.since:
        parser.error("give either packages or --since, not both")

    try:
        workspace = Workspace.read()
        if options.since:
            changed = _run("git", "diff", "--name-only", f"{options.since}...HEAD").splitlines()
            wanted = stages_of_files(workspace, changed)
        else:
            wanted = stages_of_names(workspace, options.package or workspace.stages)
        matrix = {"include": jobs(workspace, environments(), wanted)}
    except WorkspaceError as error:
        print(f"ci_matrix: {error}", file=sys.stderr)
        return 1
    print(json.dumps(matrix, separators=(",", ":")))
    return 0


def _run(*command: str) -> str:
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


if __name__ == "__main__":
    sys.exit(main())

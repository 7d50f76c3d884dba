"""Hatch's environments: those that should exist, by what the packages declare, and those that do.

Hatch knows how environments are made, the packages know what has to be tested in them. Nothing is
listed here: environments that are missing, or that nobody asks for, are an error with its cure.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from mt.matrix.jobs import OLDEST, Job
from mt.programs import output
from mt.workspace import WorkspaceError

Environments = Mapping[str, Mapping[str, Any]]

LOWEST = {"UV_RESOLUTION": "lowest-direct"}
"""What makes an environment take the oldest versions that the packages accept."""


class EnvironmentsError(WorkspaceError):
    """The environments of the root pyproject.toml are not those that the packages call for."""


def environments() -> dict[str, dict[str, Any]]:
    """Ask hatch for all environments, by name."""
    found: dict[str, dict[str, Any]] = json.loads(output(["hatch", "env", "show", "--json"]))
    return found


def check(environments: Environments, jobs: Iterable[Job]) -> None:
    """Compare hatch's environments with those that jobs are to run in.

    Args:
        environments: Hatch's answer.
        jobs: Every job there can be.

    Raises:
        EnvironmentsError: If one is missing or superfluous, sees other packages than its job needs,
            or lacks its script; tests would silently never run, or prove less than they seem to.
    """
    wanted = {job.environment: job for job in jobs}
    families = {job.family for job in wanted.values()}
    present = [name for name in environments if name.partition(".")[0] in families]
    missing = [name for name in wanted if name not in environments]
    superfluous = [name for name in present if name not in wanted]
    if missing or superfluous:
        problems = []
        if missing:
            problems.append(f"there is no environment {', '.join(missing)}, which packages need")
        if superfluous:
            problems.append(f"no package needs the environment {', '.join(superfluous)}")
        tables = " and ".join(f"[[tool.hatch.envs.{family}.matrix]]" for family in sorted(families))
        message = f"{'; '.join(problems)}: mend {tables} in the root pyproject.toml"
        raise EnvironmentsError(message)
    for name, job in wanted.items():
        _check_one(job, environments[name])


def _check_one(job: Job, config: Mapping[str, Any]) -> None:
    """Compare an environment with what its job needs.

    Raises:
        EnvironmentsError: They differ.
    """
    table = f"[tool.hatch.envs.{job.family}] or its overrides, in the root pyproject.toml"
    members = config.get("workspace", {}).get("members", [])
    paths = [member["path"] if isinstance(member, dict) else member for member in members]
    seen = sorted(path.replace("{matrix:stage}", job.tested) for path in paths)
    should_see = sorted(f"packages/{name}" for name in job.needs)
    if seen != should_see:
        message = (
            f"{job.environment} holds {', '.join(seen)}, and should hold "
            f"{', '.join(should_see)}: mend the members of {table}"
        )
        raise EnvironmentsError(message)
    if job.script not in config.get("scripts", {}):
        message = f"{job.environment} has no script {job.script!r}: add it to {table}"
        raise EnvironmentsError(message)
    variables = config.get("env-vars", {})
    lowest = {name: variables.get(name) for name in LOWEST} == LOWEST
    if lowest != (job.numpy == OLDEST):
        message = (
            f"{job.environment} does {'' if lowest else 'not '}ask for the oldest "
            f"versions ({' '.join('='.join(pair) for pair in LOWEST.items())}): mend the env-vars "
            f"of {table}"
        )
        raise EnvironmentsError(message)

"""Check hatch's environments against those that the packages need.

Hatch defines the environments, and the packages declare what to test in them. Missing or
superfluous environments are an error, with instructions.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from mt.matrix.jobs import OLDEST, Job
from mt.programs import output
from mt.workspace import WorkspaceError

Environments = Mapping[str, Mapping[str, Any]]

LOWEST = {"UV_RESOLUTION": "lowest-direct"}
"""The variables of environments with the oldest versions that the packages accept."""


class EnvironmentsError(WorkspaceError):
    """The environments of the root pyproject.toml do not match the packages."""


def environments() -> dict[str, dict[str, Any]]:
    """Return all of hatch's environments, by name."""
    found: dict[str, dict[str, Any]] = json.loads(output(["hatch", "env", "show", "--json"]))
    return found


def check(environments: Environments, jobs: Iterable[Job]) -> None:
    """Compare hatch's environments with those that jobs run in.

    Args:
        environments: The environments.
        jobs: All jobs.

    Raises:
        EnvironmentsError: If one is missing or superfluous, has other packages than its job
            needs, or lacks its script: tests would silently not run, or prove too little.
    """
    expected = {job.environment: job for job in jobs}
    families = {job.family for job in expected.values()}
    present = [name for name in environments if name.partition(".")[0] in families]
    problems = [
        *(f"the environment {name} is missing" for name in expected if name not in environments),
        *(f"no package needs the environment {name}" for name in present if name not in expected),
    ]
    if problems:
        tables = " and ".join(f"[[tool.hatch.envs.{family}.matrix]]" for family in sorted(families))
        message = f"{'; '.join(problems)}: fix {tables} in the root pyproject.toml"
        raise EnvironmentsError(message)
    for name, job in expected.items():
        for problem in _problems(job, environments[name]):
            place = f"[tool.hatch.envs.{job.family}] or its overrides, in the root pyproject.toml"
            raise EnvironmentsError(f"{name} {problem}: fix {place}")


def _problems(job: Job, config: Mapping[str, Any]) -> Iterator[str]:
    """Yield the differences of an environment from the needs of its job."""
    members = config.get("workspace", {}).get("members", [])
    paths = [member["path"] if isinstance(member, dict) else member for member in members]
    seen = sorted(path.replace("{matrix:stage}", job.tested) for path in paths)
    needed = sorted(f"packages/{name}" for name in job.needs)
    if seen != needed:
        yield f"contains {', '.join(seen)}, but should contain {', '.join(needed)}"
    if job.script not in config.get("scripts", {}):
        yield f"has no script {job.script!r}"
    lowest = LOWEST.items() <= config.get("env-vars", {}).items()
    if lowest != (job.numpy == OLDEST):
        versions = " ".join("=".join(pair) for pair in LOWEST.items())
        yield f"does {'' if lowest else 'not '}select the oldest versions ({versions})"

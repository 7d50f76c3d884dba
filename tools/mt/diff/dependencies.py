"""The dependencies that a stage adds to those of another, with their own dependencies."""

from __future__ import annotations

import importlib.metadata
from dataclasses import dataclass
from functools import cache

from packaging.requirements import Requirement
from packaging.utils import NormalizedName, canonicalize_name

from mt.requirements import closure
from mt.workspace import Stage


@dataclass(frozen=True)
class Dependency:
    """A dependency that a stage adds.

    Attributes:
        requirement: the requirement in `pyproject.toml`.
        brings: its transitive dependencies; None if it is not installed.
    """

    requirement: str
    brings: tuple[str, ...] | None

    def __str__(self) -> str:
        if self.brings is None:
            return f"{self.requirement} (not installed here)"
        return (
            f"{self.requirement} (brings {', '.join(self.brings)})"
            if self.brings
            else (self.requirement)
        )


def gained(before: Stage, after: Stage) -> tuple[Dependency, ...]:
    """Return the dependencies of the second stage that the first does not have."""
    known = {requirement.name for requirement in before.dependencies}
    return tuple(
        Dependency(str(each), _brought(each))
        for each in after.dependencies
        if each.name not in known
    )


def _brought(requirement: Requirement) -> tuple[str, ...] | None:
    """Return the transitive dependencies of a requirement, sorted."""
    installed = _installed()
    name = canonicalize_name(requirement.name)
    if name not in installed:
        return None
    return tuple(sorted(closure([requirement], installed) - {name}))


@cache
def _installed() -> dict[NormalizedName, list[Requirement]]:
    """Return all installed distributions with their requirements."""
    return {
        canonicalize_name(each.metadata["Name"]): list(map(Requirement, each.requires or ()))
        for each in importlib.metadata.distributions()
    }

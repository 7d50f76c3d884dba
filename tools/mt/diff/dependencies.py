"""What a stage needs that another one does not, and what comes along with it."""

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
    """A package that a stage gains.

    Attributes:
        requirement: as its `pyproject.toml` has it.
        brings: the packages that it needs itself, and those that they need; None if it is not
            installed, so that nobody knows.
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
    """Return what the second stage needs and the first does not."""
    known = {requirement.name for requirement in before.dependencies}
    return tuple(
        Dependency(str(each), _brought(each))
        for each in after.dependencies
        if each.name not in known
    )


def _brought(requirement: Requirement) -> tuple[str, ...] | None:
    """Return all that comes with a package, sorted."""
    installed = _installed()
    name = canonicalize_name(requirement.name)
    if name not in installed:
        return None
    return tuple(sorted(closure([requirement], installed) - {name}))


@cache
def _installed() -> dict[NormalizedName, list[Requirement]]:
    """Return what is installed here, each with what it needs."""
    return {
        canonicalize_name(each.metadata["Name"]): list(map(Requirement, each.requires or ()))
        for each in importlib.metadata.distributions()
    }

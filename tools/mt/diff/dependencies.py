"""What a stage needs that another one does not, and what comes along with it."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Iterator
from dataclasses import dataclass

from packaging.requirements import Requirement
from packaging.utils import NormalizedName, canonicalize_name

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
    first = canonicalize_name(requirement.name)
    found: set[NormalizedName] = set()
    pending = [first]
    while pending:
        name = pending.pop()
        try:
            needed = list(_needed(name))
        except importlib.metadata.PackageNotFoundError:
            if name == first:
                return None
            continue
        pending += [each for each in needed if each not in found]
        found.update(needed)
    return tuple(sorted(found - {first}))


def _needed(name: str) -> Iterator[NormalizedName]:
    """Yield what an installed package needs on this machine, without its extras."""
    for line in importlib.metadata.requires(name) or ():
        requirement = Requirement(line)
        if requirement.marker is None or requirement.marker.evaluate({"extra": ""}):
            yield canonicalize_name(requirement.name)

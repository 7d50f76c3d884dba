"""The stages of this workspace, read from what their packages declare.

Every tool that must know which packages there are, which need which, and what each brings along
asks here; nothing keeps a list of its own. The only source is `packages/*/pyproject.toml`, so that
a new stage exists for the tools as soon as it has a folder.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import Any

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import NormalizedName, canonicalize_name

from mt.errors import ToolError
from mt.source.modules import Library

ROOT = Path(__file__).resolve().parents[2]


class WorkspaceError(ToolError):
    """The workspace is not what a tool needs: says what is wrong, where, and what to do."""


class UnknownStageError(WorkspaceError):
    """A name that is no stage of this workspace."""


@dataclass(frozen=True)
class Stage:
    """One package of the workspace.

    Attributes:
        name: The distribution, as in `mt-tensor`.
        folder: Where it lives, holding its `pyproject.toml`.
        dependencies: What it always needs.
        extras: What each of its extras adds.
    """

    name: NormalizedName
    folder: Path
    dependencies: tuple[Requirement, ...]
    extras: Mapping[str, tuple[Requirement, ...]]

    @property
    def short(self) -> str:
        """The name without the common prefix: `tensor`."""
        return self.name.removeprefix("mt-")

    @property
    def import_name(self) -> str:
        """What a program imports: `mt_tensor`."""
        return self.name.replace("-", "_")


class Workspace:
    """All stages in the order in which they build on each other."""

    def __init__(self, stages: Iterable[Stage]) -> None:
        by_name = {stage.name: stage for stage in stages}
        graph = {
            name: [
                needed
                for requirements in (stage.dependencies, *stage.extras.values())
                for needed in _names(requirements)
                if needed in by_name
            ]
            for name, stage in by_name.items()
        }
        try:
            order = list(TopologicalSorter(graph).static_order())
        except CycleError as error:
            circle = " -> ".join(error.args[1])
            message = f"these packages need each other in a circle: {circle}"
            raise WorkspaceError(message) from error
        self.stages = {name: by_name[name] for name in order}

    @classmethod
    def read(cls, root: Path = ROOT) -> Workspace:
        """Read the packages below `root`.

        Args:
            root: The folder that holds `packages/`.

        Returns:
            The workspace.

        Raises:
            WorkspaceError: If there is no package, or one of them cannot be read.
        """
        files = sorted(root.glob("packages/*/pyproject.toml"))
        if not files:
            message = f"no package found: {root}/packages/*/pyproject.toml matches nothing"
            raise WorkspaceError(message)
        return cls(_read_stage(file) for file in files)

    def __getitem__(self, name: str) -> Stage:
        """Find a stage by its distribution (`mt-tensor`), import name or short name (`tensor`)."""
        wanted = canonicalize_name(name)
        for stage in self.stages.values():
            if wanted in {stage.name, stage.short}:
                return stage
        known = ", ".join(self.stages)
        message = f"no stage is called {name!r}; the stages are {known}"
        raise UnknownStageError(message)

    def library(self) -> Library:
        """Return the source of all stages."""
        return Library(
            {
                stage.import_name: stage.folder / "src" / stage.import_name
                for stage in self.stages.values()
            }
        )

    @cached_property
    def _direct(self) -> dict[NormalizedName, set[NormalizedName]]:
        return {
            name: {needed for needed in _names(stage.dependencies) if needed in self.stages}
            for name, stage in self.stages.items()
        }

    def upstream(self, stage: Stage, extras: Iterable[str] = ()) -> list[Stage]:
        """The stages that are installed together with `stage`, itself last.

        Args:
            stage: The stage which is asked for.
            extras: Extras of it which are asked for too.

        Returns:
            Stages in building order.
        """
        wanted: set[NormalizedName] = set()
        pending = [stage.name]
        for extra in extras:
            pending += [name for name in _names(stage.extras[extra]) if name in self.stages]
        while pending:
            name = pending.pop()
            if name not in wanted:
                wanted.add(name)
                pending += self._direct[name]
        return [self.stages[name] for name in self.stages if name in wanted]

    def downstream(self, stage: Stage) -> list[Stage]:
        """The stages whose tests a change of `stage` can break, itself first.

        Extras do not count: no test needs a stage that is only an extra.

        Args:
            stage: The stage which has changed.

        Returns:
            Stages in building order.
        """
        return [other for other in self.stages.values() if stage in self.upstream(other)]


def _read_stage(file: Path) -> Stage:
    """Read one package's table `[project]`."""
    try:
        project: dict[str, Any] = tomllib.loads(file.read_text(encoding="utf-8"))["project"]
        return Stage(
            name=canonicalize_name(project["name"]),
            folder=file.parent,
            dependencies=_requirements(project.get("dependencies", [])),
            extras={
                extra: _requirements(requirements)
                for extra, requirements in project.get("optional-dependencies", {}).items()
            },
        )
    except tomllib.TOMLDecodeError as error:
        message = f"{file} is not valid TOML: {error}"
        raise WorkspaceError(message) from error
    except KeyError as error:
        message = f"{file} describes no package: it lacks {error}"
        raise WorkspaceError(message) from error
    except InvalidRequirement as error:
        message = f"{file} has a dependency that cannot be read: {error}"
        raise WorkspaceError(message) from error


def _requirements(lines: Iterable[str]) -> tuple[Requirement, ...]:
    return tuple(Requirement(line) for line in lines)


def _names(requirements: Iterable[Requirement]) -> list[NormalizedName]:
    return [canonicalize_name(requirement.name) for requirement in requirements]

"""The stages of this workspace, read from the `pyproject.toml` of their packages.

Every tool gets the list of packages and their dependencies from here. The only source is
`packages/*/pyproject.toml`, so that a new stage is known to all tools as soon as it has a folder.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import Any

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import NormalizedName, canonicalize_name

from mt.errors import ToolError

ROOT = Path(__file__).resolve().parents[2]

PYTHON = re.compile(r"Programming Language :: Python :: (\d+\.\d+)")
"""The classifier for a supported Python version."""

PLUGINS = "mt_tensor.backends"
"""The entry-point group for tensor backends."""


class WorkspaceError(ToolError):
    """The workspace is invalid; the message says what is wrong, where, and how to fix it."""


class UnknownStageError(WorkspaceError):
    """A name that is not a stage of this workspace."""


@dataclass(frozen=True)
class Stage:
    """One package of the workspace.

    Attributes:
        name: The name of its distribution, such as `mt-tensor`.
        folder: The folder with its `pyproject.toml`.
        dependencies: Its required dependencies.
        extras: The dependencies of each extra.
        pythons: The supported Python versions, oldest first: `3.11`.
        plugins: The tensor backends that it registers as entry points.
        public: The modules that other packages may import from, such as `errors` or `testing.*`.
    """

    name: NormalizedName
    folder: Path
    dependencies: tuple[Requirement, ...]
    extras: Mapping[str, tuple[Requirement, ...]]
    pythons: tuple[str, ...]
    plugins: tuple[str, ...]
    public: tuple[str, ...]

    @property
    def short(self) -> str:
        """The name without the common prefix: `tensor`."""
        return self.name.removeprefix("mt-")

    @property
    def import_name(self) -> str:
        """The name for imports: `mt_tensor`."""
        return self.name.replace("-", "_")

    @property
    def source(self) -> Path:
        """The folder of the import package."""
        return self.folder / "src" / self.import_name


class Workspace:
    """All stages, in dependency order."""

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
            message = f"these packages depend on each other in a cycle: {circle}"
            raise WorkspaceError(message) from error
        self.stages = {name: by_name[name] for name in order}

    @classmethod
    def read(cls, root: Path = ROOT) -> Workspace:
        """Read the packages below `root`.

        Args:
            root: The folder that contains `packages/`.

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
        selected = canonicalize_name(name)
        for stage in self.stages.values():
            if selected in {stage.name, stage.short}:
                return stage
        known = ", ".join(self.stages)
        near = get_close_matches(
            selected, [*self.stages, *(s.short for s in self.stages.values())], 1
        )
        hint = f"; did you mean {near[0]}?" if near else ""
        message = f"unknown stage {name!r}; the stages are {known}{hint}"
        raise UnknownStageError(message)

    @property
    def sources(self) -> list[Path]:
        """The folders of the import packages."""
        return [stage.source for stage in self.stages.values()]

    @cached_property
    def _direct(self) -> dict[NormalizedName, set[NormalizedName]]:
        return {
            name: {needed for needed in _names(stage.dependencies) if needed in self.stages}
            for name, stage in self.stages.items()
        }

    def upstream(self, stage: Stage, extras: Iterable[str] = ()) -> list[Stage]:
        """Return the stages that are installed together with `stage`, itself last.

        Args:
            stage: The stage to install.
            extras: Extras to install with it.

        Returns:
            Stages in dependency order.
        """
        selected: set[NormalizedName] = set()
        pending = [stage.name]
        for extra in extras:
            pending += [name for name in _names(stage.extras[extra]) if name in self.stages]
        while pending:
            name = pending.pop()
            if name not in selected:
                selected.add(name)
                pending += self._direct[name]
        return [self.stages[name] for name in self.stages if name in selected]


def _read_stage(file: Path) -> Stage:
    """Read one package's tables `[project]` and `[tool.mt]`."""
    try:
        tables = tomllib.loads(file.read_text(encoding="utf-8"))
        project: dict[str, Any] = tables["project"]
        return Stage(
            name=canonicalize_name(project["name"]),
            folder=file.parent,
            dependencies=_requirements(project.get("dependencies", [])),
            extras={
                extra: _requirements(requirements)
                for extra, requirements in project.get("optional-dependencies", {}).items()
            },
            pythons=_pythons(project.get("classifiers", [])),
            plugins=tuple(project.get("entry-points", {}).get(PLUGINS, {})),
            public=tuple(tables.get("tool", {}).get("mt", {}).get("public", ())),
        )
    except tomllib.TOMLDecodeError as error:
        message = f"{file} is not valid TOML: {error}"
        raise WorkspaceError(message) from error
    except KeyError as error:
        message = f"{file} does not describe a package: {error} is missing"
        raise WorkspaceError(message) from error
    except InvalidRequirement as error:
        message = f"{file} has an invalid dependency: {error}"
        raise WorkspaceError(message) from error


def _pythons(classifiers: Iterable[str]) -> tuple[str, ...]:
    """Return the Python versions, such as 3.11, in a list of classifiers."""
    found = (PYTHON.fullmatch(line) for line in classifiers)
    versions = (match[1] for match in found if match)
    return tuple(sorted(versions, key=lambda version: tuple(map(int, version.split(".")))))


def _requirements(lines: Iterable[str]) -> tuple[Requirement, ...]:
    return tuple(Requirement(line) for line in lines)


def _names(requirements: Iterable[Requirement]) -> list[NormalizedName]:
    return [canonicalize_name(requirement.name) for requirement in requirements]

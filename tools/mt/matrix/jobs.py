"""The CI jobs: stage, Python, NumPy and backend.

There are two kinds of jobs:

- the tests of a stage itself, which need no particular backend, run on every supported Python, with
  the newest and the oldest supported NumPy;
- the conformance kit of a stage runs on every backend. Python and NumPy hardly matter for it beyond
  the first kind, so only two combinations run: the oldest Python with the oldest NumPy, and the
  newest with the newest. The others run on demand.

A stage without NumPy has one job for each Python. All of this is derived from what the packages
declare: Python versions, dependencies, backends, and whether they contain a kit.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path, PurePosixPath

from packaging.utils import NormalizedName, canonicalize_name

from mt.workspace import PLUGINS, Stage, UnknownStageError, Workspace

OLDEST, NEWEST = "oldest", "newest"


@dataclass(frozen=True)
class Job:
    """One run of tests.

    Attributes:
        stage: The short name of the stage that it tests.
        tested: The stage whose tests it runs: a different one for the kit on a backend of `stage`.
        python: The version of Python.
        numpy: `oldest` or `newest`; empty for a stage without NumPy.
        backend: The backend that the kit tests; empty for the tests of the stage itself.
        needs: The installed packages; a change of another package cannot break the job.
        essential: Whether to run it by default.
    """

    stage: str
    tested: str
    python: str
    numpy: str
    backend: str
    needs: frozenset[NormalizedName]
    essential: bool

    @property
    def family(self) -> str:
        """The name of the matrix of hatch environments."""
        return "backend" if self.backend else "stage"

    @property
    def script(self) -> str:
        """The script of the environment that runs the tests.

        With the newest versions, the tests of a stage run while the exercises are solved one by
        one, because their marks were made with these versions.
        """
        if self.backend:
            return "kit"
        return "own" if self.numpy == OLDEST else "exercises"

    @property
    def environment(self) -> str:
        """The name of its environment, which omits the newest NumPy."""
        numpy = OLDEST if self.numpy == OLDEST else ""
        values = (f"py{self.python}", self.tested, self.backend, numpy)
        return f"{self.family}.{'-'.join(filter(None, values))}"

    @property
    def command(self) -> str:
        """The command that runs it on any machine."""
        return f"hatch run {self.environment}:{self.script}"

    @property
    def name(self) -> str:
        """Its name for people."""
        what = f"{self.tested}'s kit on {self.backend}" if self.backend else self.stage
        numpy = f", {self.numpy} NumPy" if self.numpy else ""
        return f"{what}, Python {self.python}{numpy}"

    def as_json(self) -> dict[str, str]:
        """Return the fields for a workflow."""
        names = ("name", "stage", "python", "numpy", "backend", "environment", "command")
        return {name: getattr(self, name) for name in names}


def all_jobs(workspace: Workspace) -> list[Job]:
    """Return all possible jobs, with stages in dependency order.

    Args:
        workspace: The stages.
    """
    jobs = [*_own(workspace), *_kits(workspace)]
    order = [stage.short for stage in workspace.stages.values()]
    return sorted(jobs, key=lambda job: (order.index(job.stage), job.backend))


def _own(workspace: Workspace) -> Iterator[Job]:
    """Yield the jobs of the tests of each stage."""
    for stage in workspace.stages.values():
        needed = workspace.upstream(stage)
        versions = (OLDEST, NEWEST) if _needs_numpy(needed) else ("",)
        for python, numpy in product(stage.pythons, versions):
            yield Job(stage.short, stage.short, python, numpy, "", _names(needed), essential=True)


def _kits(workspace: Workspace) -> Iterator[Job]:
    """Yield the jobs of each conformance kit on each backend.

    A kit below the backend's stage tests that stage; a kit above it tests its own.
    """
    kits = [stage for stage in workspace.stages.values() if _has_kit(stage)]
    for kit, (backend, provider) in product(kits, backends(workspace).items()):
        below = workspace.upstream(provider)
        needed = [*workspace.upstream(kit), *below]
        stage = provider if kit in below else kit
        pythons = [python for python in kit.pythons if python in provider.pythons]
        for python, numpy in product(pythons, (OLDEST, NEWEST)):
            essential = (python, numpy) in {(pythons[0], OLDEST), (pythons[-1], NEWEST)}
            yield Job(stage.short, kit.short, python, numpy, backend, _names(needed), essential)


def backends(workspace: Workspace) -> dict[str, Stage]:
    """Return every backend of the workspace, by name, with the stage that provides it.

    A package registers its backends as entry points. Built-in backends belong to the package that
    owns the entry-point group, and are the classes with a name in its core.
    """
    found: dict[str, Stage] = {}
    for stage in workspace.stages.values():
        if PLUGINS.startswith(f"{stage.import_name}."):
            found |= dict.fromkeys(_built_in(stage.source / "core"), stage)
        found |= dict.fromkeys(stage.plugins, stage)
    return found


def _built_in(folder: Path) -> list[str]:
    """Return the names of the backend classes in this folder, without importing it."""
    found = []
    for file in folder.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"), str(file))):
            for line in node.body if isinstance(node, ast.ClassDef) else ():
                match line:
                    case ast.Assign([ast.Name("name")], ast.Constant(str(name))):
                        found.append(name)
    return sorted(found)


def _has_kit(stage: Stage) -> bool:
    """Return whether a stage has a conformance kit."""
    return (stage.source / "conformance" / "__init__.py").is_file()


def _needs_numpy(stages: Iterable[Stage]) -> bool:
    return any(canonicalize_name(r.name) == "numpy" for stage in stages for r in stage.dependencies)


def _names(stages: Iterable[Stage]) -> frozenset[NormalizedName]:
    return frozenset(stage.name for stage in stages)


def concerned(jobs: Iterable[Job], changed: Iterable[Stage]) -> list[Job]:
    """Return the jobs that a change of these stages can break.

    Args:
        jobs: The jobs to select from.
        changed: The stages.
    """
    names = _names(changed)
    return [job for job in jobs if job.needs & names]


def newest(jobs: Iterable[Job]) -> list[Job]:
    """Return the jobs with the newest NumPy and, of their stage, the newest Python."""
    jobs = [job for job in jobs if job.numpy != OLDEST]
    last = {job.tested: job.python for job in jobs}  # each stage has its oldest Python first
    return [job for job in jobs if job.python == last[job.tested]]


def stages_of_files(workspace: Workspace, files: Iterable[str]) -> list[Stage]:
    """Return the stages that these files belong to.

    A file of a package belongs to that stage. Any other file (the configuration, a tool, a
    workflow) concerns every stage, and so does a package that was removed or renamed, because its
    dependents are unknown.

    Args:
        workspace: The stages.
        files: Paths relative to the root of the repository.
    """
    found = {}
    for file in files:
        match PurePosixPath(file).parts:
            case ("packages", package, _, *_):
                try:
                    stage = workspace[package]
                except UnknownStageError:
                    return list(workspace.stages.values())
                found[stage.name] = stage
            case _:
                return list(workspace.stages.values())
    return list(found.values())

"""The jobs of continuous integration: stage, Python, NumPy and backend.

Two kinds of job run two kinds of test:

- the tests of a stage itself, which need no backend in particular, run on every Python that it
  promises, with the newest NumPy and with the oldest that it accepts;
- the conformance kit of a stage runs on every backend. Which Python and which NumPy matter little
  to it beyond what the first kind has proved, so that only the two corners are run: the oldest
  Python with the oldest NumPy, and the newest with the newest. The rest is there on demand.

A stage that does without NumPy has no such dimension. All of this is derived from what the packages
declare: their Pythons, their dependencies, the backends that they announce, and whether they hold a
kit.
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
        stage: The stage that it says something of, by its short name.
        tested: The stage whose tests it runs: another one for the kit on a backend of `stage`.
        python: The Python that it runs on.
        numpy: `oldest` or `newest`; empty for a stage that needs no NumPy.
        backend: The backend whose conformance is tested; empty for the tests of the stage itself.
        needs: The packages that are installed: a change of any other cannot break it.
        essential: Whether it is worth running when not everything is asked for.
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
        """The table of hatch's environments that its own is in."""
        return "backend" if self.backend else "stage"

    @property
    def script(self) -> str:
        """The script of that environment which runs the tests.

        With the newest versions a stage's own tests are run while the tasks of the course are
        solved: the marks of these were made with such.
        """
        if self.backend:
            return "kit"
        return "own" if self.numpy == OLDEST else "exercises"

    @property
    def environment(self) -> str:
        """The name of its environment; the newest NumPy is not part of the name."""
        numpy = OLDEST if self.numpy == OLDEST else ""
        values = (f"py{self.python}", self.tested, self.backend, numpy)
        return f"{self.family}.{'-'.join(filter(None, values))}"

    @property
    def command(self) -> str:
        """What runs it, on any machine."""
        return f"hatch run {self.environment}:{self.script}"

    @property
    def name(self) -> str:
        """What it proves, and where, for people to read."""
        what = f"{self.tested}'s kit on {self.backend}" if self.backend else self.stage
        numpy = f", {self.numpy} NumPy" if self.numpy else ""
        return f"{what}, Python {self.python}{numpy}"

    def as_json(self) -> dict[str, str]:
        """Return what a workflow reads."""
        names = ("name", "stage", "python", "numpy", "backend", "environment", "command")
        return {name: getattr(self, name) for name in names}


def all_jobs(workspace: Workspace) -> list[Job]:
    """Every job there can be, stages in building order.

    Args:
        workspace: The stages.
    """
    jobs = [*_own(workspace), *_kits(workspace)]
    order = [stage.short for stage in workspace.stages.values()]
    return sorted(jobs, key=lambda job: (order.index(job.stage), job.backend))


def _own(workspace: Workspace) -> Iterator[Job]:
    """Yield the tests of each stage itself."""
    for stage in workspace.stages.values():
        needed = workspace.upstream(stage)
        versions = (OLDEST, NEWEST) if _needs_numpy(needed) else ("",)
        for python, numpy in product(stage.pythons, versions):
            yield Job(stage.short, stage.short, python, numpy, "", _names(needed), essential=True)


def _kits(workspace: Workspace) -> Iterator[Job]:
    """Yield each conformance kit on each backend.

    A kit below the stage of the backend says something of that stage; a kit above it, of its own.
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
    """Every backend of the workspace, by name: the stage that it comes from.

    A package announces its backends by entry points. Those that are built in belong to the package
    that owns the group of entry points, and are the classes in its core that have a name.
    """
    found: dict[str, Stage] = {}
    for stage in workspace.stages.values():
        if PLUGINS.startswith(f"{stage.import_name}."):
            found |= dict.fromkeys(_built_in(stage.source / "core"), stage)
        found |= dict.fromkeys(stage.plugins, stage)
    return found


def _built_in(folder: Path) -> list[str]:
    """The names of the backends whose classes are in this folder, read as text."""
    found = []
    for file in folder.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"), str(file))):
            for line in node.body if isinstance(node, ast.ClassDef) else ():
                match line:
                    case ast.Assign([ast.Name("name")], ast.Constant(str(name))):
                        found.append(name)
    return sorted(found)


def _has_kit(stage: Stage) -> bool:
    """Whether a stage holds tests that every backend must pass."""
    return (stage.source / "conformance" / "__init__.py").is_file()


def _needs_numpy(stages: Iterable[Stage]) -> bool:
    return any(canonicalize_name(r.name) == "numpy" for stage in stages for r in stage.dependencies)


def _names(stages: Iterable[Stage]) -> frozenset[NormalizedName]:
    return frozenset(stage.name for stage in stages)


def concerned(jobs: Iterable[Job], changed: Iterable[Stage]) -> list[Job]:
    """The jobs that a change of these stages can break.

    Args:
        jobs: The jobs to choose from.
        changed: The stages.
    """
    names = _names(changed)
    return [job for job in jobs if job.needs & names]


def stages_of_files(workspace: Workspace, files: Iterable[str]) -> list[Stage]:
    """The stages that these files belong to.

    A file of a package is that stage's. Any other file (the workspace's own configuration, a tool,
    a workflow) concerns every stage, and so does a package that was removed or renamed: what
    needed it is no longer known.

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

"""Prove from built wheels that every stage needs only what it declares.

    hatch run layering:check                build all wheels into dist/, then check every stage
    hatch run layering:check mt-tensor      check only this one

1. *Wheels*: each contains its package and `py.typed`, its licence, and no tests.
2. *Installing* a stage into an empty environment installs exactly the stages below it and their
   declared third-party dependencies, with transitive ones. The same holds for each extra that
   adds stages.
3. *Importing* a stage, even with every stage installed, loads no later stage and no third-party
   package that the stage does not declare.

Expectations are derived from each package's `pyproject.toml`. The imports in the source are checked
by import-linter, with the contracts in the root `pyproject.toml`, and by `tests/test_layers.py`.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import tempfile
import venv
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from configparser import ConfigParser
from dataclasses import dataclass, field
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import NormalizedName, canonicalize_name, parse_wheel_filename

from mt.errors import ToolError
from mt.programs import output
from mt.requirements import closure
from mt.workspace import ROOT, Stage, Workspace, WorkspaceError

# Run inside an environment: list the installed distributions with their requirements.
INVENTORY = """
import importlib.metadata, json
print(json.dumps([
    {"name": d.metadata["Name"], "requires": d.requires or []}
    for d in importlib.metadata.distributions()
]))
"""

# Run inside an environment: list the modules that an import loads, with their distributions.
IMPORTS = """
import importlib, importlib.metadata, json, sys
before = set(sys.modules)
importlib.import_module(sys.argv[1])
new = {name.partition(".")[0] for name in set(sys.modules) - before}
owners = importlib.metadata.packages_distributions()
print(json.dumps({name: owners.get(name, []) for name in new - set(sys.stdlib_module_names)}))
"""


class LayeringError(WorkspaceError):
    """A stage violates the layering, or the check could not run."""


@dataclass
class Report:
    """The results of the checks so far."""

    failures: list[str] = field(default_factory=list)

    def check(self, claim: str, problems: Iterable[str]) -> None:
        """Print a claim with its result, and record the problems."""
        found = list(problems)
        print(f"  {'FAILED' if found else 'ok    '}  {claim}", flush=True)
        for problem in found:
            print(f"            {problem}", flush=True)
        self.failures += found


@dataclass(frozen=True)
class Wheel:
    """A built wheel and its stage."""

    stage: Stage
    path: Path

    def problems(self) -> Iterator[str]:
        """Yield the problems of its contents."""
        with zipfile.ZipFile(self.path) as archive:
            names = archive.namelist()
            entry_modules = set(_entry_modules(archive))
        package = f"{self.stage.import_name}/"
        for needed in ("__init__.py", "py.typed"):
            if package + needed not in names:
                yield f"{self.path.name} lacks {package}{needed}"
        if not any(".dist-info/" in name and name.endswith("/LICENSE") for name in names):
            yield f"{self.path.name} lacks the licence"
        for name in names:
            is_expected = name.startswith(package) or ".dist-info/" in name or name in entry_modules
            if not is_expected:
                yield f"{self.path.name} contains {name}, which is outside its package"
            if "/tests/" in name:
                yield f"{self.path.name} contains a test: {name}"


def _entry_modules(archive: zipfile.ZipFile) -> Iterator[str]:
    """Yield the top-level modules with the entry points of a wheel's commands."""
    for file in archive.namelist():
        if file.endswith(".dist-info/entry_points.txt"):
            points = ConfigParser(delimiters=("=",))
            points.read_string(archive.read(file).decode())
            commands = points["console_scripts"] if points.has_section("console_scripts") else {}
            for command in commands.values():
                yield f"{command.partition(':')[0]}.py"


def third_party(
    workspace: Workspace, stage: Stage, extras: Sequence[str] = ()
) -> dict[NormalizedName, Requirement]:
    """Return the third-party requirements of a stage and of the stages below it.

    Args:
        workspace: All stages.
        stage: The stage to install.
        extras: Its extras to install with it.

    Returns:
        The requirements that apply to this interpreter and platform, by distribution.
    """
    declared = [r for other in workspace.upstream(stage, extras) for r in other.dependencies]
    declared += [r for extra in extras for r in stage.extras[extra]]
    return {
        name: requirement
        for requirement in declared
        if (name := canonicalize_name(requirement.name)) not in workspace.stages
        and (requirement.marker is None or requirement.marker.evaluate({"extra": ""}))
    }


class Environment:
    """A new, empty environment, isolated from this one."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.uv = os.environ.get("HATCH_UV") or shutil.which("uv")
        venv.create(folder, with_pip=self.uv is None, symlinks=os.name != "nt")
        scripts = "Scripts" if os.name == "nt" else "bin"
        self.python = folder / scripts / ("python.exe" if os.name == "nt" else "python")

    def install(self, wheels: Sequence[Wheel], target: str) -> None:
        """Install `target`, with every stage from these wheels and the rest from the index."""
        # One constraint per wheel: the index must not supply a stage.
        constraints = self.folder / "constraints.txt"
        constraints.write_text(
            "".join(f"{wheel.stage.name} @ {wheel.path.as_uri()}\n" for wheel in wheels)
        )
        arguments = ["--quiet", "--find-links", str(wheels[0].path.parent)]
        arguments += ["--constraint", str(constraints), target]
        if self.uv:
            output([self.uv, "pip", "install", "--python", str(self.python), *arguments])
        else:
            output([str(self.python), "-m", "pip", "install", *arguments])

    def run_program(self, program: str, *arguments: str) -> str:
        """Run a program, isolated from the repository and user settings; return its output."""
        return output([str(self.python), "-I", "-c", program, *arguments], self.folder)

    def installed(self) -> dict[NormalizedName, list[Requirement]]:
        """Return the installed distributions with their requirements, without the installer."""
        found = {
            canonicalize_name(entry["name"]): [Requirement(line) for line in entry["requires"]]
            for entry in json.loads(self.run_program(INVENTORY))
        }
        if self.uv is None:
            for tool in ("pip", "setuptools"):
                found.pop(canonicalize_name(tool), None)
        return found


def check_installed(
    workspace: Workspace,
    stage: Stage,
    extras: Sequence[str],
    installed: dict[NormalizedName, list[Requirement]],
) -> Iterator[str]:
    """Compare the installed distributions with the declared ones.

    Args:
        workspace: All stages.
        stage: The stage that was installed.
        extras: Its extras that were installed too.
        installed: The installed distributions.

    Yields:
        A message for each missing or undeclared distribution.
    """
    requirement = f"{stage.name}[{','.join(extras)}]" if extras else stage.name
    stages = {other.name for other in workspace.upstream(stage, extras)}
    declared = third_party(workspace, stage, extras)
    expected = stages | closure(declared.values(), installed)
    for name in sorted(installed.keys() - expected):
        yield (
            f"installing {requirement} installed {name}, "
            "which neither it nor a stage below it declares"
        )
    for name in sorted((stages | declared.keys()) - installed.keys()):
        yield f"installing {requirement} did not install {name}"


def check_imports(workspace: Workspace, stage: Stage, environment: Environment) -> Iterator[str]:
    """Import a stage, and check the modules that it loads.

    Args:
        workspace: All stages.
        stage: The stage to import.
        environment: The environment in which it is installed.

    Yields:
        A message for each undeclared module.
    """
    installed = environment.installed()
    allowed = {other.name for other in workspace.upstream(stage)}
    allowed |= closure(third_party(workspace, stage).values(), installed)
    loaded: dict[str, list[str]] = json.loads(environment.run_program(IMPORTS, stage.import_name))
    for module, owners in sorted(loaded.items()):
        names = {canonicalize_name(owner) for owner in owners}
        if names and not names & allowed:
            yield f"`import {stage.import_name}` loads {module} of {', '.join(sorted(names))}"


def build(folder: Path) -> None:
    """Build the wheel of every package into `folder` with one command."""
    shutil.rmtree(folder, ignore_errors=True)
    # Explicit, because hatch passes its own environment, without workspace, to child processes.
    members = ["--env", "default"]
    output(["hatch", *members, "build", "--all", "--target", "wheel", str(folder)])


def find_wheels(workspace: Workspace, folder: Path) -> list[Wheel]:
    """Find the wheel of every stage.

    Args:
        workspace: All stages.
        folder: The folder of the wheels.

    Returns:
        The wheels in dependency order.

    Raises:
        LayeringError: If a stage has no wheel there, or several.
    """
    found: dict[NormalizedName, list[Path]] = {name: [] for name in workspace.stages}
    for path in sorted(folder.resolve().glob("*.whl")):
        name = parse_wheel_filename(path.name)[0]
        if name in found:
            found[name].append(path)
    for name, paths in found.items():
        if len(paths) != 1:
            message = (
                f"{folder} contains {len(paths)} wheels of {name}, not one: rebuild them with "
                "`hatch run layering:check`"
            )
            raise LayeringError(message)
    return [Wheel(stage, found[name][0]) for name, stage in workspace.stages.items()]


def prove(workspace: Workspace, wheels: Sequence[Wheel], wanted: Sequence[Stage]) -> Report:
    """Check every claim for every wanted stage.

    Args:
        workspace: All stages.
        wheels: The wheel of every stage.
        wanted: The stages to check.

    Returns:
        The results.
    """
    report = Report()
    with tempfile.TemporaryDirectory(prefix="layering-") as folder:
        everything = Environment(Path(folder, "everything"))
        for stage in workspace.stages.values():
            everything.install(wheels, stage.name)
        for wheel in wheels:
            stage = wheel.stage
            if stage not in wanted:
                continue
            print(stage.name, flush=True)
            report.check("the wheel contains only the package and its commands", wheel.problems())
            alone = Environment(Path(folder, stage.name))
            alone.install(wheels, stage.name)
            installed = alone.installed()
            report.check(
                f"installing it installs {', '.join(sorted(installed))}",
                check_installed(workspace, stage, (), installed),
            )
            report.check(
                "importing it alone loads only what it declares",
                check_imports(workspace, stage, alone),
            )
            report.check(
                "importing it with every other stage installed loads no more",
                check_imports(workspace, stage, everything),
            )
            for extra, requirements in stage.extras.items():
                if any(canonicalize_name(r.name) in workspace.stages for r in requirements):
                    requirement = f"{stage.name}[{extra}]"
                    extended = Environment(Path(folder, f"{stage.name}-{extra}"))
                    extended.install(wheels, requirement)
                    installed = extended.installed()
                    came = [name for name in workspace.stages if name in installed]
                    report.check(
                        f"{requirement} installs {', '.join(came)}",
                        check_installed(workspace, stage, [extra], installed),
                    )
    return report


def main(arguments: Sequence[str] | None = None) -> int:
    """Build the wheels, check the stages, and print the results."""
    parser = argparse.ArgumentParser(description="Prove from wheels that the stages are layered.")
    parser.add_argument("package", nargs="*", help="check only this package")
    parser.add_argument("--dist", type=Path, help="take the wheels in this folder; build nothing")
    options = parser.parse_args(arguments)
    try:
        workspace = Workspace.read()
        wanted = [workspace[name] for name in options.package or workspace.stages]
        folder = options.dist or ROOT / "dist"
        if options.dist is None:
            build(folder)
        report = prove(workspace, find_wheels(workspace, folder), wanted)
    except ToolError as error:
        print(f"check_layering: {error}", file=sys.stderr)
        return 1
    if report.failures:
        print(f"check_layering: {len(report.failures)} failed", file=sys.stderr)
        return 1
    print(f"{len(wanted)} stages are layered as they declare")
    return 0


if __name__ == "__main__":
    sys.exit(main())

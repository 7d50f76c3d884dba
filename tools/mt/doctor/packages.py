"""Check the versions of Python, of the stages and their dependencies, and where stages are."""

from __future__ import annotations

import os
import platform
import shlex
import sys
from collections.abc import Iterator
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path

from mt.doctor.findings import Finding, fault, fine, note
from mt.workspace import PLUGINS, ROOT, Stage, Workspace


def check_python(workspace: Workspace) -> Iterator[Finding]:
    """Check that every stage supports this version of Python."""
    text = f"{platform.python_version()} ({sys.executable})"
    supported = [python for stage in workspace.stages.values() for python in stage.pythons]
    if "{}.{}".format(*sys.version_info) in supported:
        yield fine("Python", text)
    else:
        fix = f"make an environment with Python {', '.join(dict.fromkeys(supported))}"
        yield fault("Python", f"{text} is not supported", fix)


def check_stages(workspace: Workspace) -> Iterator[Finding]:
    """Check that each stage is installed from this checkout, with its dependencies."""
    for stage in workspace.stages.values():
        version = installed(stage.name)
        if version is None:
            yield note(stage.name, "is not installed", _install_stage(stage))
            continue
        found = [*_unmet(stage), *_outdated(stage), *_import_path(stage)]
        yield from found or [fine(stage.name, version)]


def check_libraries(workspace: Workspace) -> Iterator[Finding]:
    """List the versions of the dependencies; a missing one is a fault of the stage."""
    needed = [r.name for stage in workspace.stages.values() for r in stage.dependencies]
    for name in dict.fromkeys(needed):
        version = installed(name)
        if version is not None and name not in workspace.stages:
            yield fine(name, version)


def _unmet(stage: Stage) -> Iterator[Finding]:
    """Check the dependencies of a stage."""
    for needed in stage.dependencies:
        if needed.marker is not None and not needed.marker.evaluate():
            continue
        version = installed(needed.name)
        if version is None or not needed.specifier.contains(version, prereleases=True):
            text = f"needs {needed}; {version or 'none'} is installed"
            yield fault(stage.name, text, _install_stage(stage))


def _outdated(stage: Stage) -> Iterator[Finding]:
    """Check that the installed metadata has the backends of the source."""
    entries = metadata.distribution(stage.name).entry_points.select(group=PLUGINS)
    if {entry.name for entry in entries} != set(stage.plugins):
        text = "declares other backends than its installed metadata"
        yield fault(stage.name, text, _install_stage(stage))


def _import_path(stage: Stage) -> Iterator[Finding]:
    """Check that a stage is imported from this checkout."""
    spec = find_spec(stage.import_name)
    folder = Path(spec.origin).resolve().parent if spec and spec.origin else stage.source
    if folder != stage.source:
        fix = f"unset PYTHONPATH; {_install_stage(stage)}"
        yield note(stage.name, f"is imported from {folder}", fix)


def _install_stage(stage: Stage) -> str:
    return install("-e", f"packages/{stage.folder.name}")


def installed(name: str) -> str | None:
    """Return the version of a distribution; None if it is not installed."""
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def install(*what: str) -> str:
    """Return the command that installs requirements into this environment."""
    uv = f"uv pip install --python {shlex.quote(sys.executable)}"
    return f"{'pip install' if find_spec('pip') else uv} {shlex.join(what)}"


def repair(name: str) -> str:
    """Return the command that repairs an installed package that does not work.

    Settings of Numba, if there are any, are the more likely cause.
    """
    settings = [variable for variable in os.environ if variable.startswith("NUMBA_")]
    if settings:
        return f"unset {' '.join(settings)}"
    ours = (ROOT / "packages" / name).is_dir()
    return install("-e", f"packages/{name}") if ours else install("--force-reinstall", name)

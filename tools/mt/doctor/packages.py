"""Versions: of Python, of the stages and what they need, and of what makes more possible."""

from __future__ import annotations

import platform
import sys
from collections.abc import Iterator
from importlib import metadata

from packaging.requirements import Requirement

from mt.doctor.findings import Finding, fault, fine, note
from mt.workspace import Stage, Workspace

LEAST = (3, 11)
OPTIONAL = {
    "safetensors": ("saves and loads models", "pip install 'mt-nn[train]'"),
    "rich": ("shows progress bars", "pip install 'mt-nn[train]'"),
    "scikit-learn": ("brings the digits", "pip install 'mt-nn[train]'"),
    "matplotlib": ("draws curves and tensors", "pip install 'mt-nn[train]'"),
    "torch": ("is measured against, and checks results in tests", "pip install torch"),
}
"""Packages that no stage always needs: what each does for it, and how to get it."""


def check_python() -> Iterator[Finding]:
    """Look at Python itself."""
    text = f"{platform.python_version()} ({sys.executable})"
    if sys.version_info[:2] < LEAST:
        yield fault("Python", text, f"Use Python {LEAST[0]}.{LEAST[1]} or newer.")
    else:
        yield fine("Python", text)


def check_stages(workspace: Workspace) -> Iterator[Finding]:
    """Look at each stage: whether it is installed, and whether what it needs is."""
    for stage in workspace.stages.values():
        version = installed(stage.name)
        if version is None:
            cure = f"pip install -e {stage.folder.relative_to(stage.folder.parents[1])}"
            yield note(stage.name, "is not installed", cure)
            continue
        unmet = list(_unmet(stage))
        yield from unmet
        if not unmet:
            yield fine(stage.name, version)


def _unmet(stage: Stage) -> Iterator[Finding]:
    for needed in stage.dependencies:
        if needed.marker is not None and not needed.marker.evaluate():
            continue
        version = installed(needed.name)
        if version is None:
            yield fault(stage.name, f"needs {needed}, which is not installed", _install(needed))
        elif not needed.specifier.contains(version, prereleases=True):
            text = f"needs {needed}; {needed.name} {version} is installed"
            yield fault(stage.name, text, _install(needed))


def _install(needed: Requirement) -> str:
    return f"pip install '{needed}'"


def check_libraries(workspace: Workspace) -> Iterator[Finding]:
    """Look at what the stages need from elsewhere, and at what makes more possible."""
    stages = workspace.stages.values()
    needed = {
        requirement.name: None
        for stage in stages
        for requirement in stage.dependencies
        if requirement.name not in workspace.stages
    }
    for name in needed:
        version = installed(name)
        if version is not None:  # what is missing was said of the stage that needs it
            yield fine(name, version)
    for name, (use, cure) in OPTIONAL.items():
        version = installed(name)
        if version is None:
            yield note(name, f"is not installed; it {use}", cure)
        else:
            yield fine(name, version)


def installed(name: str) -> str | None:
    """Return the version of a distribution; None if it is not installed."""
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None

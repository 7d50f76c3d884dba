"""Check the versions of Python, of the stages and their dependencies, and of optional packages."""

from __future__ import annotations

import json
import os
import platform
import re
import shlex
import sys
from collections.abc import Iterable, Iterator
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import unquote, urlparse

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from mt.doctor.driver import NEWEST, driver
from mt.doctor.findings import Finding, fault, fine, note
from mt.workspace import PLUGINS, Stage, Workspace

OPTIONAL = {
    "rich": "shows progress bars",
    "scikit-learn": "brings the digits",
    "matplotlib": "draws curves and tensors",
    "torch": "is measured against, and checks results in tests",
}
"""Optional packages, and their purpose."""


def check_python(workspace: Workspace) -> Iterator[Finding]:
    """Check that every stage supports this version of Python."""
    text = f"{platform.python_version()} ({sys.executable})"
    promised = [_numbers(python) for stage in workspace.stages.values() for python in stage.pythons]
    oldest, newest = (f"{major}.{minor}" for major, minor in (min(promised), max(promised)))
    fix = f"make an environment with Python {oldest} to {newest}"
    if sys.version_info[:2] < min(promised):
        yield fault("Python", f"{text} is older than {oldest}", fix)
    elif sys.version_info[:2] > max(promised):
        yield note("Python", f"{text} is newer than {newest}, the last tested version", fix)
    else:
        yield fine("Python", text)


def _numbers(version: str) -> tuple[int, int]:
    major, minor = version.split(".")
    return int(major), int(minor)


# --- Stages ---------------------------------------------------------------------------------------


def check_stages(workspace: Workspace) -> Iterator[Finding]:
    """Check that each stage is installed from this checkout, with its dependencies."""
    for stage in workspace.stages.values():
        version = installed(stage.name)
        if version is None:
            yield note(stage.name, "is not installed", install(source(stage) + _toolkit(stage)))
            continue
        found = [*_unmet(workspace, stage), *_outdated(stage, version), *_elsewhere(stage)]
        yield from found
        if not found:
            place = _editable(stage)
            yield fine(stage.name, f"{version}, editable from {place}" if place else version)


def _toolkit(stage: Stage) -> str:
    """Return the extra with the compiler for the GPU here, if a stage has such extras."""
    found = driver()
    extra = found.extra if found else f"cu{NEWEST}"
    return f"[{extra}]" if extra in stage.extras else ""


def _unmet(workspace: Workspace, stage: Stage) -> Iterator[Finding]:
    """Check the dependencies of a stage."""
    for needed in stage.dependencies:
        if needed.marker is not None and not needed.marker.evaluate():
            continue
        version = installed(needed.name)
        other = workspace.stages.get(canonicalize_name(needed.name))
        fix = install(*(map(source, (other, stage)) if other else [str(needed)]))
        if version is None:
            yield fault(stage.name, f"needs {needed}, which is not installed", fix)
        elif not needed.specifier.contains(version, prereleases=True):
            text = f"needs {needed}; {needed.name} {version} is installed"
            yield fault(stage.name, text, fix)


def _outdated(stage: Stage, version: str) -> Iterator[Finding]:
    """Check that the metadata of an editable installation matches the source."""
    place = _editable(stage)
    if place != stage.folder:
        return
    code = (stage.source / "__init__.py").read_text(encoding="utf-8")
    match = re.search(r'^__version__ = "(.*)"$', code, re.MULTILINE)
    if match and match[1] != version:
        text = f"was installed as {version}, but is now {match[1]}"
        yield fault(stage.name, text, install(source(stage)))
    entries = metadata.distribution(stage.name).entry_points.select(group=PLUGINS)
    for name in sorted({entry.name for entry in entries}.symmetric_difference(stage.plugins)):
        change = "has the new backend" if name in stage.plugins else "no longer has the backend"
        text = f"{change} {name!r}, unlike its installed metadata"
        yield fault(stage.name, text, install(source(stage)))


def _elsewhere(stage: Stage) -> Iterator[Finding]:
    """Check that a stage is not imported from another checkout, or from PYTHONPATH."""
    spec = find_spec(stage.import_name)
    imported = Path(spec.origin).resolve().parent if spec and spec.origin else stage.source
    if imported == stage.source:
        return
    place = _editable(stage)
    shadows = [
        entry
        for entry in os.environ.get("PYTHONPATH", "").split(os.pathsep)
        if entry and imported.is_relative_to(Path(entry).resolve())
    ]
    if shadows:
        text = f"is imported from {imported}, because PYTHONPATH contains {shadows[0]}"
        yield note(stage.name, text, "unset PYTHONPATH")
    elif place is not None and place != stage.folder:
        text = f"is installed from another checkout, {place}"
        yield note(stage.name, text, install(source(stage)))


def _editable(stage: Stage) -> Path | None:
    """Return the folder of an editable installation; None for others."""
    text = metadata.distribution(stage.name).read_text("direct_url.json")
    found = json.loads(text) if text else {}
    if not found.get("dir_info", {}).get("editable"):
        return None
    return Path(unquote(urlparse(found["url"]).path)).resolve()


def source(stage: Stage) -> str:
    """Return the argument that installs a stage from this checkout in editable mode."""
    return f"-e {stage.folder.relative_to(stage.folder.parents[1])}"


# --- Libraries ------------------------------------------------------------------------------------


def check_libraries(workspace: Workspace) -> Iterator[Finding]:
    """Check the third-party dependencies of the stages, and optional packages."""
    stages = workspace.stages.values()
    needed = {
        requirement.name: None
        for stage in stages
        for requirement in stage.dependencies
        if requirement.name not in workspace.stages
    }
    for name in needed:
        version = installed(name)
        if version is not None:  # a missing one is reported with the stage that needs it
            yield fine(name, version)
    extras = [r for stage in stages for extra in stage.extras.values() for r in extra]
    for name, use in OPTIONAL.items():
        yield _optional(name, use, [r for r in extras if canonicalize_name(r.name) == name])


def _optional(name: str, use: str, wanted: Iterable[Requirement]) -> Finding:
    """Check an optional package, whose version extras may restrict."""
    version = installed(name)
    wanted = list(wanted)
    fix = install(*map(str, wanted[:1])) if wanted else install(name)
    if version is None:
        return note(name, f"is not installed; it {use}", fix)
    for requirement in wanted:
        if not requirement.specifier.contains(version, prereleases=True):
            return fault(name, f"{version} is installed, but {requirement} is needed", fix)
    return fine(name, version)


def installed(name: str) -> str | None:
    """Return the version of a distribution; None if it is not installed."""
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def repair(workspace: Workspace, name: str) -> str:
    """Return the command that fixes a distribution that is installed and does not work.

    If Numba settings are set, they are the more likely cause.
    """
    stage = workspace.stages.get(canonicalize_name(name))
    stages = workspace.upstream(stage) if stage else []
    needed = {name} | {requirement.name for s in stages for requirement in s.dependencies}
    given = [variable for variable in os.environ if variable.startswith("NUMBA_")]
    if "numba" in needed and given:
        return f"unset {' '.join(given)}"
    return install(source(stage)) if stage else install("--force-reinstall", name)


def install(*what: str) -> str:
    """Return the command that installs something into this environment.

    Args:
        what: requirements, options, or `-e` and a folder.
    """
    words = [
        f"-e {shlex.quote(word.removeprefix('-e '))}"
        if word.startswith("-e ")
        else shlex.quote(word)
        for word in what
    ]
    if find_spec("pip") is None:
        return f"uv pip install --python {shlex.quote(sys.executable)} {' '.join(words)}"
    return f"pip install {' '.join(words)}"

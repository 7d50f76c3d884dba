"""What a release depends on: versions, changelogs, tags, and the ranges between packages."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from mt.programs import output
from mt.workspace import Stage, Workspace, WorkspaceError

UNRELEASED = "Unreleased"
"""The heading of the changes since the last release."""

VERSION = re.compile(r'^__version__ = "(.*)"$', re.MULTILINE)
HEADING = re.compile(r"^## (.*)$", re.MULTILINE)


class ReleaseError(WorkspaceError):
    """A package cannot be released; the message says why, and what to do."""


def parsed(text: str) -> Version:
    """Parse a version, which must be written in its normal form.

    Raises:
        ReleaseError: It is not a version, or not in its normal form, such as `1.0-rc1`.
    """
    try:
        version = Version(text)
    except InvalidVersion as error:
        raise ReleaseError(f"{text!r} is not a version such as 0.2.0 or 0.2.0rc1") from error
    if str(version) != text:
        raise ReleaseError(f"{text!r} is not in the normal form: write {version}")
    return version


def version_of(stage: Stage) -> Version:
    """Return the version in the source of a stage."""
    file = stage.source / "__init__.py"
    match = VERSION.search(file.read_text(encoding="utf-8"))
    if match is None:
        raise ReleaseError(f'{file} has no line `__version__ = "..."`')
    return parsed(match[1])


def tag(stage: Stage, version: Version) -> str:
    """Return the tag of a release."""
    return f"{stage.name}-v{version}"


def sections(stage: Stage) -> dict[str, str]:
    """Return the sections of the changelog, by heading."""
    parts = HEADING.split((stage.folder / "CHANGELOG.md").read_text(encoding="utf-8"))
    return dict(zip(parts[1::2], map(str.strip, parts[2::2]), strict=True))


def released(stage: Stage) -> Version | None:
    """Return the version of the last release, from the tags; None if there is none."""
    prefix = f"{stage.name}-v"
    names = output(["git", "tag", "--list", f"{prefix}[0-9]*"], stage.folder).split()
    return max((Version(name.removeprefix(prefix)) for name in names), default=None)


def requirements(stage: Stage) -> list[Requirement]:
    """Return the requirements of a stage and of its extras."""
    return [*stage.dependencies, *(r for extra in stage.extras.values() for r in extra)]


def _excludes(requires: Iterable[Requirement], stage: Stage, version: Version | None) -> list[str]:
    """Return the requirements on a stage that a version, or its absence, does not fulfil."""
    return [
        str(each)
        for each in requires
        if canonicalize_name(each.name) == stage.name
        and (version is None or not each.specifier.contains(version, prereleases=True))
    ]


def excluding(workspace: Workspace, stage: Stage, version: Version) -> Iterator[str]:
    """Yield a message for each range of another package that excludes a version of a stage."""
    for other in workspace.stages.values():
        for each in _excludes(requirements(other), stage, version):
            yield (
                f"{other.name} needs {each}, which excludes {version}: change the range in "
                f"packages/{other.name}/pyproject.toml, and describe it in its changelog"
            )


def pending(workspace: Workspace) -> Iterator[tuple[Stage, str]]:
    """Yield the stages to release, in order, with the reason."""
    stages = workspace.stages.values()
    last = {stage.name: released(stage) for stage in stages}
    for stage in stages:
        tagged, version = last[stage.name], version_of(stage)
        if tagged is None:
            reason = "was never released"
        elif version > tagged:
            reason = f"has version {version}, which is not tagged"
        elif sections(stage).get(UNRELEASED):
            reason = f"has changed since {tag(stage, tagged)}"
        else:
            continue
        requires = requirements(stage)
        unmet = [
            each for needed in stages for each in _excludes(requires, needed, last[needed.name])
        ]
        yield stage, f"{reason}, after {', '.join(unmet)}" if unmet else reason

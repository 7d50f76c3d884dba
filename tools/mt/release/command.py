"""`mt release`: prepare the release of one package, or check, build and prove it.

mt release mt-fast              prepare a release: set its version, and date its changelog
mt release mt-fast 0.2.0        the same, with this version
mt release --order              list the packages with changes since their last releases, in order
mt release --check mt-fast-v0.2.0
                                check, build and prove what this tag releases, as CI does
    --find-links FOLDER         take published packages from a folder of wheels, for a dry run

It writes files, and says which git commands to run; it never commits, tags, pushes or publishes.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from packaging.version import Version

from mt.arguments import parser_of
from mt.errors import reported
from mt.release import state
from mt.release.proving import build_twice, prove
from mt.release.state import ReleaseError
from mt.workspace import ROOT, Stage, Workspace

NEXT = """Check and commit the release; tag it when CI has passed on the main branch:

    hatch run mt release --check {tag}
    git commit -m "{stage.short}: release {version}" packages/{stage.name}
    git tag -a {tag} -m "{stage.name} {version}"
    git push origin {tag}"""


def main(arguments: Sequence[str], root: Path = ROOT) -> int:
    """Prepare or check a release, or list what is to be released.

    Args:
        arguments: The arguments of the command.
        root: The folder of the workspace.
    """
    parser = parser_of("mt release", __doc__)
    parser.add_argument("package", nargs="?", help="prepare a release of this package")
    parser.add_argument("version", nargs="?", help="its version; by default the next")
    parser.add_argument("--order", action="store_true", help="list what is to be released")
    parser.add_argument("--check", metavar="TAG", help="check, build and prove what a tag releases")
    parser.add_argument("--index-url", help="the index of published packages, instead of PyPI")
    parser.add_argument("--find-links", type=Path, help="a folder with published wheels")
    out = root / "build" / "release"
    parser.add_argument("--out", type=Path, default=out, help="the folder to build into, emptied")
    options = parser.parse_args(arguments)
    if [bool(options.package), options.order, bool(options.check)].count(True) != 1:
        parser.error("give a package, --order or --check TAG")
    with reported("release"):
        workspace = Workspace.read(root)
        if options.order:
            for stage, reason in state.pending(workspace):
                print(f"{stage.name:14}{reason}")
        elif options.check:
            sources = [f"--index-url={options.index_url}"] if options.index_url else []
            if options.find_links:
                sources.append(f"--find-links={options.find_links.resolve()}")
            check(workspace, options.check, options.out.resolve(), sources)
        else:
            stage = workspace[options.package]
            prepare(workspace, stage, options.version and state.parsed(options.version))
    return 0


# --- Prepare --------------------------------------------------------------------------------------


def prepare(workspace: Workspace, stage: Stage, version: Version | None = None) -> None:
    """Set the version of a stage, date its changelog, and print what to do next.

    Args:
        workspace: All stages.
        stage: The stage to release.
        version: The new version; by default that of the source, or the next patch version if this
            has been released.

    Raises:
        ReleaseError: The stage cannot be released; then nothing has been written.
    """
    last = state.released(stage)
    version = version or next_version(last, state.version_of(stage))
    changes = state.sections(stage).get(state.UNRELEASED)
    problems = list(state.excluding(workspace, stage, version))
    if not changes:
        problems.append(
            f"packages/{stage.name}/CHANGELOG.md has no entry below `## {state.UNRELEASED}`: "
            "describe there what has changed"
        )
    if last is not None and version <= last:
        problems.append(f"{version} is not newer than {last}, the last release: choose a version")
    _raise(f"{stage.name} {version}", problems)

    print(f"{stage.name} {version}, changes since {last or 'the beginning'}:\n\n{changes}\n")
    _replace(stage.source / "__init__.py", state.VERSION, f'__version__ = "{version}"')
    dated = f"## {version} ({datetime.now(UTC).date()})"
    heading = re.compile(rf"^## {state.UNRELEASED}$", re.MULTILINE)
    _replace(stage.folder / "CHANGELOG.md", heading, dated)
    tag = state.tag(stage, version)
    print(NEXT.format(stage=stage, version=version, tag=tag))
    if others := [
        f"{each.name:14}{why}" for each, why in state.pending(workspace) if each != stage
    ]:
        print("\nTo release as well, dependencies first:\n")
        print("\n".join(others))


def next_version(last: Version | None, current: Version) -> Version:
    """Return the version to release: that of the source, or the next if this has been released."""
    if last is None or current > last:
        return current
    return Version(f"{last.major}.{last.minor}.{last.micro + 1}")


def _replace(file: Path, pattern: re.Pattern[str], text: str) -> None:
    file.write_text(pattern.sub(text, file.read_text(encoding="utf-8"), count=1), encoding="utf-8")


# --- Check ----------------------------------------------------------------------------------------


def check(workspace: Workspace, tag: str, folder: Path, sources: Sequence[str]) -> None:
    """Check, build and prove what a tag releases.

    Args:
        workspace: All stages.
        tag: The tag, such as `mt-fast-v0.2.0`, which need not exist yet.
        folder: Where to write the distributions.
        sources: The options of `uv pip install` that select the index.

    Raises:
        ReleaseError: The stage cannot be released.
    """
    stage = agreeing(workspace, tag)
    print(f"{tag} agrees with the version, the changelog and the ranges of other packages")
    for name, digest in build_twice(stage, folder).items():
        print(f"{digest}  {name}, in both of two builds", flush=True)
    prove(workspace, stage, folder, sources)
    print(f"{tag} can be published from {folder}")


def agreeing(workspace: Workspace, tag: str) -> Stage:
    """Return the stage that a tag releases.

    Raises:
        ReleaseError: The tag does not agree with the source.
    """
    name, separator, text = tag.rpartition("-v")
    if not separator or name not in workspace.stages:
        known = ", ".join(workspace.stages)
        raise ReleaseError(f"{tag!r} is not a tag such as mt-fast-v0.2.0; the packages are {known}")
    stage, version = workspace[name], state.parsed(text)
    problems = list(state.excluding(workspace, stage, version))
    if (current := state.version_of(stage)) != version:
        problems.append(
            f"packages/{name}/src/{stage.import_name}/__init__.py has version {current}: "
            f"tag {state.tag(stage, current)}, or run `hatch run mt release {name} {version}` first"
        )
    dated = re.compile(rf"{re.escape(text)} \(\d{{4}}-\d\d-\d\d\)")
    headings = [heading for heading, entries in state.sections(stage).items() if entries]
    if not any(map(dated.fullmatch, headings)):
        problems.append(
            f"packages/{name}/CHANGELOG.md has no section `## {version} (date)` with entries: run "
            f"`hatch run mt release {name} {version}` before tagging"
        )
    _raise(tag, problems)
    return stage


def _raise(what: str, problems: Sequence[str]) -> None:
    """Raise the problems of a release, if there are any."""
    if problems:
        listed = "".join(f"\n- {problem}" for problem in problems)
        raise ReleaseError(f"{what} cannot be released:{listed}")

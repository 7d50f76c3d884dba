"""Check the folders of compiled kernels: location, size and permissions."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import tempfile
from collections.abc import Generator, Iterator
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from mt.doctor.findings import Finding, fault, fine, note

if TYPE_CHECKING:
    from mt_fast.extending import Folder

KERNEL = re.compile(r".+-[0-9a-f]{16}(\.py|-[0-9a-f]{16}\.nbc)")
"""The name of a file of mt-fast."""

LARGE = 2**30
"""The size of the cache above which a note is printed, in bytes."""

OUTDATED = 2**28
"""The size of kernels older than the source, which are hardly usable, that causes a note."""

FREE = 2**27
"""The minimum of free disk space, in bytes."""


def check_cache() -> Iterator[Finding]:
    """Check the folder of each installed package."""
    loops, cubins = _place("mt_fast.cache.kernels"), _place("mt_cuda.cubins.cache")
    if loops is not None:
        folder = yield from _usable(loops, "cache")
        if folder is not None:
            yield _contents(folder)
    if cubins is not None:
        folder = yield from _usable(cubins, "cubins")
        if folder is not None:
            yield fine("cubins", _filled(folder, list(folder.glob("*.cubin"))))


def _place(module: str) -> Folder | None:
    """Return the folder of a module, if it can be imported and has one."""
    try:
        place: Folder = import_module(module).FOLDER
        place.path()
    except Exception:  # noqa: BLE001 - the import check has reported it
        return None
    return place


def _usable(place: Folder, subject: str) -> Generator[Finding, None, Path | None]:
    """Check a folder, and return it if kernels can be stored there."""
    folder = place.path()
    variable, spare = place.variable, Path(tempfile.gettempdir()) / place.name
    given = os.environ.get(variable, "")
    if folder is None:
        why = f"{variable}=off" if given else "this user has no home directory"
        fix = f"unset {variable}" if given else f"export {variable}={spare}"
        yield note(subject, f"{why}: every process compiles again", fix)
        return None
    problem = _problem(folder)
    if problem:
        fix = f"export {variable}={spare}"
        if given:
            usual = _default(place.name)
            fix = f"unset {variable}" if usual and not _problem(usual) else fix
        yield fault(subject, f"{folder} is not writable ({problem})", fix)
        return None
    others = _others(folder)
    if others:
        own = "others" in others
        fix = f"chmod go-w {shlex.quote(str(folder))}" if own else f"export {variable}={spare}"
        yield fault(subject, f"{folder} is not used: {others}", fix)
        return None
    if not folder.is_absolute():
        text = f"{variable}={given} is a different folder for each working directory"
        yield note(subject, text, f"export {variable}={folder.resolve()}")
    return folder


def _contents(folder: Path) -> Finding:
    """Check the content of the folder."""
    there = folder.iterdir() if folder.is_dir() else iter(())
    files = [file for file in there if KERNEL.fullmatch(file.name)]
    kernels = [file.stat() for file in files]
    size = sum(kernel.st_size for kernel in kernels)
    changed = _last_change()
    outdated = sum(kernel.st_size for kernel in kernels if kernel.st_mtime < changed)
    text = _filled(folder, files)
    clear = f"find {shlex.quote(str(folder))} -maxdepth 1 -name '*.nbc' -delete"
    if outdated > OUTDATED:
        share = f"{outdated / 2**20:,.0f} MiB are older than the source of mt-fast"
        return note("cache", f"{text}, of which {share}", clear)
    if size > LARGE:
        return note("cache", f"{text}; after deletion, kernels in use are compiled again", clear)
    free = shutil.disk_usage(_existing(folder)).free
    if free < FREE:
        text = f"{text}; the disk has only {free / 2**20:,.0f} MiB left, and kernels are not stored"
        return note(
            "cache", text, "free some space, or export MT_FAST_CACHE=FOLDER on another disk"
        )
    return fine("cache", text)


def _filled(folder: Path, files: list[Path]) -> str:
    """Return the number and size of the files in a folder, as text."""
    size = sum(file.stat().st_size for file in files)
    return f"{folder}: {len(files):,} files, {size / 2**20:,.0f} MiB"


def _problem(folder: Path) -> str:
    """Return why a folder, which may not exist yet, is not writable; empty if it is."""
    try:
        with tempfile.TemporaryFile(dir=_existing(folder)):
            return ""
    except OSError as error:
        return error.strerror or str(error)


def _others(folder: Path) -> str | None:
    """Return why a folder is not trusted, if other users may have written to it."""
    from mt_fast.cache.private import why_not

    return why_not(folder.stat()) if folder.is_dir() else None


def _existing(folder: Path) -> Path:
    """Return the folder, or its nearest parent that exists."""
    return next(place for place in (folder, *folder.absolute().parents) if place.exists())


def _default(name: str) -> Path | None:
    """Return the default folder of this name."""
    from mt_fast.cache.folder import among_caches

    return among_caches(name)


def _last_change() -> float:
    """Return the time of the last change of mt-fast's source, on which all kernels depend."""
    spec = find_spec("mt_fast")
    folders = spec.submodule_search_locations if spec else None
    files = [file for folder in folders or () for file in Path(folder).rglob("*.py")]
    return max((file.stat().st_mtime for file in files), default=0.0)

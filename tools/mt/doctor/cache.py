"""The folders in which compiled kernels are kept: where, how large, whether they can be used."""

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
"""The name of a file of mt-fast's."""

LARGE = 2**30
"""Of how many bytes the kernels may be before somebody should look at them."""

OUTDATED = 2**28
"""Of how many bytes those may be that are older than the source, and so hardly of use."""

FREE = 2**27
"""How many bytes should be free on the disk."""


def check_cache() -> Iterator[Finding]:
    """Look at the folder of each package that is installed."""
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
    """Return what a module says of its folder, if it can be imported and there is such a folder."""
    try:
        place: Folder = import_module(module).FOLDER
        place.path()
    except Exception:  # noqa: BLE001 - whatever it is was said of the import
        return None
    return place


def _usable(place: Folder, subject: str) -> Generator[Finding, None, Path | None]:
    """Look at where a folder is, and return it if kernels can be kept there."""
    folder = place.path()
    variable, spare = place.variable, Path(tempfile.gettempdir()) / place.name
    given = os.environ.get(variable, "")
    if folder is None:
        why = f"{variable}=off" if given else "this user has no home"
        cure = f"unset {variable}" if given else f"export {variable}={spare}"
        yield note(subject, f"{why}: every process compiles anew", cure)
        return None
    problem = _problem(folder)
    if problem:
        cure = f"export {variable}={spare}"
        if given:
            usual = _default(place.name)
            cure = f"unset {variable}" if usual and not _problem(usual) else cure
        yield fault(subject, f"{folder} cannot be written to ({problem})", cure)
        return None
    others = _others(folder)
    if others:
        own = "others" in others
        cure = f"chmod go-w {shlex.quote(str(folder))}" if own else f"export {variable}={spare}"
        yield fault(subject, f"{folder} is not used, for {others}", cure)
        return None
    if not folder.is_absolute():
        text = f"{variable}={given} is another folder for each working directory"
        yield note(subject, text, f"export {variable}={folder.resolve()}")
    return folder


def _contents(folder: Path) -> Finding:
    """Look at what the folder holds."""
    there = folder.iterdir() if folder.is_dir() else iter(())
    files = [file for file in there if KERNEL.fullmatch(file.name)]
    kernels = [file.stat() for file in files]
    size = sum(kernel.st_size for kernel in kernels)
    changed = _last_change()
    outdated = sum(kernel.st_size for kernel in kernels if kernel.st_mtime < changed)
    text = _filled(folder, files)
    clear = f"find {shlex.quote(str(folder))} -maxdepth 1 -name '*.nbc' -delete"
    if outdated > OUTDATED:
        share = f"{outdated / 2**20:,.0f} MiB are from before mt-fast was changed"
        return note("cache", f"{text}, of which {share}", clear)
    if size > LARGE:
        return note("cache", f"{text}; what is still used would be compiled again", clear)
    free = shutil.disk_usage(_existing(folder)).free
    if free < FREE:
        text = f"{text}; the disk has {free / 2**20:,.0f} MiB left, and kernels are not kept"
        return note(
            "cache", text, "free some space, or export MT_FAST_CACHE=FOLDER on another disk"
        )
    return fine("cache", text)


def _filled(folder: Path, files: list[Path]) -> str:
    """Say how full a folder is with some files."""
    size = sum(file.stat().st_size for file in files)
    return f"{folder}: {len(files):,} files, {size / 2**20:,.0f} MiB"


def _problem(folder: Path) -> str:
    """Return why files cannot be written to a folder, which need not exist yet; or nothing."""
    try:
        with tempfile.TemporaryFile(dir=_existing(folder)):
            return ""
    except OSError as error:
        return error.strerror or str(error)


def _others(folder: Path) -> str | None:
    """Return why a folder is not read from, if other users may have written to it."""
    from mt_fast.cache.private import why_not

    return why_not(folder.stat()) if folder.is_dir() else None


def _existing(folder: Path) -> Path:
    """Return the folder, or the nearest above it that exists, which it would be made in."""
    return next(place for place in (folder, *folder.absolute().parents) if place.exists())


def _default(name: str) -> Path | None:
    """Return the folder of this name that is used if nobody chooses another."""
    from mt_fast.cache.folder import among_caches

    return among_caches(name)


def _last_change() -> float:
    """Return when the source of mt-fast has last changed; its kernels depend on all of it."""
    spec = find_spec("mt_fast")
    folders = spec.submodule_search_locations if spec else None
    files = [file for folder in folders or () for file in Path(folder).rglob("*.py")]
    return max((file.stat().st_mtime for file in files), default=0.0)

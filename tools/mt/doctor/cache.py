"""The folder in which mt-fast keeps compiled kernels: where, how large, whether it can be used."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import tempfile
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

from mt.doctor.findings import Finding, fault, fine, note

VARIABLE = "MT_FAST_CACHE"

KERNEL = re.compile(r".+-[0-9a-f]{16}(\.py|-[0-9a-f]{16}\.nbc)")
"""The name of a file of the cache."""

LARGE = 2**30
"""Of how many bytes the kernels may be before somebody should look at them."""

OUTDATED = 2**28
"""Of how many bytes those may be that are older than the source, and so hardly of use."""

FREE = 2**27
"""How many bytes should be free on the disk."""


def check_cache() -> Iterator[Finding]:
    """Look at the folder."""
    try:
        from mt_fast import cache_folder

        folder = cache_folder()
    except Exception:  # noqa: BLE001 - whatever it is was said of the import
        return
    given = os.environ.get(VARIABLE, "")
    if folder is None:
        why = f"{VARIABLE}=off" if given else "this user has no home"
        cure = f"unset {VARIABLE}" if given else f"export {VARIABLE}={_spare()}"
        yield note("cache", f"{why}: every process compiles anew", cure)
        return
    problem = _problem(folder)
    if problem:
        cure = f"export {VARIABLE}={_spare()}"
        if given:
            usual = _default()
            cure = f"unset {VARIABLE}" if usual and not _problem(usual) else cure
        yield fault("cache", f"{folder} cannot be written to ({problem})", cure)
        return
    others = _others(folder)
    if others:
        own = "others" in others
        cure = f"chmod go-w {shlex.quote(str(folder))}" if own else f"export {VARIABLE}={_spare()}"
        yield fault("cache", f"{folder} is not used, for {others}", cure)
        return
    if not folder.is_absolute():
        text = f"{VARIABLE}={given} is another folder for each working directory"
        yield note("cache", text, f"export {VARIABLE}={folder.resolve()}")
    yield _contents(folder)


def _contents(folder: Path) -> Finding:
    """Look at what the folder holds."""
    there = folder.iterdir() if folder.is_dir() else iter(())
    kernels = [file.stat() for file in there if KERNEL.fullmatch(file.name)]
    size = sum(kernel.st_size for kernel in kernels)
    changed = _last_change()
    outdated = sum(kernel.st_size for kernel in kernels if kernel.st_mtime < changed)
    text = f"{folder}: {len(kernels):,} files, {size / 2**20:,.0f} MiB"
    clear = f"find {shlex.quote(str(folder))} -maxdepth 1 -name '*.nbc' -delete"
    if outdated > OUTDATED:
        share = f"{outdated / 2**20:,.0f} MiB are from before mt-fast was changed"
        return note("cache", f"{text}, of which {share}", clear)
    if size > LARGE:
        return note("cache", f"{text}; what is still used would be compiled again", clear)
    free = shutil.disk_usage(_existing(folder)).free
    if free < FREE:
        text = f"{text}; the disk has {free / 2**20:,.0f} MiB left, and kernels are not kept"
        return note("cache", text, f"free some space, or export {VARIABLE}=FOLDER on another disk")
    return fine("cache", text)


def _problem(folder: Path) -> str:
    """Return why files cannot be written to a folder, which need not exist yet; or nothing."""
    try:
        with tempfile.TemporaryFile(dir=_existing(folder)):
            return ""
    except OSError as error:
        return error.strerror or str(error)


def _others(folder: Path) -> str | None:
    """Return why a folder is not read from, if other users may have written to it."""
    from mt_fast.compilation.private import why_not

    return why_not(folder.stat()) if folder.is_dir() else None


def _existing(folder: Path) -> Path:
    """Return the folder, or the nearest above it that exists, which it would be made in."""
    return next(place for place in (folder, *folder.absolute().parents) if place.exists())


def _default() -> Path | None:
    """Return the folder that is used if nobody chooses one."""
    from mt_fast.compilation.folder import among_caches

    return among_caches("mt-fast")


def _spare() -> Path:
    return Path(tempfile.gettempdir()) / "mt-fast"


def _last_change() -> float:
    """Return when the source of mt-fast has last changed; its kernels depend on all of it."""
    spec = find_spec("mt_fast")
    folders = spec.submodule_search_locations if spec else None
    files = [file for folder in folders or () for file in Path(folder).rglob("*.py")]
    return max((file.stat().st_mtime for file in files), default=0.0)

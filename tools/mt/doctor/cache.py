"""Check the folders of compiled kernels: location, size and permissions."""

from __future__ import annotations

import os
import shlex
import tempfile
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

from mt.doctor.findings import Finding, fault, fine, note

FOLDERS = {"MT_FAST_CACHE": "mt_fast.cache.kernels", "MT_CUDA_CACHE": "mt_cuda.cubins.cache"}
"""The modules that define a cache folder, by the environment variable that overrides it."""

KERNELS = (".nbc", ".cubin")
"""The suffixes of compiled kernels."""

LARGE = 2**30
"""The size of a folder above which a note is printed, in bytes."""


def check_caches() -> Iterator[Finding]:
    """Check the folder of each installed package."""
    for variable, module in FOLDERS.items():
        try:
            folder: Path | None = import_module(module).FOLDER.path()
        except Exception:  # noqa: BLE001 - the check of backends has reported it
            continue
        yield _finding(variable, folder)


def _finding(variable: str, folder: Path | None) -> Finding:
    """Check a folder."""
    subject = variable.removeprefix("MT_").removesuffix("_CACHE").lower() + " cache"
    given = os.environ.get(variable)
    fix = f"unset {variable}" if given else f"export {variable}=FOLDER"
    if folder is None:
        why = f"{variable}={given}" if given else "this user has no home directory"
        return note(subject, f"{why}: every process compiles again", fix)
    problem = _problem(folder)
    if problem:
        return fault(subject, f"{folder} is not used: {problem}", fix)
    files = [file for file in folder.glob("*") if file.suffix in KERNELS]
    size = sum(file.stat().st_size for file in files)
    text = f"{folder}: {len(files):,} files, {size / 2**20:,.0f} MiB"
    if size > LARGE:
        names = " -o ".join(f"-name '*{suffix}'" for suffix in KERNELS)
        clear = f"find {shlex.quote(str(folder))} -maxdepth 1 \\( {names} \\) -delete"
        return note(subject, f"{text}; after deletion, kernels in use are compiled again", clear)
    return fine(subject, text)


def _problem(folder: Path) -> str | None:
    """Return why kernels cannot be stored in a folder, which may not exist yet."""
    from mt_fast.cache.private import why_not

    existing = next(place for place in (folder, *folder.absolute().parents) if place.exists())
    try:
        with tempfile.TemporaryFile(dir=existing):
            return why_not(folder.stat()) if folder.is_dir() else None
    except OSError as error:
        return f"it is not writable ({error.strerror})"

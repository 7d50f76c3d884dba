"""Write files atomically.

Data are written to a temporary file next to the target, which replaces the target in one step once
it is complete and on the disk. A killed process leaves its temporary file behind. The next write
into the folder removes it: the file is recognized by its name, and is stale if its lock, which ends
with the process, is free. Where there are no such locks, as on Windows, it stays.
"""

from __future__ import annotations

import contextlib
import csv
import errno
import io
import os
import re
import stat
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from mt_nn.errors import files_needed

if sys.platform != "win32" and sys.platform != "wasi":
    import fcntl

_NAME = re.compile(r"\.mt-nn-unfinished-[0-9a-f]{16}")
"""The names of temporary files: short, however long the name of the target is, and unpredictable,
so that no file or link can be planted under one."""


def write_atomically(path: str | os.PathLike[str], content: bytes) -> None:
    """Write a file atomically; see `replacing`.

    Raises:
        FileError: the file cannot be written; an existing file is unchanged.
    """
    with replacing(path) as file:
        file.write(content)


def write_table(path: Path, rows: Sequence[Sequence[Any]]) -> None:
    """Write rows as comma-separated values.

    Raises:
        FileError: the file cannot be written.
    """
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    write_atomically(path, text.getvalue().encode())


@contextlib.contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[io.BufferedRandom]:
    """Yield a temporary file that replaces another when the block ends without an error.

    Links are followed and kept. Permissions of an existing file are preserved, and its owner and
    group if possible; new files have the default permissions. Other hard links to an existing file
    keep its content.

    Raises:
        FileError: the file cannot be written; an existing file is unchanged.
    """
    advice = (
        ". The folder must exist and be writable, with free space on the disk; an existing file is "
        "unchanged."
    )
    with files_needed(f"could not write {os.fspath(path)}", advice):
        target, existing = _target(path)
        _sweep(target.parent)
        file, temporary = _create(target.parent, existing)
        with file:
            try:
                yield file
                file.flush()
                if existing is not None:
                    _copy_permissions(temporary, existing)
                os.fsync(file.fileno())
                if sys.platform == "win32":
                    file.close()  # open files cannot be renamed
                temporary.replace(target)
            except BaseException:
                with contextlib.suppress(OSError):  # fails, too, if the disk is full
                    file.close()
                with contextlib.suppress(OSError):  # another process may have removed it
                    temporary.unlink()
                raise
        _sync(target.parent)


def _target(path: str | os.PathLike[str]) -> tuple[Path, os.stat_result | None]:
    """Return the path to write to, with links resolved, and the status of an existing file.

    Raises:
        OSError: the path cannot be replaced.
    """
    if "\0" in str(path):
        raise OSError(errno.EINVAL, "the name contains a zero byte")
    target = Path(os.path.realpath(path))
    try:
        existing = target.stat()
    except FileNotFoundError:
        return target, None
    if stat.S_ISDIR(existing.st_mode):
        raise IsADirectoryError(errno.EISDIR, "it is a folder: pass the name of a file")
    if not stat.S_ISREG(existing.st_mode):
        raise OSError(
            errno.EINVAL, "it is a device, a pipe or a socket: open it, and pass the file"
        )
    os.close(os.open(target, os.O_WRONLY))  # files that are not writable must not be replaced
    return target, existing


def _create(folder: Path, existing: os.stat_result | None) -> tuple[io.BufferedRandom, Path]:
    """Create a temporary file; return it and its path.

    Raises:
        OSError: the file cannot be created.
    """
    permissions = 0o666 if existing is None else existing.st_mode & 0o777
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    while True:
        path = folder / f".mt-nn-unfinished-{os.urandom(8).hex()}"
        new = os.fdopen(os.open(path, flags, permissions), "w+b")
        if sys.platform != "win32" and sys.platform != "wasi":
            with contextlib.suppress(OSError):  # not every file system has locks
                fcntl.flock(new, fcntl.LOCK_EX)
        if os.fstat(new.fileno()).st_nlink:
            return new, path
        new.close()  # before it was locked, another process removed it as stale


def _sweep(folder: Path) -> None:
    """Remove stale temporary files: regular files of this user that no process has locked."""
    if sys.platform == "win32" or sys.platform == "wasi":
        return
    for path in _unfinished(folder):
        with (
            contextlib.suppress(OSError),
            os.fdopen(os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK), "r+b") as file,
        ):
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            status = os.fstat(file.fileno())
            is_owned = stat.S_ISREG(status.st_mode) and status.st_uid == os.geteuid()
            if is_owned and status.st_nlink == 1:
                path.unlink()


def _unfinished(folder: Path) -> list[Path]:
    """Return the paths of temporary files in a folder."""
    try:
        with os.scandir(folder) as entries:
            return [folder / entry.name for entry in entries if _NAME.fullmatch(entry.name)]
    except OSError:  # a folder may be writable but not readable
        return []


def _copy_permissions(path: Path, existing: os.stat_result) -> None:
    """Set the owner, the group and the permissions of a file to those of an existing one."""
    if sys.platform != "win32":
        with contextlib.suppress(OSError):  # only root can change the owner
            os.chown(path, existing.st_uid, existing.st_gid)
    path.chmod(stat.S_IMODE(existing.st_mode))


def _sync(folder: Path) -> None:
    """Flush the entries of a folder to disk, so that renaming survives a power failure."""
    with contextlib.suppress(OSError):  # not possible on Windows, nor necessary
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def make_folder(folder: Path) -> None:
    """Create a folder and its parents, unless it exists.

    Raises:
        FileError: the folder cannot be created.
    """
    with files_needed(f"could not create the folder {folder}", ": choose another."):
        folder.mkdir(parents=True, exist_ok=True)

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

if sys.platform != "win32":
    import fcntl

_NAME = re.compile(r"\.mt-nn-unfinished-[0-9a-f]{16}")
"""The names of temporary files: short, however long the name of the target is, and unpredictable,
so that no file or link can be planted under one."""


def write_atomically(path: str | os.PathLike[str], content: bytes) -> None:
    """Write a file so that it is there whole or not at all; see `replacing`.

    Raises:
        FileError: it could not be written; an earlier file of that name is untouched.
    """
    with replacing(path) as file:
        file.write(content)


def write_table(path: Path, rows: Sequence[Sequence[Any]]) -> None:
    """Write rows as comma-separated values, which spreadsheets read.

    Raises:
        FileError: the file cannot be written.
    """
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    write_atomically(path, text.getvalue().encode())


@contextlib.contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[io.BufferedRandom]:
    """Yield a file that takes the place of another when the block ends, and not if it fails.

    A link is followed, and stays. Permissions of an earlier file are kept, and its owner and group
    where they can be; a new one has the process's usual. Other hard links to an earlier file keep
    its content.

    Raises:
        FileError: it could not be written; an earlier file of that name is untouched.
    """
    advice = (
        ". The folder must exist and be writable, with room on the disk; an earlier file of that "
        "name is untouched."
    )
    with files_needed(f"could not write {os.fspath(path)}", advice):
        target, earlier = _target(path)
        _sweep(target.parent)
        file, beside = _begun(target.parent, earlier)
        with file:
            try:
                yield file
                file.flush()
                if earlier is not None:
                    _make_alike(beside, earlier)
                os.fsync(file.fileno())
                if sys.platform == "win32":
                    file.close()  # or it could not be moved
                beside.replace(target)
            except BaseException:
                with contextlib.suppress(OSError):  # where the disk is full, this fails as well
                    file.close()
                with contextlib.suppress(OSError):  # somebody may have taken it away already
                    beside.unlink()
                raise
        _sync(target.parent)


def _target(path: str | os.PathLike[str]) -> tuple[Path, os.stat_result | None]:
    """Return where a file is to be, links followed, and what is known of an earlier one.

    Raises:
        OSError: there is something that is not to be replaced.
    """
    if "\0" in str(path):
        raise OSError(errno.EINVAL, "no name has a zero byte")
    target = Path(os.path.realpath(path))
    try:
        earlier = target.stat()
    except FileNotFoundError:
        return target, None
    if stat.S_ISDIR(earlier.st_mode):
        raise IsADirectoryError(errno.EISDIR, "it is a folder: give the name of a file")
    if not stat.S_ISREG(earlier.st_mode):
        raise OSError(errno.EINVAL, "it is a device, a pipe or a socket: open it, and pass that")
    os.close(os.open(target, os.O_WRONLY))  # who may not write to a file may not replace it either
    return target, earlier


def _begun(folder: Path, earlier: os.stat_result | None) -> tuple[io.BufferedRandom, Path]:
    """Return a new file to write, and its path.

    Raises:
        OSError: it cannot be made.
    """
    permissions = 0o666 if earlier is None else earlier.st_mode & 0o777
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    while True:
        path = folder / f".mt-nn-unfinished-{os.urandom(8).hex()}"
        new = os.fdopen(os.open(path, flags, permissions), "w+b")
        if sys.platform != "win32":
            with contextlib.suppress(OSError):  # not every file system has locks
                fcntl.flock(new, fcntl.LOCK_EX)
        if os.fstat(new.fileno()).st_nlink:
            return new, path
        new.close()  # before it was locked, somebody took it for one left behind


def _sweep(folder: Path) -> None:
    """Remove stale temporary files: regular files of this user that no process has locked."""
    if sys.platform == "win32":
        return
    for path in _unfinished(folder):
        with (
            contextlib.suppress(OSError),
            os.fdopen(os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK), "r+b") as file,
        ):
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            status = os.fstat(file.fileno())
            is_own = stat.S_ISREG(status.st_mode) and status.st_uid == os.geteuid()
            if is_own and status.st_nlink == 1:
                path.unlink()


def _unfinished(folder: Path) -> list[Path]:
    """Return what has the name of a file that is being written."""
    try:
        with os.scandir(folder) as entries:
            return [folder / entry.name for entry in entries if _NAME.fullmatch(entry.name)]
    except OSError:  # one may write into a folder without being able to list it
        return []


def _make_alike(path: Path, earlier: os.stat_result) -> None:
    """Give a file the owner, the group and the permissions of an earlier one."""
    if sys.platform != "win32":
        with contextlib.suppress(OSError):  # only root may give a file away
            os.chown(path, earlier.st_uid, earlier.st_gid)
    path.chmod(stat.S_IMODE(earlier.st_mode))


def _sync(folder: Path) -> None:
    """Let the new name of a file survive a power cut, where a system can be asked to."""
    with contextlib.suppress(OSError):  # Windows opens no folders, and needs none opened
        number = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(number)
        finally:
            os.close(number)


def make_folder(folder: Path) -> None:
    """Make a folder, and those above it, unless it exists.

    Raises:
        FileError: it cannot be made.
    """
    with files_needed(f"could not make the folder {folder}", ": choose another."):
        folder.mkdir(parents=True, exist_ok=True)

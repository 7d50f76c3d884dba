"""Files that are there whole or not at all."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from pathlib import Path

from mt_nn.errors import FileError

HIDDEN = 16
"""How many hexadecimal digits end the name of a file that is being written."""


def write_atomically(path: str | os.PathLike[str], content: bytes) -> None:
    """Write a file so that it is there whole or not at all.

    It keeps the permissions of an earlier file of that name; a new one has the process's usual.

    Raises:
        FileError: it could not be written; an earlier file of that name is untouched.
    """
    target = Path(path)
    try:
        if target.is_dir():
            raise IsADirectoryError(errno.EISDIR, "it is a folder: give the name of a file")
        beside = target.with_name(f".{target.name}.{os.urandom(HIDDEN // 2).hex()}")
        try:
            with beside.open("xb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            if target.exists():
                beside.chmod(stat.S_IMODE(target.stat().st_mode))
            beside.replace(target)
        except BaseException:
            beside.unlink(missing_ok=True)
            raise
    except OSError as error:
        raise FileError(
            f"could not write {target} ({error.strerror or error}). The folder must exist and be "
            "writable, with room on the disk; an earlier file of that name is untouched."
        ) from error
    _sync_folder(target.parent)


def _sync_folder(folder: Path) -> None:
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
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(
            f"could not make the folder {folder} ({error.strerror or error}): choose another."
        ) from error


def read_whole(path: str | os.PathLike[str], most: int = -1) -> bytes:
    """Return the content of a file, or its first `most` bytes.

    Raises:
        FileError: it cannot be read.
    """
    source = Path(path)
    try:
        with source.open("rb") as file:
            return file.read(most)
    except OSError as error:
        raise FileError(f"could not read {source} ({error.strerror or error}).") from error

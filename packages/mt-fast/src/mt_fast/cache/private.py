"""Read and write files that no other user can have written.

Machine code that is loaded from disk can do anything. So no file is read that another user could
have created or changed: the folder and the file must belong to this user or to root, and no other
user may have write permission. Systems without file owners in this sense, such as Windows, separate
the folders of users themselves.
"""

from __future__ import annotations

import contextlib
import functools
import os
import stat
import tempfile
import warnings
from pathlib import Path

_HAS_OWNERS = hasattr(os, "geteuid")


def read(path: Path, variable: str) -> bytes | None:
    """Return the content of a file; None if there is none that is trusted.

    A warning about a file that is not trusted names the environment variable that chooses another
    folder.
    """
    with contextlib.suppress(OSError):
        if not _HAS_OWNERS:
            return path.read_bytes()
        folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
        try:
            if not _is_trusted(path.parent, os.fstat(folder), variable):
                return None
            flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK
            with os.fdopen(os.open(path.name, flags, dir_fd=folder), "rb") as file:
                status = os.fstat(file.fileno())
                if stat.S_ISREG(status.st_mode) and _is_trusted(path, status, variable):
                    return file.read()
        finally:
            os.close(folder)
    return None


def write(path: Path, data: bytes, variable: str) -> None:
    """Write a file atomically: other processes see all of it or nothing.

    Nothing is written to a folder that `read` would not trust.

    Raises:
        OSError: it cannot be written.
    """
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    if _HAS_OWNERS and not _is_trusted(path.parent, path.parent.stat(), variable):
        return
    with tempfile.NamedTemporaryFile(dir=path.parent, prefix=path.name, delete=False) as file:
        try:
            file.write(data)
            file.close()
            Path(file.name).replace(path)
        except OSError:
            Path(file.name).unlink(missing_ok=True)
            raise


def why_not(status: os.stat_result) -> str | None:
    """Return why a file or folder with this status is not trusted; None if it is."""
    if not _HAS_OWNERS:
        return None
    if status.st_uid not in (os.geteuid(), 0):
        return f"it belongs to the user {status.st_uid}"
    if status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        return "others may write to it"
    return None


def _is_trusted(path: Path, status: os.stat_result, variable: str) -> bool:
    reason = why_not(status)
    if reason is not None:
        _warn(path, reason, variable)
    return reason is None


@functools.cache
def _warn(path: Path, reason: str, variable: str) -> None:
    """Warn once per path."""
    warnings.warn(
        f"{path} is not used, and kernels are compiled instead: {reason}, and code loaded from "
        f"there could do anything. Remove it, run `chmod go-w {path}` if it is yours, or set "
        f"{variable} to a folder of your own.",
        RuntimeWarning,
        stacklevel=2,
    )

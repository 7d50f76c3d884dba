"""Read files inside a tar archive, without unpacking it to the disk.

Only plain files that were asked for are read, by the last part of their names; where an archive
says that they should lie makes no difference, and links are not followed.
"""

from __future__ import annotations

import tarfile
from collections.abc import Collection
from pathlib import PurePosixPath
from typing import Any

from mt_nn.errors import FileError
from mt_nn.files.reading import PathLike, Source, opened


def read_members(path: PathLike, names: Collection[str]) -> dict[str, bytes]:
    """Return what files in an archive hold, by name.

    Args:
        path: where the archive is, plain or packed with gzip.
        names: the last parts of the files' names; of several with one name the first is read.

    Raises:
        FileError: the archive is missing, damaged, holds sparse files, lacks a file, or takes more
            than `mt_nn.limits` allow.
    """
    found: dict[str, bytes] = {}
    with opened(path) as source:
        try:
            _find(path, source, names, found)
        except (tarfile.TarError, EOFError, RecursionError, ValueError) as error:
            raise FileError(
                f"{path} is damaged, or no tar archive ({error}). Fetch the file again."
            ) from error
    missing = [name for name in names if name not in found]
    if missing:
        raise FileError(f"{path} holds no {', '.join(missing)}.")
    return found


def _find(path: PathLike, source: Source, names: Collection[str], found: dict[str, bytes]) -> None:
    """Read the files until all are found; `source` counts what Python's reader takes."""
    stream: Any = source
    with tarfile.open(fileobj=stream, mode="r|") as archive:
        for member in archive:
            source.allowance.take("members")
            if member.issparse():
                raise FileError(
                    f"{path} holds a sparse file, whose holes might be of any size: pack it again "
                    "without --sparse."
                )
            name = PurePosixPath(member.name).name
            content = archive.extractfile(member) if member.isreg() and name in names else None
            if content is not None and name not in found:
                found[name] = content.read()
                if len(found) == len(names):
                    return

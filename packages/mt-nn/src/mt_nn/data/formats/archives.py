"""Read files inside a tar archive without extracting it to disk.

Only regular files with requested base names are read; their folders are ignored, and links are not
followed.
"""

from __future__ import annotations

import tarfile
from collections.abc import Collection
from pathlib import PurePosixPath
from typing import Any

from mt_nn.errors import FileError
from mt_nn.files.reading import PathLike, Source, opened


def read_members(path: PathLike, names: Collection[str]) -> dict[str, bytes]:
    """Return the contents of files in an archive, by name.

    Args:
        path: the path of the archive, which may be compressed with gzip.
        names: the base names of the files; if a name occurs several times, the first is read.

    Raises:
        FileError: the archive is missing or damaged, lacks a file, or exceeds `mt_nn.limits`.
    """
    found: dict[str, bytes] = {}
    with opened(path) as source:
        try:
            _find(source, names, found)
        except (tarfile.TarError, EOFError, RecursionError, ValueError) as error:
            raise FileError(
                f"{path} is damaged or not a tar archive ({error}). Download the file again."
            ) from error
    missing = [name for name in names if name not in found]
    if missing:
        raise FileError(f"{path} does not contain {', '.join(missing)}.")
    return found


def _find(source: Source, names: Collection[str], found: dict[str, bytes]) -> None:
    """Read files until all are found; `source` counts the bytes that `tarfile` reads."""
    stream: Any = source
    with tarfile.open(fileobj=stream, mode="r|") as archive:
        for member in archive:
            source.allowance.take("members")
            source.allowance.check("data", member.size)  # sparse files may expand to any size
            name = PurePosixPath(member.name).name
            content = archive.extractfile(member) if member.isreg() and name in names else None
            if content is not None and name not in found:
                found[name] = content.read()
                if len(found) == len(names):
                    return

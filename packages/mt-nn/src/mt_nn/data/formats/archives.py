"""Reading files inside a tar archive, without unpacking it to the disk.

Only files that were asked for are read, by the last part of their names; where an archive says that
they should lie makes no difference, and links are not followed.
"""

from __future__ import annotations

from collections.abc import Collection
from pathlib import PurePosixPath
from typing import BinaryIO, cast

from mt_nn.data.formats.reading import LIMIT, PathLike, opened, read_up_to, too_large
from mt_nn.errors import FileError
from mt_nn.settings import integer


def read_members(
    path: PathLike, names: Collection[str], limit: int = LIMIT
) -> dict[str, bytearray]:
    """Return what files in an archive hold, by name.

    Args:
        path: where the archive is, plain or packed with gzip.
        names: the last parts of the files' names; of several with one name the first is read.
        limit: how many bytes the archive may hold, unpacked.

    Raises:
        FileError: the archive is missing, damaged, or holds more than `limit` bytes; or it lacks a
            file.
        SettingError: the limit is no positive integer.
    """
    import tarfile  # which takes long

    integer("limit", limit, 1)
    found: dict[str, bytearray] = {}
    with opened(path) as stream:
        source = cast(BinaryIO, _Limited(path, stream, limit))
        try:
            with tarfile.open(fileobj=source, mode="r|") as archive:
                while len(found) < len(names) and (member := archive.next()) is not None:
                    name = PurePosixPath(member.name).name
                    content = archive.extractfile(member) if member.isreg() else None
                    if content is not None and name in names and name not in found:
                        found[name] = read_up_to(cast(BinaryIO, content), member.size)
        except (tarfile.TarError, ValueError, RecursionError) as error:
            raise FileError(
                f"{path} is damaged, or no tar archive ({error}). Fetch the file again."
            ) from error
    missing = [name for name in names if name not in found]
    if missing:
        raise FileError(f"{path} holds no {', '.join(missing)}.")
    return found


class _Limited:
    """A stream that ends with an error where an archive holds more than it may."""

    def __init__(self, path: PathLike, stream: BinaryIO, limit: int) -> None:
        self._path, self._stream, self._limit, self._left = path, stream, limit, limit

    def read(self, count: int) -> bytes:
        content = self._stream.read(count)
        self._left -= len(content)
        if self._left < 0:
            raise too_large(self._path, self._limit)
        return content

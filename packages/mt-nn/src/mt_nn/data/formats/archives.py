"""Reading files inside a tar archive, without unpacking it to the disk.

Only plain files that were asked for are read, by the last part of their names; where an archive
says that they should lie makes no difference, and links are not followed. Python's `tarfile` takes
the headers apart. The walk over them is here: that of `tarfile` reads whatever an extended header
announces, and fills the holes of sparse files, which may be of any size, with zeros.
"""

from __future__ import annotations

import re
import tarfile
from collections.abc import Collection, Iterator
from pathlib import PurePosixPath

from mt_nn.errors import FileError
from mt_nn.files.reading import PathLike, Source, opened

BLOCK = tarfile.BLOCKSIZE
EXTENDED = (tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.SOLARIS_XHDTYPE)
LONG = (tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK)
EMPTY = {
    tarfile.LNKTYPE,
    tarfile.SYMTYPE,
    tarfile.CHRTYPE,
    tarfile.BLKTYPE,
    tarfile.DIRTYPE,
    tarfile.FIFOTYPE,
}
"""What has no content, whatever size its header says."""

LONGEST_EXTENSION = 2**16
"""The most bytes that what extends a header, with a long name for example, may have."""


def read_members(path: PathLike, names: Collection[str]) -> dict[str, bytearray]:
    """Return what files in an archive hold, by name.

    Args:
        path: where the archive is, plain or packed with gzip.
        names: the last parts of the files' names; of several with one name the first is read.

    Raises:
        FileError: the archive is missing, damaged, holds sparse files, lacks a file, or takes more
            than `mt_nn.limits` allow.
    """
    found: dict[str, bytearray] = {}
    with opened(path) as source:
        for name, size in _plain_files(path, source):
            if name in names and name not in found:
                found[name] = source.read(size)
                if len(found[name]) < size:
                    raise _damaged(path, f"it ends within {name}")
                if len(found) == len(names):
                    break
    missing = [name for name in names if name not in found]
    if missing:
        raise FileError(f"{path} holds no {', '.join(missing)}.")
    return found


def _plain_files(path: PathLike, source: Source) -> Iterator[tuple[str, int]]:
    """Yield name and size of each plain file, whose content is then the next in the source."""
    long_name = None
    for header in _headers(path, source):
        if header.type == tarfile.GNUTYPE_SPARSE:
            raise _sparse(path)
        if header.type in EXTENDED or header.type in LONG:
            if header.size > LONGEST_EXTENSION:
                raise _damaged(path, f"{header.size} bytes extend a header")
            text = bytes(source.read(header.size))
            if header.type in EXTENDED and b"GNU.sparse." in text:
                raise _sparse(path)
            long_name = _long_name(header.type, text) or long_name
        else:
            if header.isreg():
                yield PurePosixPath(long_name or header.name).name, header.size
            long_name = None


def _headers(path: PathLike, source: Source) -> Iterator[tarfile.TarInfo]:
    """Yield the header of each member; what is then left of its content is passed over."""
    block = source.read(BLOCK)
    if not block:
        raise _damaged(path, "it is empty")
    while any(block):  # zeros, or nothing more, mark the end
        source.allowance.take("members")
        try:
            header = tarfile.TarInfo.frombuf(bytes(block), "utf-8", "surrogateescape")
        except (tarfile.HeaderError, ValueError) as error:
            raise _damaged(path, error) from error
        if header.size < 0:
            raise _damaged(path, f"a file of {header.size} bytes")
        blocks = 0 if header.type in EMPTY else -(-header.size // BLOCK)
        end = source.position + BLOCK * blocks
        yield header
        source.skip(end - source.position)
        block = source.read(BLOCK)


def _long_name(kind: bytes, text: bytes) -> str | None:
    """Return the name that extends the next header, if this is what the text does."""
    if kind == tarfile.GNUTYPE_LONGNAME:
        return text.rstrip(b"\0").decode("utf-8", "surrogateescape")
    if kind == tarfile.XHDTYPE and (given := re.search(rb"^\d+ path=(.*)$", text, re.MULTILINE)):
        return given[1].decode("utf-8", "surrogateescape")
    return None


def _damaged(path: PathLike, reason: object) -> FileError:
    return FileError(f"{path} is damaged, or no tar archive ({reason}). Fetch the file again.")


def _sparse(path: PathLike) -> FileError:
    return FileError(
        f"{path} holds a sparse file, whose holes might be of any size: pack it again without "
        "--sparse."
    )

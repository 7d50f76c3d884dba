"""Reading untrusted files, which may be compressed with gzip.

Memory is allocated only for bytes that were read, and these are counted; see `limits.py`. Only
regular files are read: a pipe might block forever, and a device might never end.
"""

from __future__ import annotations

import errno
import gzip
import io
import os
import stat
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO, cast

from mt_nn.errors import FileError, files_needed
from mt_nn.files.limits import Allowance

CHUNK = 2**18
GZIP = b"\x1f\x8b"

PathLike = str | os.PathLike[str]


def open_plain(path: PathLike) -> io.FileIO:
    """Open a regular file for reading bytes, without blocking.

    Raises:
        OSError: the file cannot be read, or is a folder, a device, a pipe or a socket.
    """
    flags = os.O_RDONLY
    for name in ("O_BINARY", "O_NONBLOCK", "O_NOCTTY"):  # of Windows, and of other systems
        flags |= getattr(os, name, 0)
    try:
        file = io.FileIO(os.open(path, flags))
    except ValueError as error:  # a zero byte in the name
        raise OSError(errno.EINVAL, str(error)) from error
    mode = os.fstat(file.fileno()).st_mode
    if not stat.S_ISREG(mode):
        file.close()
        kind = "a folder" if stat.S_ISDIR(mode) else "a device or a pipe"
        raise OSError(errno.EINVAL, f"it is {kind}, not a file")
    return file


@contextmanager
def opened(path: PathLike, limit: str = "data") -> Iterator[Source]:
    """Open a data file, and decompress it if it is compressed with gzip.

    Args:
        path: the path of the file.
        limit: the name of the limit for its bytes.

    Raises:
        FileError: the file cannot be read; or, inside the block, compressed data are damaged, or a
            limit is exceeded.
    """
    with files_needed(f"could not read {os.fspath(path)}"), open_plain(path) as plain:
        # Compressed bytes are limited, too, because any number may decompress to nothing.
        Allowance(path).check(limit, os.fstat(plain.fileno()).st_size)
        file = io.BufferedReader(plain, CHUNK)
        compressed = file.peek(len(GZIP))[: len(GZIP)] == GZIP
        stream = cast(BinaryIO, gzip.GzipFile(fileobj=file)) if compressed else file
        try:
            yield Source(stream, path, limit)
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise FileError(
                f"{path} is damaged: it cannot be decompressed ({error}). Download the file again."
            ) from error


class Source:
    """The decompressed content of a file, which is counted when it is read.

    Args:
        stream: the content.
        name: the name of the file, for messages.
        limit: the name of the limit for its bytes.

    Attributes:
        name: the name of the file.
        allowance: the counts and limits.
    """

    def __init__(self, stream: BinaryIO, name: PathLike, limit: str) -> None:
        self.name, self.allowance = str(name), Allowance(name)
        self._stream, self._limit = stream, limit

    def read(self, count: int) -> bytearray:
        """Return the next `count` bytes, or fewer at the end of the file."""
        content = bytearray()
        while len(content) < count:
            chunk = self._stream.read(min(CHUNK, count - len(content)))
            if not chunk:
                break
            self.allowance.take(self._limit, len(chunk))
            content += chunk
        return content

    def read_all(self) -> bytearray:
        """Return all remaining bytes."""
        return self.read(sys.maxsize)


def read_bytes(path: PathLike, limit: str = "data") -> bytearray:
    """Return the decompressed content of a file.

    Raises:
        FileError: the file cannot be read, is damaged, or exceeds the limit.
    """
    with opened(path, limit) as source:
        return source.read_all()

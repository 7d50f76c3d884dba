"""Reading files, plain or packed with gzip, without trusting what they say of themselves.

Nothing is allocated for what has only been announced: memory grows with what comes, and what comes
is counted, see `limits.py`. Only plain files are read. A pipe might make a reader wait for ever,
and a device might never end.
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
from typing import Any, BinaryIO, cast

from mt_nn.errors import FileError, MissingFileError
from mt_nn.files.limits import Allowance

CHUNK = 2**18
GZIP = b"\x1f\x8b"
PLACE = 100
"""How many bytes of memory an object's place in a dictionary or in lists takes, at most."""

PathLike = str | os.PathLike[str]


def open_plain(path: PathLike) -> io.FileIO:
    """Open a plain file for reading bytes, never waiting.

    Raises:
        OSError: it cannot be read, or is a folder, a device, a pipe or a socket.
    """
    flags = os.O_RDONLY
    if sys.platform == "win32":
        flags |= os.O_BINARY
    else:
        flags |= os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
    try:
        file = io.FileIO(os.open(path, flags))
    except ValueError as error:  # a zero byte in the name
        raise OSError(errno.EINVAL, str(error)) from error
    mode = os.fstat(file.fileno()).st_mode
    if not stat.S_ISREG(mode):
        file.close()
        kind = "a folder" if stat.S_ISDIR(mode) else "a device or a pipe"
        raise OSError(errno.EINVAL, f"it is {kind}, and no file")
    return file


def unreadable(path: PathLike, error: OSError) -> FileError:
    """Return the error for a file that cannot be opened or read."""
    kind = MissingFileError if isinstance(error, FileNotFoundError) else FileError
    return kind(f"could not read {os.fspath(path)} ({error.strerror or error}).")


@contextmanager
def opened(path: PathLike, limit: str = "data") -> Iterator[Source]:
    """Open a file of data, which is unpacked if it is gzip.

    Args:
        path: where it is.
        limit: which limit its bytes count by.

    Raises:
        FileError: it cannot be read, or, inside the block, what was packed is damaged, or a limit
            is reached.
    """
    try:
        with open_plain(path) as plain:
            # What is packed is counted, too: nothing at all may be packed in endless ways.
            file = io.BufferedReader(_Counted(plain, Allowance(path), limit), CHUNK)
            packed = file.peek(len(GZIP))[: len(GZIP)] == GZIP
            stream = cast(BinaryIO, gzip.GzipFile(fileobj=file)) if packed else file
            yield Source(stream, Allowance(path), limit)
    except FileError:
        raise
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise FileError(
            f"{path} is damaged: it cannot be decompressed ({error}). Fetch the file again."
        ) from error
    except OSError as error:
        raise unreadable(path, error) from error


class _Counted(io.RawIOBase):
    """The bytes of a file as they are, counted."""

    def __init__(self, file: io.RawIOBase, allowance: Allowance, limit: str) -> None:
        self._file, self._allowance, self._limit = file, allowance, limit

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        count = cast(int, self._file.readinto(buffer))
        self._allowance.take(self._limit, count or 0)
        return count


class Source:
    """What a file of data holds, read in order and counted.

    Attributes:
        allowance: what may still be taken of it.
        position: how many bytes have been read.
    """

    def __init__(self, stream: BinaryIO, allowance: Allowance, limit: str) -> None:
        self.allowance, self.position = allowance, 0
        self._stream, self._limit = stream, limit

    def read(self, count: int) -> bytearray:
        """Return the next `count` bytes, or fewer where the file ends."""
        content = bytearray()
        while len(content) < count:
            chunk = self._stream.read(min(CHUNK, count - len(content)))
            if not chunk:
                break
            self._count(len(chunk))
            content += chunk
        return content

    def read_all(self) -> bytearray:
        """Return all bytes that are left."""
        return self.read(sys.maxsize)

    def skip(self, count: int) -> None:
        """Pass over the next `count` bytes, or fewer where the file ends."""
        end = self.position + count
        while self.position < end and self.read(min(CHUNK, end - self.position)):
            pass

    def lines(self) -> Iterator[tuple[int, bytes]]:
        """Yield the lines as they are, each with its number from 1."""
        number, longest = 0, self.allowance.most("line")
        while line := self._stream.readline(longest + 1):
            number += 1
            self._count(len(line))
            self.allowance.check("line", len(line))
            yield number, line

    def _count(self, count: int) -> None:
        self.position += count
        self.allowance.take(self._limit, count)

    def keep(self, *objects: object) -> None:
        """Count objects that stay in memory, with their places in lists and dictionaries."""
        self.allowance.take("memory", sum(sys.getsizeof(each) + PLACE for each in objects))


def read_bytes(path: PathLike, limit: str = "data") -> bytearray:
    """Return what a file holds, unpacked.

    Raises:
        FileError: it cannot be read, is damaged, or holds more than the limit allows.
    """
    with opened(path, limit) as source:
        return source.read_all()

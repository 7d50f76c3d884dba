"""Reading files of data, plain or packed with gzip, without trusting what they say of themselves.

A packed file may unpack to a thousand times its size, and a header may claim any. So nothing is
allocated for what has only been announced, and every reader takes a limit in bytes, which counts
what is unpacked. (What is made of it in memory may be larger: words and sentences are objects of
Python, some fifty bytes and more.)
"""

from __future__ import annotations

import gzip
import os
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, cast

from mt_nn.errors import FileError
from mt_nn.settings import integer

LIMIT = 2**30
"""How many bytes a reader takes by default."""

LONGEST_LINE = 2**20
CHUNK = 2**18
GZIP = b"\x1f\x8b"

PathLike = str | os.PathLike[str]


@contextmanager
def opened(path: PathLike) -> Iterator[BinaryIO]:
    """Open a file for reading bytes, unpacked if it is gzip.

    Raises:
        FileError: it cannot be read, or, inside the block, what was packed is damaged.
    """
    try:
        with Path(path).open("rb") as file:
            packed = file.read(len(GZIP)) == GZIP
            file.seek(0)
            if not packed:
                yield file
            else:
                with gzip.open(file) as unpacked:
                    yield cast(BinaryIO, unpacked)
    except FileError:
        raise
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise FileError(
            f"{path} is damaged: it cannot be decompressed ({error}). Fetch the file again."
        ) from error
    except OSError as error:
        raise FileError(f"could not read {path} ({error.strerror or error}).") from error


def read_up_to(stream: BinaryIO, count: int) -> bytearray:
    """Return the next `count` bytes, or fewer where the file ends; memory grows with what comes."""
    content = bytearray()
    while len(content) < count:
        chunk = stream.read(min(CHUNK, count - len(content)))
        if not chunk:
            break
        content += chunk
    return content


def read_bytes(path: PathLike, limit: int = LIMIT) -> bytearray:
    """Return what a file holds, unpacked.

    Raises:
        FileError: it cannot be read, is damaged, or holds more than `limit` bytes.
        SettingError: the limit is no positive integer.
    """
    integer("limit", limit, 1)
    with opened(path) as stream:
        content = read_up_to(stream, limit + 1)
    if len(content) > limit:
        raise too_large(path, limit)
    return content


def read_text(path: PathLike, limit: int = LIMIT) -> str:
    """Return the text in a file, which is UTF-8; as it is, with its ends of lines.

    With `Vocabulary(sorted(set(text)))` its characters become numbers.

    Args:
        path: where the file is, plain or packed with gzip.
        limit: how many bytes it may hold.

    Raises:
        FileError: it cannot be read, is damaged, no UTF-8, or holds more than `limit` bytes.
        SettingError: the limit is no positive integer.
    """
    content = read_bytes(path, limit)
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise FileError(f"{path}, line {line}: this is no UTF-8 ({error.reason}).") from error


def read_lines(path: PathLike, limit: int = LIMIT) -> Iterator[tuple[int, str]]:
    """Yield the lines of a text in UTF-8, without their ends, each with its number from 1.

    Raises:
        FileError: it cannot be read, is damaged, no UTF-8, or holds more than `limit` bytes, or a
            line is longer than a mebibyte.
        SettingError: the limit is no positive integer.
    """
    integer("limit", limit, 1)
    left, number = limit, 0
    with opened(path) as stream:
        while line := stream.readline(LONGEST_LINE + 1):
            number += 1
            left -= len(line)
            if left < 0:
                raise too_large(path, limit)
            if len(line) > LONGEST_LINE:
                raise FileError(
                    f"{path}, line {number} is longer than {LONGEST_LINE} bytes: this is no text "
                    "in lines."
                )
            yield number, _decoded(path, number, line)


def _decoded(path: PathLike, number: int, line: bytes) -> str:
    try:
        text = line.decode("utf-8-sig" if number == 1 else "utf-8")
    except UnicodeDecodeError as error:
        raise FileError(f"{path}, line {number}: this is no UTF-8 ({error.reason}).") from error
    return text.rstrip("\r\n")


def too_large(path: PathLike, limit: int) -> FileError:
    """Return the error of a file that holds more than a reader may take."""
    return FileError(f"{path} holds more than {limit} bytes. If it should, pass a larger limit.")


def find(folder: Path, name: str) -> Path:
    """Return the path of a file in a folder, or of its packed form, whose name ends in `.gz`.

    Raises:
        FileError: neither is there.
    """
    for candidate in (folder / name, folder / f"{name}.gz"):
        if candidate.exists():
            return candidate
    raise FileError(f"{folder} holds no {name} or {name}.gz.")

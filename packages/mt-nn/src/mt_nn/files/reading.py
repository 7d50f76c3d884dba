"""Reading files."""

from __future__ import annotations

import os
from pathlib import Path

from mt_nn.errors import FileError


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

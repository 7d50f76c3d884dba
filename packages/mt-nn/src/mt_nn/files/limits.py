"""Limits for untrusted files and downloads.

A file may claim any size and decompress to a thousand times its size, and a server may never stop
sending data. Readers therefore count what they read and allocate, and stop at a limit instead of
exhausting memory. The default limits are far above usual sizes; `limits` changes them.
"""

from __future__ import annotations

import contextlib
import dataclasses
import time
from collections import defaultdict
from collections.abc import Iterator
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from mt_nn.errors import FileError
from mt_nn.utils.settings import check, choice, number


def _limit(default: float, unit: str) -> Any:
    """Return the field of a limit."""
    return dataclasses.field(default=default, metadata={"unit": unit})


@dataclass(frozen=True)
class Limits:
    """Upper limits for one file or download.

    Attributes:
        data: bytes of a data file, compressed and decompressed.
        memory: approximate bytes of memory for its content.
        members: files in an archive.
        model: bytes of a file of a model or a checkpoint.
        json: bytes of JSON (vocabularies, headers of models), which takes twenty times as many
            bytes in memory.
        depth: levels of nested values in a file of a model or a checkpoint.
        download: bytes of a download.
        seconds: duration of a download, or of reading a file.
    """

    data: float = _limit(2**30, "bytes of data")
    memory: float = _limit(2**31, "bytes of memory")
    members: float = _limit(1000, "files in an archive")
    model: float = _limit(2**36, "bytes")
    json: float = _limit(2**25, "bytes of JSON")
    depth: float = _limit(100, "levels of nested values")
    download: float = _limit(2**32, "bytes")
    seconds: float = _limit(3600, "seconds")


_UNITS = {field.name: field.metadata["unit"] for field in dataclasses.fields(Limits)}
current_limits = ContextVar("limits", default=Limits())  # noqa: B039 - immutable
"""The current limits."""


@contextlib.contextmanager
def limits(**changes: float) -> Iterator[Limits]:
    """Change the limits for reading files and for downloads inside a `with` block.

        with limits(data=2**33, seconds=float("inf")):
            text = read_text("enwik9")

    Args:
        **changes: new limits, infinity for none: `data` (bytes of a data file, `2**30` by default),
            `memory` (bytes of memory for its content, `2**31`), `members` (files in an archive,
            1000), `model` (bytes of a file of a model, `2**36`), `json` (bytes of JSON, `2**25`),
            `depth` (levels of nested values, 100), `download` (bytes of a download, `2**32`) and
            `seconds` (duration of a download, or of reading a file, 3600).

    Raises:
        SettingError: a limit is unknown, or not a positive number.
    """
    for name, value in changes.items():
        choice("the limit", name, _UNITS)
        check(name, value, number(name, value) > 0, f"a positive number of {_UNITS[name]}")
    token = current_limits.set(dataclasses.replace(current_limits.get(), **changes))
    try:
        yield current_limits.get()
    finally:
        current_limits.reset(token)


class Allowance:
    """Count what is read from a source, and raise an error at a limit.

    Args:
        source: the name of the source, for messages.
        error: the type of the error.

    Attributes:
        source: the name of the source.
        deadline: the value of `time.monotonic()` after which reading is an error.
    """

    def __init__(self, source: object, error: type[FileError] = FileError) -> None:
        self.source, self._error = source, error
        self._limits = current_limits.get()
        self._taken: dict[str, float] = defaultdict(float)
        self.deadline = time.monotonic() + self._limits.seconds

    def take(self, limit: str, count: float = 1) -> None:
        """Add to a count; check the limit and the deadline.

        Raises:
            FileError: (or the chosen type) a limit is exceeded.
        """
        self._taken[limit] += count
        self.check(limit, self._taken[limit])
        if time.monotonic() > self.deadline:
            raise self.exceeded("seconds")

    def check(self, limit: str, count: float) -> None:
        """Check a value against a limit without counting it.

        Raises:
            FileError: (or the chosen type) the limit is exceeded.
        """
        if count > getattr(self._limits, limit):
            raise self.exceeded(limit)

    def exceeded(self, limit: str) -> FileError:
        """Return the error for exceeding a limit."""
        most: float = getattr(self._limits, limit)
        return self._error(
            f"{self.source} exceeds the limit of {most:,} {_UNITS[limit]}. If you trust it, raise "
            f"the limit with mt_nn.limits({limit}=...)."
        )

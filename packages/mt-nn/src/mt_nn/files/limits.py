"""How much is taken of what comes from outside: one table of limits, which every reader counts by.

A file may claim any size and unpack to a thousand times its own, and a server may send for ever. So
whoever reads counts what arrives and what is made of it, and stops where a limit is reached, not
where memory or patience ends. The limits are far above what is usual; `limits` sets others.
"""

from __future__ import annotations

import contextlib
import dataclasses
import sys
import time
from collections import defaultdict
from collections.abc import Iterator
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from mt_nn.errors import FileError, SettingError
from mt_nn.utils.settings import number


def _limit(most: float, unit: str) -> Any:
    """Return the field of a limit."""
    return dataclasses.field(default=most, metadata={"unit": unit})


@dataclass(frozen=True)
class Limits:
    """The most that is taken of one file, or of one answer of a server.

    Attributes:
        data: bytes of a file of data, as it is and unpacked.
        memory: bytes of memory for what is made of it, roughly.
        line: bytes in a line.
        members: files in an archive.
        model: bytes of a file of a model or a training.
        json: bytes of JSON, which takes twenty times as many in memory: the header of a model, a
            vocabulary.
        depth: how deep values are nested, in a file of a model or a training.
        download: bytes of a download.
        seconds: how long it may take.
    """

    data: float = _limit(2**30, "bytes of data")
    memory: float = _limit(2**31, "bytes of memory")
    line: float = _limit(2**20, "bytes in a line")
    members: float = _limit(1000, "files in an archive")
    model: float = _limit(2**36, "bytes")
    json: float = _limit(2**25, "bytes of JSON")
    depth: float = _limit(100, "levels of nested values")
    download: float = _limit(2**32, "bytes")
    seconds: float = _limit(3600, "seconds")


_UNITS = {field.name: field.metadata["unit"] for field in dataclasses.fields(Limits)}
_USUAL = Limits()
_current: ContextVar[Limits] = ContextVar("limits", default=_USUAL)


def current_limits() -> Limits:
    """Return the limits that hold here."""
    return _current.get()


@contextlib.contextmanager
def limits(**changes: float) -> Iterator[Limits]:
    """Set limits for the files that are read, and the downloads that are made, within a block.

        with limits(data=2**33, seconds=float("inf")):
            text = read_text("enwik9")

    Args:
        **changes: new values for attributes of `Limits`; infinity for none.

    Raises:
        SettingError: there is no such limit, or it is no positive number.
    """
    for name, value in changes.items():
        if name not in _UNITS:
            raise SettingError(f"there is no limit {name!r}; there are {', '.join(_UNITS)}.")
        if not number(name, value) > 0:
            raise SettingError(f"{name} is a positive number of {_UNITS[name]}; got {value!r}.")
    token = _current.set(dataclasses.replace(current_limits(), **changes))
    try:
        yield current_limits()
    finally:
        _current.reset(token)


class Allowance:
    """What may still be taken of one source before a limit is reached.

    Args:
        source: what the source is called.
        error: what is raised where a limit is reached.
    """

    def __init__(self, source: object, error: type[FileError] = FileError) -> None:
        self._source, self._error = source, error
        self._limits = current_limits()
        self._taken: dict[str, float] = defaultdict(float)
        self.deadline = time.monotonic() + self._limits.seconds

    def take(self, limit: str, count: float = 1) -> None:
        """Count something, beside what has been taken, and look at the clock.

        Raises:
            FileError: or the error that was chosen: that is more than the limit allows, or it took
                too long.
        """
        self._taken[limit] += count
        self.check(limit, self._taken[limit])
        if time.monotonic() > self.deadline:
            raise self.refusal("seconds")

    def check(self, limit: str, count: float) -> None:
        """Check something by itself.

        Raises:
            FileError: or the error that was chosen: it is more than the limit allows.
        """
        if count > getattr(self._limits, limit):
            raise self.refusal(limit)

    def most(self, limit: str) -> int:
        """Return a limit as a size that something may have."""
        return int(min(getattr(self._limits, limit), sys.maxsize - 1))

    def refusal(self, limit: str) -> FileError:
        """Return the error for what is more than a limit allows."""
        most: float = getattr(self._limits, limit)
        return self._error(
            f"{self._source} is refused: it takes more than {most:,} {_UNITS[limit]}. If that is "
            f"as it should be, allow more of them: with mt_nn.limits({limit}=...)."
        )

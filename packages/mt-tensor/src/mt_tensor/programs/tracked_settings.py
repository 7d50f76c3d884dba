"""Settings of optimizers that report which keys are read while a program is recorded."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from mt_tensor.core.dtypes import Settings

Report = Callable[[Settings, Iterable[Any]], None]

_REPORTS: dict[int, Report] = {}
"""The function to call for watched settings, by their identity."""


class TrackedSettings(Settings):
    """Settings that are watched."""

    __slots__ = ()

    def __iter__(self) -> Iterator[str]:
        """Return the keys; without this method, {**self} would not call `__getitem__`."""
        return dict.__iter__(self)


def _reporting(name: str, takes_key: bool) -> Callable[..., Any]:
    """Return a method of dictionaries that also reports the key that it takes, or all keys."""
    method = getattr(dict, name)

    def called(self: TrackedSettings, *arguments: Any) -> Any:
        _REPORTS[id(self)](self, arguments[:1] if takes_key else dict.keys(self))
        return method(self, *arguments)

    return called


for _name in ("__getitem__", "get", "pop", "setdefault"):
    setattr(TrackedSettings, _name, _reporting(_name, True))
for _name in ("__eq__", "__or__", "__repr__", "__ror__", "copy", "items", "popitem", "values"):
    setattr(TrackedSettings, _name, _reporting(_name, False))


@contextmanager
def tracking(settings: Iterable[Settings], report: Report) -> Iterator[None]:
    """Inside a `with` block, call `report(settings, keys)` whenever keys of settings are read."""
    for each in settings:
        _REPORTS[id(each)] = report
        each.__class__ = TrackedSettings
    try:
        yield
    finally:
        for each in settings:
            each.__class__ = Settings
            del _REPORTS[id(each)]

"""`torch.jit`: decorators that do nothing, since functions run as they are written."""

from __future__ import annotations

from typing import Any, TypeVar

T = TypeVar("T")


def script(obj: T, *_: Any, **__: Any) -> T:
    """Return a function or a module unchanged."""
    return obj


def ignore(drop: Any = False, **_: Any) -> Any:
    """Return a function unchanged, or a decorator that does so."""
    return drop if callable(drop) else script


export = unused = script


def is_scripting() -> bool:
    """Return False."""
    return False


is_tracing = is_scripting

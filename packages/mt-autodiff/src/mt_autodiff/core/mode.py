"""Gradient mode: whether computations are recorded, per thread or asyncio task.

Recording is on by default, as in torch. Use `with no_grad():` for evaluation and parameter updates,
and `with enable_grad():` to switch it on again inside. Each thread starts with recording on; an
asyncio task starts with the mode of its creator, whose own mode it does not change.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from contextlib import ContextDecorator
from contextvars import ContextVar, Token
from typing import Any, Self, TypeVar

F = TypeVar("F", bound=Callable[..., Any])
T = TypeVar("T")

recording: ContextVar[bool] = ContextVar("mt_autodiff_recording", default=True)
"""The mode: `recording.get()` reads it without the cost of a Python call."""


def is_grad_enabled() -> bool:
    """Return whether computations are recorded in this thread or task."""
    return recording.get()


def undo(variable: ContextVar[T], tokens: list[Token[T]]) -> None:
    """Undo the last change of a context variable by this thread or task.

    Several threads and tasks may enter one context manager; each undoes its own changes.

    Args:
        variable: the context variable.
        tokens: the results of `variable.set`, the latest last; the token that is undone is removed.
    """
    for token in reversed(tokens):
        try:
            variable.reset(token)
        except ValueError:  # the token of another thread or task
            continue
        tokens.remove(token)
        return


class Switch(ContextDecorator):
    """Set the mode inside a `with` block or a decorated function."""

    def __init__(self, enabled: bool) -> None:
        self._enabled = enabled
        self._before: list[Token[bool]] = []

    def __enter__(self) -> Self:
        self._before.append(recording.set(self._enabled))
        return self

    def __exit__(self, *_: object) -> None:
        undo(recording, self._before)

    def __call__(self, function: F) -> F:
        """Decorate a function, but not a generator or coroutine."""
        if (
            inspect.isgeneratorfunction(function)
            or inspect.iscoroutinefunction(function)
            or inspect.isasyncgenfunction(function)
        ):
            raise TypeError(
                f"{type(self).__name__} cannot decorate {function.__name__!r}, whose body runs "
                "after the call has returned: use a `with` block inside it."
            )
        return super().__call__(function)

    def _recreate_cm(self) -> Switch:
        """Return a new instance for each call of a decorated function."""
        return Switch(self._enabled)


class set_grad_enabled(Switch):  # noqa: N801 - torch's name
    """Set whether to record, immediately; a `with` block restores the mode at its end."""

    def __init__(self, mode: bool) -> None:
        super().__init__(checked_mode("set_grad_enabled", mode))
        super().__enter__()

    def __enter__(self) -> Self:
        return self  # the mode is already set

    def __call__(self, function: F) -> F:
        """Decorate a function; the mode outside it does not change."""
        self.__exit__()
        return super().__call__(function)


def checked_mode(name: str, mode: Any) -> bool:
    """Return a mode, or raise TypeError if it is not a bool."""
    if not isinstance(mode, bool):
        raise TypeError(f"{name}() takes True or False; {mode!r} was given.")
    return mode


class _Fixed(Switch):
    """A switch to a fixed mode, which is also a decorator without parentheses."""

    mode: bool

    def __new__(cls, function: Callable[..., Any] | None = None) -> Any:
        """Return a switch, or the decorated function if one is given."""
        return super().__new__(cls) if function is None else cls()(function)

    def __init__(self) -> None:
        super().__init__(self.mode)


class no_grad(_Fixed):  # noqa: N801 - torch's name
    """Do not record in this block or function."""

    mode = False


class enable_grad(_Fixed):  # noqa: N801 - torch's name
    """Record in this block or function."""

    mode = True

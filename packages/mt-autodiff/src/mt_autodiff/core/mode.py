"""Whether computations are recorded: a setting of the running thread or asyncio task.

Recording is on unless switched off, as in torch: `with no_grad():` for evaluation and parameter
updates, `with enable_grad():` to switch it on again inside. Each thread begins with recording on;
an asyncio task begins with the setting of its creator, and changes it for itself only.
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
"""The setting: `recording.get()` reads it without the cost of a call in Python."""


def is_grad_enabled() -> bool:
    """Whether computations on variables are recorded in this thread or task."""
    return recording.get()


def undo(variable: ContextVar[T], tokens: list[Token[T]]) -> None:
    """Undo the last setting of a context variable by the running thread or task.

    Threads and tasks may enter one `with` object at the same time; each undoes its own setting.

    Args:
        variable: the context variable.
        tokens: the results of `variable.set`, the latest last; that of the undone setting is
            removed.
    """
    for token in reversed(tokens):
        try:
            variable.reset(token)
        except ValueError:  # of another thread or task
            continue
        tokens.remove(token)
        return


class Switch(ContextDecorator):
    """Switch recording in a `with` block or a decorated function, and back after it."""

    def __init__(self, enabled: bool) -> None:
        self._enabled = enabled
        self._before: list[Token[bool]] = []

    def __enter__(self) -> Self:
        self._before.append(recording.set(self._enabled))
        return self

    def __exit__(self, *_: object) -> None:
        undo(recording, self._before)

    def __call__(self, function: F) -> F:
        """Decorate a function, but not one whose body runs after it has returned."""
        if (
            inspect.isgeneratorfunction(function)
            or inspect.iscoroutinefunction(function)
            or inspect.isasyncgenfunction(function)
        ):
            raise TypeError(
                f"{type(self).__name__} cannot decorate {function.__name__!r}, whose body runs "
                "after the call has returned: write a `with` block inside of it."
            )
        return super().__call__(function)

    def _recreate_cm(self) -> Switch:
        """Return a new instance, which `ContextDecorator` uses for each call, in any thread."""
        return Switch(self._enabled)


class set_grad_enabled(Switch):  # noqa: N801 - torch's name
    """Switch recording on or off: at once, and in a `with` block only until its end."""

    def __init__(self, mode: bool) -> None:
        super().__init__(checked_mode("set_grad_enabled", mode))
        super().__enter__()

    def __enter__(self) -> Self:
        return self  # already switched

    def __call__(self, function: F) -> F:
        """Decorate a function; outside of it nothing is switched."""
        self.__exit__()
        return super().__call__(function)


def checked_mode(name: str, mode: Any) -> bool:
    """Return a mode, or raise TypeError if it is neither True nor False."""
    if not isinstance(mode, bool):
        raise TypeError(f"{name}() takes True or False; {mode!r} was given.")
    return mode


class _Fixed(Switch):
    """A switch to one mode, which also decorates without parentheses."""

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

"""Whether computations are recorded at the moment: a setting of the running thread or task.

Values remember unless they are told not to: this is what tells them. Recording is on unless
switched off, as in torch: `with no_grad():` for evaluation and parameter updates, `with
enable_grad():` to switch it on again inside. Each thread begins with recording on. A task of
asyncio begins as the one that made it, and what it switches no other task notices.
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
"""The mode, for code that cannot afford a call of a function in Python: `recording.get()`."""


def is_grad_enabled() -> bool:
    """Whether computations on variables are recorded in this thread or task."""
    return recording.get()


def undo(variable: ContextVar[T], tokens: list[Token[T]]) -> None:
    """Undo the last setting of a context variable that the running thread or task has made.

    Threads and tasks may enter one `with` object at the same time, and each undoes its own setting.

    Args:
        variable: what was set.
        tokens: what `variable.set` returned, the latest last, of all of them. That of the undone
            setting is removed.
    """
    for token in reversed(tokens):
        try:
            variable.reset(token)
        except ValueError:  # of another thread or task
            continue
        tokens.remove(token)
        return


class _Switch(ContextDecorator):
    """Sets the mode inside a `with` block or a decorated function, and sets it back after."""

    def __init__(self, enabled: bool) -> None:
        self._enabled = enabled
        self._before: list[Token[bool]] = []

    def __enter__(self) -> Self:
        """Switch, and remember what was before."""
        self._before.append(recording.set(self._enabled))
        return self

    def __exit__(self, *_: object) -> None:
        """Switch back."""
        undo(recording, self._before)

    def __call__(self, function: F) -> F:
        """Return `function`, run in this mode.

        Raises:
            TypeError: it is a generator or a coroutine function, whose body runs after it returned.
        """
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

    def _recreate_cm(self) -> _Switch:
        """Return a fresh instance: `ContextDecorator` asks for one at each call, in any thread."""
        return _Switch(self._enabled)


class set_grad_enabled(_Switch):  # noqa: N801 - torch's name
    """Switch recording on or off: at once, and inside a `with` block only for that block.

    Raises:
        TypeError: `mode` is no bool.
    """

    def __init__(self, mode: bool) -> None:
        _require_bool("set_grad_enabled", mode)
        super().__init__(mode)
        super().__enter__()

    def __enter__(self) -> Self:
        """Stay switched: that was done when this was made."""
        return self

    def __call__(self, function: F) -> F:
        """Return `function`, run in this mode; outside of it nothing is switched."""
        self.__exit__()
        return super().__call__(function)


def _require_bool(name: str, mode: Any) -> None:
    if not isinstance(mode, bool):
        raise TypeError(f"{name}() takes True or False; {mode!r} was given.")


class _Fixed(_Switch):
    """A switch to one mode, which also decorates without parentheses."""

    mode: bool

    def __new__(cls, function: Callable[..., Any] | None = None) -> Any:
        """Return a switch, or the decorated function if one is given."""
        return super().__new__(cls) if function is None else cls()(function)

    def __init__(self) -> None:
        super().__init__(self.mode)


class no_grad(_Fixed):  # noqa: N801 - torch's name
    """Do not record inside this block or function."""

    mode = False


class enable_grad(_Fixed):  # noqa: N801 - torch's name
    """Record inside this block or function."""

    mode = True


class inference_mode(_Switch):  # noqa: N801 - torch's name
    """Do not record inside this block or function, as with `no_grad`.

    In torch the results may never be recorded, which saves time there. Here nothing marks them.

    Args:
        mode: False to record instead, as with `enable_grad`. A function that is decorated without
            parentheses may stand here.

    Raises:
        TypeError: `mode` is neither a bool nor a function.
    """

    def __new__(cls, mode: bool | Callable[..., Any] = True) -> Any:
        """Return a switch, or the decorated function if one is given."""
        return cls()(mode) if callable(mode) else super().__new__(cls)

    def __init__(self, mode: bool = True) -> None:
        _require_bool("inference_mode", mode)
        super().__init__(not mode)

"""Whether computations are recorded at the moment, per thread.

Recording is on unless switched off, as in torch: `with no_grad():` for evaluation and parameter
updates, `with enable_grad():` to switch it on again inside.
"""

from __future__ import annotations

import threading
from contextlib import ContextDecorator
from typing import Self


class _Mode(threading.local):
    enabled = True


_mode = _Mode()


def is_grad_enabled() -> bool:
    """Whether computations on variables are recorded in this thread."""
    return _mode.enabled


class set_grad_enabled(ContextDecorator):  # noqa: N801 - torch's name
    """Switch recording on or off inside a `with` block or a decorated function."""

    def __init__(self, enabled: bool) -> None:
        self._enabled = enabled
        self._before: list[bool] = []

    def _recreate_cm(self) -> set_grad_enabled:
        """Return a fresh instance for each call of a decorated function, in whatever thread."""
        return set_grad_enabled(self._enabled)

    def __enter__(self) -> Self:
        """Switch, and remember what was before."""
        self._before.append(_mode.enabled)
        _mode.enabled = self._enabled
        return self

    def __exit__(self, *_: object) -> None:
        """Switch back."""
        _mode.enabled = self._before.pop()


class no_grad(set_grad_enabled):  # noqa: N801 - torch's name
    """Do not record inside this block or function."""

    def __init__(self) -> None:
        super().__init__(False)


class enable_grad(set_grad_enabled):  # noqa: N801 - torch's name
    """Record inside this block or function."""

    def __init__(self) -> None:
        super().__init__(True)

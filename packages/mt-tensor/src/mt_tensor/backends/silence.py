"""Running NumPy without its warnings: overflow and the like follow IEEE 754, silently."""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Callable
from typing import Any

import numpy as np


class _Silence(threading.local):
    """What runs a function without NumPy's warnings, in a tenth of the time of `np.errstate`.

    NumPy keeps the setting in a context variable, so a context in which they are off will do. It
    cannot be entered twice at a time: each thread has its own.
    """

    def __init__(self) -> None:
        context = contextvars.copy_context()
        context.run(np.seterr, all="ignore")
        self.run = context.run


silence = _Silence()
"""The running thread's: `silence.run(function, ...)` raises RuntimeError inside of another run."""


def silently(function: Callable[..., Any], *args: Any, **options: Any) -> Any:
    """Call a function with NumPy's warnings off."""
    try:
        return silence.run(function, *args, **options)
    except RuntimeError:  # it is running already: the function calls this in turn
        with np.errstate(all="ignore"):
            return function(*args, **options)

"""Running NumPy without its warnings: overflow and the like follow IEEE 754, silently.

The contract wants this, and most backends compute with NumPy.
"""

from __future__ import annotations

import contextvars
from collections.abc import Callable
from typing import Any

import numpy as np

_quiet = contextvars.copy_context()
_quiet.run(np.seterr, all="ignore")  # a setting that NumPy keeps in a context variable

run_quietly = _quiet.run
"""`run_quietly(function, ...)` calls a function without NumPy's warnings, at next to no cost.

The context can be entered once at a time. While it is in use, by another thread or because the
function calls this in turn, RuntimeError is raised; `silently` works then, too.
"""


def silently(function: Callable[..., Any], *args: Any, **options: Any) -> Any:
    """Call a function with NumPy's warnings off."""
    try:
        return run_quietly(function, *args, **options)
    except RuntimeError:
        with np.errstate(all="ignore"):
            return function(*args, **options)

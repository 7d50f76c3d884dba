"""NumPy's names for arguments, `axis` and `keepdims`, wherever torch takes them.

Users may call `dim` and `keepdim` so; within this package nobody does.
"""

from __future__ import annotations

import functools
from types import FunctionType
from typing import Any

NUMPY = {"axis": "dim", "keepdims": "keepdim"}
"""What NumPy calls an argument, and what it is called here."""


def with_numpy_names(made: Any) -> Any:
    """Return a function that takes NumPy's names for its arguments, too, if it has such."""
    if not isinstance(made, FunctionType):
        return made
    code = made.__code__
    parameters = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    if "dim" not in parameters and "keepdim" not in parameters:
        return made

    @functools.wraps(made)
    def renaming(*args: Any, **settings: Any) -> Any:
        if settings:
            for other, own in NUMPY.items():
                if other in settings:
                    if own in settings:
                        raise TypeError(
                            f"{made.__name__}() was given {own} twice: {other} is NumPy's name "
                            "for it."
                        )
                    settings[own] = settings.pop(other)
        return made(*args, **settings)

    return renaming

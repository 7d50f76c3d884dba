"""Calls of the sample tables for other libraries: the same code with another library as `mt`.

This runs the rows on torch, which has the same names, or on an object that records calls.
"""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

import mt_tensor as mt


def with_library(call: Callable[..., Any], library: Any) -> Callable[..., Any]:
    """Return a function of the tables that uses `library` as `mt`; return other objects unchanged.

    Args:
        call: a function of a table, or an operation of `mt_tensor`, which is replaced by the
            function of `library` with the same name.
        library: an object with the names of `mt_tensor` as attributes.
    """
    if not isinstance(call, types.FunctionType):
        return call
    module = call.__module__
    if module.startswith("mt_tensor.") and not module.startswith("mt_tensor.testing"):
        name = call.__name__
        owner = library.linalg if getattr(mt.linalg, name, None) is call else library
        return getattr(owner, name)  # type: ignore[no-any-return]
    known = {name: _substituted(call.__globals__[name], library) for name in _names(call)}
    cells = tuple(
        types.CellType(_substituted(cell.cell_contents, library)) for cell in call.__closure__ or ()
    )
    defaults = _substituted(call.__defaults__, library)
    translated = types.FunctionType(call.__code__, known, call.__name__, defaults, cells)
    translated.__kwdefaults__ = call.__kwdefaults__
    return translated


def _names(call: types.FunctionType) -> list[str]:
    return [n for n in (*call.__code__.co_names, "__builtins__") if n in call.__globals__]


def _substituted(value: Any, library: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(_substituted(part, library) for part in value)
    return library if value is mt else with_library(value, library)

"""NumPy's names for two arguments, as torch takes them: `x.sum(axis=0, keepdims=True)`.

They are taken where users call functions and methods, and nowhere within this package, whose
functions know torch's names alone.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from types import FunctionType, ModuleType
from typing import Any

NAMES = {"axis": "dim", "keepdims": "keepdim"}
"""What NumPy calls an argument, and what it is called here."""

REFUSING = {"glu", "norm", "softmin", "split", "unique", "unique_consecutive"}
"""Functions with such arguments for which torch does not take NumPy's names."""

METHODS_REFUSING = REFUSING | {"unflatten"}
"""Methods of the same kind."""


def take_numpy_names(owner: ModuleType | type, names: Iterable[str]) -> None:
    """Let functions of a module, or methods of a class, take NumPy's names, too.

    Args:
        owner: the module or class.
        names: which of its attributes; those that have no such arguments stay as they are.
    """
    for name in names:
        function = getattr(owner, name)
        if isinstance(function, FunctionType):
            code = function.__code__
            parameters = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
            if "dim" in parameters or "keepdim" in parameters:
                setattr(owner, name, _renaming(function))


def _renaming(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def renaming(*args: Any, **settings: Any) -> Any:
        if "axis" in settings or "keepdims" in settings:
            settings = _renamed(function.__name__, settings)
        return function(*args, **settings)

    return renaming


def _renamed(name: str, settings: dict[str, Any]) -> dict[str, Any]:
    """Return arguments by torch's names.

    Raises:
        TypeError: one was given by both names.
    """
    for other, own in NAMES.items():
        if other in settings and own in settings:
            raise TypeError(f"{name}() was given {own} twice: {other} is NumPy's name for it.")
    return {NAMES.get(key, key): value for key, value in settings.items()}

"""A table of functions for the less common settings, which folders beside the core fill.

The core implements the settings that most networks use. For the others, such as soft targets or
worker threads, it looks a function up here by name. `@extends("worker threads")` above a function
registers it when its file is imported, which `import mt_nn` does.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from mt_nn.core.errors import SettingError

F = TypeVar("F", bound=Callable[..., Any])

EXTENSIONS: dict[str, Callable[..., Any]] = {}
"""Functions by name; each name occurs once in the core, in a call of `extension`."""


def extends(name: str) -> Callable[[F], F]:
    """Return a decorator that registers a function or a class under a name."""

    def register(function: F) -> F:
        EXTENSIONS[name] = function
        return function

    return register


def extension(name: str) -> Callable[..., Any]:
    """Return the function registered under a name.

    Raises:
        SettingError: there is none, because the rest of the package is not installed.
    """
    if name not in EXTENSIONS:
        raise SettingError(f"{name}: only the core of mt-nn is installed. Reinstall mt-nn.")
    return EXTENSIONS[name]


def check(name: str, *values: Any) -> None:
    """Call a check of arguments, which raises errors, if one is registered under the name."""
    if name in EXTENSIONS:
        EXTENSIONS[name](*values)

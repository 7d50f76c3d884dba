"""Slots: the places that hold values, such as items of dictionaries and variables of functions."""

from __future__ import annotations

import dis
import functools
import types
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

MISSING = object()
"""The value of a slot that does not exist."""


@dataclass(eq=False, slots=True)
class Slot:
    """An item of a dictionary or list, or an attribute.

    Attributes:
        holder: the container or object.
        key: the key or index, or the name of the attribute.
        is_item: whether it is an item.
    """

    holder: Any
    key: Any
    is_item: bool

    @property
    def id(self) -> Any:
        """The identity of the slot, as long as its holder is alive."""
        key = self.key
        return id(self.holder), key if isinstance(key, (str, int, tuple)) else id(key)

    def get(self) -> Any:
        """Return the value, or `MISSING` if the slot does not exist."""
        if isinstance(self.holder, dict):
            return dict.get(self.holder, self.key, MISSING)  # creates no value
        try:
            return self.holder[self.key] if self.is_item else getattr(self.holder, self.key)
        except (KeyError, IndexError, AttributeError, ValueError):
            return MISSING

    def set(self, value: Any) -> None:
        """Set the value."""
        if self.is_item:
            self.holder[self.key] = value
        else:
            setattr(self.holder, self.key, value)

    def __str__(self) -> str:
        """Return the key."""
        return repr(self.key) if isinstance(self.key, (str, int)) else type(self.key).__name__


def codes_in(code: types.CodeType) -> Iterator[types.CodeType]:
    """Yield the code of a function, and of the functions inside it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from codes_in(constant)


def plain_function(function: Any) -> Any:
    """Return the function inside a method, a partial or compiled function, or a module."""
    while True:
        if isinstance(function, types.MethodType):
            function = function.__func__
        elif isinstance(function, functools.partial):
            function = function.func
        elif hasattr(type(function), "program_of"):
            function = function.function
        else:
            forward = getattr(type(function), "forward", None)
            return function if forward is None else forward


def free_variables(function: Any, with_globals: bool = True) -> Iterator[tuple[str, Slot]]:
    """Yield the names and slots of the closure and global variables that a function reads."""
    function = getattr(function, "__func__", function)
    if not isinstance(function, types.FunctionType):
        return
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        yield name, Slot(cell, "cell_contents", False)
    if with_globals:
        loaded = {
            instruction.argval
            for code in codes_in(function.__code__)
            for instruction in dis.get_instructions(code)
            if instruction.opname in ("LOAD_GLOBAL", "LOAD_NAME")
        }
        for name in sorted(loaded & function.__globals__.keys()):
            yield name, Slot(function.__globals__, name, True)

"""Methods that a class gets from other files.

A class of a core says what a value is. What can be done with it may be defined elsewhere: `Scalar`
gets a method for each row of the operator table, and classes of all stages get from the files
beside their cores what the core itself does not call. Nothing is ever replaced.
"""

from __future__ import annotations

from typing import Any


def register_methods(owner: type, table: type) -> None:
    """Give a class the methods and properties in the body of another class, the table.

    Type checkers and editors take the table for the base class of `owner`.

    Raises:
        TypeError: the class has one of this name.
    """
    for name, method in vars(table).items():
        if callable(method) or isinstance(method, property):
            register_method(owner, name, method)


def register_method(owner: type, name: str, method: Any) -> None:
    """Give a class a method, or a property.

    Raises:
        TypeError: the class has one of this name.
    """
    if name in vars(owner):
        raise TypeError(f"{owner.__name__} already has a method {name!r}: choose another name.")
    setattr(owner, name, method)

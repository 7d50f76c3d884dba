"""Register methods that are defined outside a class.

`Scalar` has a method for each row of the operator table, and classes of all stages have methods
that are defined outside the core and that the core does not call. No method is ever replaced.
"""

from __future__ import annotations

from typing import Any


def register_methods(owner: type, table: type) -> None:
    """Add the methods and properties in the body of another class, the table, to a class.

    For type checkers, the table is a base class of `owner`.
    """
    for name, method in vars(table).items():
        if callable(method) or isinstance(method, property):
            register_method(owner, name, method)


def register_method(owner: type, name: str, method: Any) -> None:
    """Add a method or a property to a class.

    Raises:
        TypeError: the class already has one of this name.
    """
    if name in vars(owner):
        raise TypeError(f"{owner.__name__} already has a method {name!r}: choose another name.")
    setattr(owner, name, method)

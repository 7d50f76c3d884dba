"""Operations that are imported when somebody asks for one of them.

To import a hundred files takes longer than to import NumPy, and most programs use a dozen of them.
Which file defines what is written down in `deferred_names`, by `hatch run mt declare`.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from mt_operators import OPERATORS, Operator
from mt_tensor import deferred_names
from mt_tensor.public import FUNCTIONS
from mt_tensor.tensor import Tensor

MODULE_OF = {
    name: module for module, names in deferred_names.FUNCTIONS.items() for name in names.split()
}
"""For each of these functions and classes the module that defines it."""


def imported(name: str) -> Any:
    """Return a function or class."""
    import_module(MODULE_OF[name])
    return FUNCTIONS[name]


class DeferredMethod:
    """Stands for a method until it is asked for.

    Importing the file in which it is defined puts the method itself in this place.
    """

    def __init__(self, name: str, module: str) -> None:
        self._name = name
        self._module = module

    def __get__(self, instance: Any, owner: type) -> Any:
        """Import the file, and return the method."""
        import_module(self._module)
        return getattr(owner if instance is None else instance, self._name)


for _module, _names in deferred_names.METHODS.items():
    for _name in _names.split():
        setattr(Tensor, _name, DeferredMethod(_name, _module))


def _defer_in_place_form(row: Operator) -> None:
    """Let a row that enters the operator table later have its form in place."""
    for name in (row.name, *row.aliases) if row.in_place else ():
        if f"{name}_" not in vars(Tensor):
            form = DeferredMethod(f"{name}_", "mt_tensor.pointwise.in_place")
            setattr(Tensor, f"{name}_", form)


OPERATORS.for_each(_defer_in_place_form)


def import_all() -> None:
    """Import all files that define operations, for those who want to see what there is."""
    for module in {*deferred_names.FUNCTIONS, *deferred_names.METHODS}:
        import_module(module)

"""Operations that are imported when somebody asks for one of them.

To import a hundred files takes longer than to import NumPy, and most programs use a dozen of them.
Which file defines what is written down in `deferred_names`, by `hatch run mt declare`.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from mt_operators import OPERATORS, Operator
from mt_tensor.library import deferred_names
from mt_tensor.library.signatures import for_users
from mt_tensor.pointwise.facts import facts_of
from mt_tensor.public import ADAPTERS, FUNCTIONS
from mt_tensor.tensor import Tensor

ADAPTERS.append(for_users)  # before the first file that offers a function is imported

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
        self.module = module

    def __get__(self, instance: Any, owner: type) -> Any:
        """Import the file, and return the method."""
        import_module(self.module)
        return getattr(owner if instance is None else instance, self._name)

    def __set__(self, instance: Any, value: Any) -> None:
        """Import the file, and set what may be an attribute."""
        import_module(self.module)
        setattr(instance, self._name, value)


for _module, _names in deferred_names.METHODS.items():
    for _name in _names.split():
        setattr(Tensor, _name, DeferredMethod(_name, _module))


def _defer_row(row: Operator) -> None:
    """Let a row that enters the operator table later be a method and a function, too."""
    for name in (row.name, *row.aliases):
        MODULE_OF.setdefault(name, "mt_tensor.pointwise.table_functions")
        _defer(name, "mt_tensor.pointwise.table_functions")
        if facts_of(row).in_place:
            _defer(f"{name}_", "mt_tensor.library.pointwise.in_place")


def _defer(name: str, module: str) -> None:
    if name not in vars(Tensor):
        setattr(Tensor, name, DeferredMethod(name, module))


OPERATORS.for_each(_defer_row, taken=vars(Tensor).__contains__)


def import_all() -> None:
    """Import all files that define operations, for those who want to see what there is."""
    for module in {*deferred_names.FUNCTIONS, *deferred_names.METHODS}:
        import_module(module)

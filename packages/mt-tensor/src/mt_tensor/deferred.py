"""The library, imported when somebody asks for something of it.

To import a hundred files takes longer than to import NumPy, and most programs use a dozen of them.
Which file defines what is written down in `library_names`, by `hatch run mt declare`.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from mt_tensor import library_names
from mt_tensor.public import FUNCTIONS
from mt_tensor.tensor import Tensor

MODULE_OF = {
    name: module for module, names in library_names.FUNCTIONS.items() for name in names.split()
}
"""For each function and class of the library the module that defines it."""


def imported(name: str) -> Any:
    """Return a function or class of the library."""
    import_module(MODULE_OF[name])
    return FUNCTIONS[name]


class DeferredMethod:
    """Stands for a method of the library, until it is asked for.

    Importing the file in which it is defined puts the method itself in this place.
    """

    def __init__(self, name: str, module: str) -> None:
        self._name = name
        self._module = module

    def __get__(self, instance: Any, owner: type) -> Any:
        """Import the file, and return the method."""
        import_module(self._module)
        return getattr(owner if instance is None else instance, self._name)


for _module, _names in library_names.METHODS.items():
    for _name in _names.split():
        setattr(Tensor, _name, DeferredMethod(_name, _module))


def import_library() -> None:
    """Import all of the library, for those who want to see what there is."""
    for module in {*library_names.FUNCTIONS, *library_names.METHODS}:
        import_module(module)

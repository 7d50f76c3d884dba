"""Which names the library of mt-tensor has, and which of its modules defines each.

What `import mt_tensor` imports is the lesson. All other modules, but for kits and examples, are the
library: here they are imported, to see which functions and methods are there then.
"""

from __future__ import annotations

import importlib
import inspect
import sys
from collections.abc import Iterable, Mapping
from types import FunctionType

from mt.source.modules import Library

HEAD = '"""Which module of the library defines which names; `mt declare` writes this file."""'

NEITHER = {"conformance", "testing", "examples", "__main__"}
"""Folders and files that are neither lesson nor library."""


def import_all(library: Library) -> set[str]:
    """Import all modules of mt-tensor, and return the names of those of the library."""
    importlib.import_module("mt_tensor")
    lesson = set(sys.modules)
    for module in library.modules("mt_tensor"):
        if not NEITHER & {*module.name.split(".")}:
            importlib.import_module(module.name)
    return {name for name in sys.modules if name.startswith("mt_tensor.")} - lesson


def library_names(modules: Iterable[str]) -> str:
    """Return the text of the module that says where the names of the library are defined."""
    from mt_tensor import Tensor
    from mt_tensor.public import FUNCTIONS

    methods = {
        name: value.fget if isinstance(value, property) else value
        for name, value in vars(Tensor).items()
        if isinstance(value, (FunctionType, property))
    }
    return "\n".join(
        [
            HEAD,
            "",
            *_table("FUNCTIONS", FUNCTIONS, set(modules)),
            "",
            *_table("METHODS", methods, set(modules)),
            "",
        ]
    )


def _table(title: str, offered: Mapping[str, object], modules: set[str]) -> list[str]:
    names: dict[str, list[str]] = {}
    for name, value in sorted(offered.items()):
        module = inspect.unwrap(value).__module__  # type: ignore[arg-type]
        if module in modules:
            names.setdefault(module, []).append(name)
    rows = [f'    "{module}": "{" ".join(names[module])}",' for module in sorted(names)]
    return [f"{title} = {{", *rows, "}"]

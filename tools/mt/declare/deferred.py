"""Which modules of mt-tensor define which names, beside those that `import mt_tensor` imports.

All modules but kits and examples are imported here, to see which functions and methods there are.
"""

from __future__ import annotations

import importlib
import inspect
import sys
from collections.abc import Iterable, Mapping
from types import FunctionType

from mt.source.modules import Library

HEAD = '"""Which module defines which names of those imported later; `mt declare` writes this."""'

NEITHER = {"conformance", "testing", "examples", "__main__"}
"""Folders and files in which no operation is defined."""


def import_all(library: Library) -> set[str]:
    """Import all modules of mt-tensor, and return those that were not there at once."""
    importlib.import_module("mt_tensor")
    at_once = set(sys.modules)
    for module in library.modules("mt_tensor"):
        if not NEITHER & {*module.name.split(".")}:
            importlib.import_module(module.name)
    return {name for name in sys.modules if name.startswith("mt_tensor.")} - at_once


def deferred_names(modules: Iterable[str]) -> str:
    """Return the text of the module that says what some modules define."""
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

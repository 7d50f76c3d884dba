"""The names in annotations, and where a stub imports them from."""

from __future__ import annotations

import ast
import builtins
import inspect
from collections.abc import Callable, Mapping
from typing import Any

from mt.source.modules import Imported, Library

OWN = {"Any", "Self"}
"""Names from `typing` that declarations use on their own account."""


class Names:
    """What the annotations of a stub name.

    Args:
        library: the source of all modules.
        methods: the members of the stub's class, whose names hide others inside of it.
    """

    def __init__(self, library: Library, methods: Mapping[str, Any]) -> None:
        self.methods = methods
        self._library = library
        self._imports: set[str] = set()

    def shown(self, annotation: Any, function: Callable[..., Any]) -> str:
        """Return an annotation of a function as the stub writes it, and import what it names."""
        if annotation is inspect.Parameter.empty:
            annotation = "Any"
        text = annotation if isinstance(annotation, str) else annotation.__name__
        tree = ast.parse(text, mode="eval")
        for node in ast.walk(tree):
            if isinstance(node, ast.Name):
                node.id = self._name(node.id, function.__module__)
        return ast.unparse(tree)

    def _name(self, name: str, module: str) -> str:
        """Return what the stub calls that which a module calls `name`."""
        source = self._library.module(module)
        known = source.names if source is not None else {}
        if name not in known and name not in OWN:
            if name not in self.methods or not hasattr(builtins, name):
                return name
            self._imports.add("import builtins")
            return f"builtins.{name}"
        statement = Imported("typing", name) if name in OWN else known[name]
        origin = statement if isinstance(statement, Imported) else Imported(module, name)
        shown = f"_{name}" if name in self.methods else name
        path = (
            f"from {origin.module} import {origin.name}"
            if origin.name
            else f"import {origin.module}"
        )
        self._imports.add(path if shown in (origin.name, origin.module) else f"{path} as {shown}")
        return shown

    def imports(self) -> list[str]:
        """Return the lines that import all that has been named."""
        return sorted(self._imports)

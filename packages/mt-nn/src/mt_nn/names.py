"""What users find in a package, by the file of names that the package has.

Which file defines what, those read so far and those of the library, is said once, in the imports of
a package's `__init__.pyi`: type checkers and editors read them there as they are. A program imports
a name from there when it first asks for it, so that `import mt_nn` imports next to nothing.
"""

from __future__ import annotations

import ast
import pkgutil
import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any


def offered(package: str) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Return `__getattr__`, `__dir__` and `__all__` of a package with a file of names."""
    names = vars(sys.modules[package])
    module_of = {
        alias.name: str(statement.module)
        for statement in ast.parse(pkgutil.get_data(package, "__init__.pyi") or b"").body
        if isinstance(statement, ast.ImportFrom)
        for alias in statement.names
    }

    def get(name: str) -> Any:
        """Import what is asked for, when it is asked for."""
        if name not in module_of:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module = module_of[name]
        if module == package:
            return import_module(f"{package}.{name}")
        names[name] = getattr(import_module(module), name)
        return names[name]

    def names_there() -> list[str]:
        """Return all names, imported or not."""
        return sorted({*names, *module_of})

    return get, names_there, sorted(module_of)

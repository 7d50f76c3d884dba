"""The names of `mt_tensor` as a stub: where each is defined, under the name that users import."""

from __future__ import annotations

import ast
import inspect
import sys
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

HEAD = '"""The names of `mt_tensor`, for type checkers; `mt declare` writes this file."""'

ROWS = "mt_tensor.pointwise.table_functions"
"""Where functions of rows of the operator table are made."""

OPERANDS = {1: "input: Tensor", 2: "input: Tensor | Number, other: Tensor | Number"}
"""The arguments of the functions of rows of the operator table, by how many there are."""


def package_names() -> str:
    """Return the text of the stub of the package."""
    import mt_tensor
    from mt_tensor.public import FUNCTIONS

    public = {name: getattr(mt_tensor, name) for name in PUBLIC_MODULES} | {
        name: value
        for name, value in (vars(mt_tensor) | FUNCTIONS).items()
        if not name.startswith("_") and not isinstance(value, ModuleType)
    }
    stated = _imports(Path(str(mt_tensor.__file__)))
    imports = {"from mt_tensor.dtypes import Number"}
    others = []
    for name, value in sorted(public.items()):
        if isinstance(value, FunctionType) and value.__module__ == ROWS:
            others += _function_of_row(name, value)
        elif isinstance(value, ModuleType) or (name in stated and name not in FUNCTIONS):
            imports.add(f"from {stated.get(name, 'mt_tensor')} import {name} as {name}")
        else:
            module, own = _origin(value)
            imports.add(f"from {module} import {own} as {name if own == name else f'_{own}'}")
            others += [] if own == name else [f"{name} = _{own}"]
    listed = [f'    "{name}",' for name in sorted(mt_tensor.__all__)]
    exported = ["__all__ = [", *listed, "]", "__version__: str"]
    return "\n".join([HEAD, "", *sorted(imports), "", *exported, "", *others]) + "\n"


PUBLIC_MODULES = {"autograd", "cuda", "errors", "linalg"}
"""The modules that users find in the package."""


def _imports(file: Path) -> dict[str, str]:
    """Return from which modules a file imports names that it leaves as they are."""
    return {
        alias.name: str(node.module)
        for node in ast.parse(file.read_text(encoding="utf-8")).body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
        if alias.asname is None
    }


def _origin(value: Any) -> tuple[str, str]:
    """Return which module defines something, and what it is called there."""
    module: str = value.__module__
    known = vars(sys.modules[module]).items()
    return module, next(
        name for name, each in known if each is value or each is inspect.unwrap(value)
    )


def _function_of_row(name: str, function: Any) -> list[str]:
    """Return the lines that declare the function of a row of the operator table."""
    parameters = inspect.signature(function).parameters
    operands = OPERANDS.get(len(parameters), "*operands: Tensor | Number")
    text = (function.__doc__ or "").partition("\n")[0]
    return [f"def {name}({operands}) -> Tensor:", f'    """{text}"""']

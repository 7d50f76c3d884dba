"""Find the names of torch that a program uses and that are not supported, with alternatives.

The program is parsed as text. Imported names are looked up in the mirror, whose errors contain the
advice. The types of variables are unknown: if an attribute exists only on torch's tensors and
modules, the advice is conditional.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from types import ModuleType

import numpy as np

from mt.port.imports import MIRROR, is_torchs

EVERYDAY = (bytes, dict, float, list, np.ndarray, set, slice, str, tuple)
"""Common types, whose attributes say nothing about torch."""


@dataclass(frozen=True, order=True)
class Use:
    """A line of a program that uses an unsupported name.

    Attributes:
        line: the line number, from 1.
        advice: what is used, and what to use instead.
    """

    line: int
    advice: str


def left_out(tree: ast.Module) -> list[Use]:
    """Return the uses of unsupported names of torch in a program, sorted and without repetition."""
    bound = dict(_bound(tree))
    inner = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    return sorted({use for node in ast.walk(tree) for use in _uses(node, bound, inner)})


def _bound(tree: ast.Module) -> Iterator[tuple[str, str | None]]:
    """Yield the names that imports bind, with their path in torch (`nn` for "nn"), or None."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for name in node.names:
                bound_path = _path_in_torch(name.name) if name.asname else ""
                yield _first(name.asname or name.name), bound_path if is_torchs(name.name) else None
        elif isinstance(node, ast.ImportFrom):
            for name in node.names:
                yield name.asname or name.name, _path(node, name)


def _uses(node: ast.AST, bound: dict[str, str | None], inner: set[int]) -> Iterator[Use]:
    """Yield the unsupported names that a statement or an expression uses."""
    if isinstance(node, ast.Import):
        for name in node.names:
            if is_torchs(name.name):
                yield from _missing(node.lineno, _path_in_torch(name.name))
    elif isinstance(node, ast.ImportFrom):
        for name in node.names:
            path = _path(node, name)
            if path is not None and name.name != "*":
                yield from _missing(node.lineno, path)
    elif isinstance(node, ast.Attribute):
        root, path = _chain(node)
        if root not in bound:
            yield from _method(node)
        elif bound[root] is not None and id(node) not in inner:
            yield from _missing(node.lineno, f"{bound[root]}.{path}")


def _chain(node: ast.Attribute) -> tuple[str, str]:
    """Return the first name of a chain of attributes, or "", and the rest."""
    parts: list[str] = []
    expression: ast.expr = node
    while isinstance(expression, ast.Attribute):
        parts.append(expression.attr)
        expression = expression.value
    return expression.id if isinstance(expression, ast.Name) else "", ".".join(reversed(parts))


def _missing(line: int, path: str) -> Iterator[Use]:
    """Yield a use if a path below torch does not exist in the mirror."""
    from mt_nn.torch_names.left_out import advice, sentence

    reached, known = import_module(MIRROR), ""
    for part in path.strip(".").split(".") if path.strip(".") else ():
        known = f"{known}.{part}".strip(".")
        in_module = isinstance(reached, ModuleType)
        try:
            reached = getattr(reached, part)
        except AttributeError:
            if in_module or advice(known):
                yield Use(line, sentence(known))
            return


def _method(node: ast.Attribute) -> Iterator[Use]:
    """Yield a use if only tensors and modules of torch have an attribute."""
    from mt_nn import Module
    from mt_nn.torch_names.left_out import advice
    from mt_tensor import Tensor

    if any(hasattr(known, node.attr) for known in (Tensor, Module, *EVERYDAY)):
        return
    for owner in ("Tensor", "nn.Module"):
        hint = advice(f"{owner}.{node.attr}")
        if hint:
            yield Use(
                node.lineno, f".{node.attr}, if it is of torch.{owner}, is not supported. {hint}"
            )
            return


def _path(node: ast.ImportFrom, name: ast.alias) -> str | None:
    """Return the path of an imported name below torch; None if it is not torch's."""
    if node.level or not is_torchs(node.module):
        return None
    return f"{_path_in_torch(node.module or '')}.{name.name}"


def _first(name: str) -> str:
    return name.partition(".")[0]


def _path_in_torch(module: str) -> str:
    """Return the path of a module below torch; "" for torch."""
    return module.partition(".")[2]

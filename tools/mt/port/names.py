"""The names of torch that a program uses and that are left out, with what to use instead.

The program is read as text. What a name that it has imported leads to is asked of the mirror
itself, whose errors are the advice. What a variable is cannot be read: where it is asked for
something that only torch's tensors and modules have, it is said that it may be one of them.
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
"""Types of which a program has values: what they can be asked for says nothing of torch."""


@dataclass(frozen=True, order=True)
class Use:
    """A place of a program that uses what is left out.

    Attributes:
        line: the number of its line, from 1.
        advice: what is used there, and what to use instead.
    """

    line: int
    advice: str


def left_out(tree: ast.Module) -> list[Use]:
    """Return where a program uses names of torch that are left out, in order, each line once."""
    bound = dict(_bound(tree))
    inner = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    return sorted({use for node in ast.walk(tree) for use in _uses(node, bound, inner)})


def _bound(tree: ast.Module) -> Iterator[tuple[str, str | None]]:
    """Yield what imports bind: names, and to what of torch's, `nn` to "nn"; None for all else."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for name in node.names:
                own = _below(name.name) if name.asname else ""
                yield _first(name.asname or name.name), own if is_torchs(name.name) else None
        elif isinstance(node, ast.ImportFrom):
            for name in node.names:
                yield name.asname or name.name, _path(node, name)


def _uses(node: ast.AST, bound: dict[str, str | None], inner: set[int]) -> Iterator[Use]:
    """Yield what a statement or an expression uses that is left out."""
    if isinstance(node, ast.Import):
        for name in node.names:
            if is_torchs(name.name):
                yield from _missing(node.lineno, _below(name.name))
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
    """Return the name that a chain of attributes begins with, "" if with no name, and the rest."""
    parts: list[str] = []
    expression: ast.expr = node
    while isinstance(expression, ast.Attribute):
        parts.append(expression.attr)
        expression = expression.value
    return expression.id if isinstance(expression, ast.Name) else "", ".".join(reversed(parts))


def _missing(line: int, path: str) -> Iterator[Use]:
    """Yield a name below torch if it leads to nothing in the mirror."""
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
    """Yield what only tensors and modules of torch can be asked for, and not those here."""
    from mt_nn import Module
    from mt_nn.torch_names.left_out import advice
    from mt_tensor import Tensor

    if any(hasattr(known, node.attr) for known in (Tensor, Module, *EVERYDAY)):
        return
    for owner in ("Tensor", "nn.Module"):
        said = advice(f"{owner}.{node.attr}")
        if said:
            yield Use(
                node.lineno, f".{node.attr}, if it is one of torch.{owner}, is left out. {said}"
            )
            return


def _path(node: ast.ImportFrom, name: ast.alias) -> str | None:
    """Return what is imported, behind torch's own name; None if it is none of torch's."""
    if node.level or not is_torchs(node.module):
        return None
    return f"{_below(node.module or '')}.{name.name}"


def _first(name: str) -> str:
    return name.partition(".")[0]


def _below(module: str) -> str:
    """Return the name of a module behind torch's own, "" for torch."""
    return module.partition(".")[2]

"""Slices without an end in kernels: `x[n:]` is the array from position n on, without a copy.

A loop that increments a slice needs no index arithmetic.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import Any

from mt_cuda.core.simulator import NAMES, TRANSFORMS


@dataclass(eq=False, slots=True)
class Rest:
    """The rest of an array from a position, `x[n:]`; negative indices access elements before it."""

    array: Any
    begin: int

    def __getitem__(self, at: int) -> Any:
        """Return one element."""
        return self.array[self.begin + at]

    def __setitem__(self, at: int, value: Any) -> None:
        """Store one element."""
        self.array[self.begin + at] = value


def rest_of(array: Any, begin: int) -> Rest:
    """Return the rest of an array, or of a rest."""
    if isinstance(array, Rest):
        return Rest(array.array, array.begin + begin)
    return Rest(array, begin)


class Slices(ast.NodeTransformer):
    """Replace slices with calls of `rest_of`."""

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        """Replace a slice."""
        self.generic_visit(node)
        if isinstance(node.slice, ast.Slice) and node.slice.lower:
            name = ast.copy_location(ast.Name("rest_of", ast.Load()), node)
            return ast.copy_location(ast.Call(name, [node.value, node.slice.lower], []), node)
        return node


NAMES["rest_of"] = rest_of
TRANSFORMS.append(Slices())

"""How each backend computes a formula: asked once, and kept for all calls that follow."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mt_operators import Formula
from mt_tensor.backends.contract import TensorBackend


class Computing:
    """For each backend, `computing(formula)` of it: a function of views, shape and dtype.

    Attributes:
        formula: what is computed.
        functions: of the backends that have been asked; the others are found by `of`.
    """

    def __init__(self, formula: Formula) -> None:
        self.formula = formula
        self.functions: dict[TensorBackend, Callable[..., Any]] = {}

    def of(self, backend: TensorBackend) -> Callable[..., Any]:
        """Return the function of a backend."""
        if backend not in self.functions:
            self.functions[backend] = backend.computing(self.formula)
        return self.functions[backend]

"""How each backend computes a formula: asked once, and kept for all calls that follow."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mt_operators import Formula
from mt_tensor.backends.contract import TensorBackend


class Computing(dict[TensorBackend, Callable[..., Any]]):
    """For each backend, `computing(formula)` of it: a function of views, shape and dtype."""

    def __init__(self, formula: Formula) -> None:
        super().__init__()
        self.formula = formula

    def __missing__(self, backend: TensorBackend) -> Callable[..., Any]:
        """Ask a backend that has not been asked before."""
        function = self[backend] = backend.computing(self.formula)
        return function

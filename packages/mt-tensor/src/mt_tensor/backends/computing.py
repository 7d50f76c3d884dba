"""How each backend computes a formula: asked once, and kept for all calls that follow.

Operations keep one such dictionary for each of their formulas: a backend is asked for the function
that runs the formula when the first of its tensors comes by.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mt_operators import Formula
from mt_tensor.backends.contract import TensorBackend


class Computing(dict[TensorBackend, Callable[..., Any]]):
    """For each backend that has been asked, `elementwise(formula)` of it; others are asked here.

    Attributes:
        formula: what is computed.
    """

    def __init__(self, formula: Formula) -> None:
        super().__init__()
        self.formula = formula

    def __missing__(self, backend: TensorBackend) -> Callable[..., Any]:
        """Ask a backend."""
        run = self[backend] = backend.elementwise(self.formula)
        return run

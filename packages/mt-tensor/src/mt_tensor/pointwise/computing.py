"""How each backend computes a formula: asked once, and kept for all calls that follow."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mt_operators import Formula
from mt_tensor.backends.contract import TensorBackend
from mt_tensor.dtypes import DType


class Computing:
    """What backends know of a formula.

    Attributes:
        formula: what is computed.
        functions: for each backend that has been asked, `computing(formula)` of it: a function of
            views, shape and dtype. `of` asks the others.
        on_arrays: for each dtype and backend that has been asked, `on_arrays(formula, dtype)` of
            it. `of_arrays` asks the others.
    """

    def __init__(self, formula: Formula) -> None:
        self.formula = formula
        self.functions: dict[TensorBackend, Callable[..., Any]] = {}
        self.on_arrays: dict[DType, dict[TensorBackend, Callable[..., Any] | None]] = {}

    def of(self, backend: TensorBackend) -> Callable[..., Any]:
        """Return the function of a backend."""
        if backend not in self.functions:
            self.functions[backend] = backend.computing(self.formula)
        return self.functions[backend]

    def of_arrays(self, dtype: DType, backend: TensorBackend) -> Callable[..., Any] | None:
        """Return a backend's function of arrays of a dtype; None if it has none."""
        known = self.on_arrays.setdefault(dtype, {})
        if backend not in known:
            known[backend] = backend.on_arrays(self.formula, dtype)
        return known[backend]

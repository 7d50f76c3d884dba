"""The sample table of operations on tensors; that of operators is in `mt_operators.testing`.

A row has the name of an operation, an expression of tensors, and the shapes to test. On every
backend, the conformance kit compares the values of each row with the same expression in NumPy, and
gradients with finite differences. It also checks dtypes, that inputs are unchanged, and errors that
depend on elements, such as an index out of range. Errors that are raised before a backend is called
are left to the tests of mt-tensor. A new operation needs one row, in the file of its subject, and
an implementation in `reference.py` if NumPy has no function of that name.
"""

from __future__ import annotations

# Importing a module adds its rows to the table.
from mt_tensor.testing import (  # noqa: F401
    in_place,
    indexing,
    linalg,
    movement,
    order,
    pointwise,
    products,
    reductions,
)
from mt_tensor.testing.specs import (
    BAD_CALLS,
    FLOATS,
    PROMOTION,
    TENSOR_SPECS,
    INTEGRAL,
    BadCall,
    TensorOpSpec,
    arguments,
)

__all__ = [
    "BAD_CALLS",
    "FLOATS",
    "INTEGRAL",
    "PROMOTION",
    "TENSOR_SPECS",
    "BadCall",
    "TensorOpSpec",
    "arguments",
]

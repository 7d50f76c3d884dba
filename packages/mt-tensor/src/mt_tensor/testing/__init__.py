"""The sample table of operations on tensors; that of operators is in `mt_operators.testing`.

A row names an operation, an expression of tensors, and the shapes it is tested on. The conformance
kit walks the table on every backend: values against those of the same expression in NumPy, dtypes,
gradients by finite differences, inputs unchanged, and the errors that elements must raise, such as
an index out of range. What is refused before a backend is called is for the tests of mt-tensor. A
new operation needs one row, in the file of its subject, and where NumPy does not have it a meaning
in `reference.py`.
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
    WHOLE,
    BadCall,
    TensorOpSpec,
    arguments,
)

__all__ = [
    "BAD_CALLS",
    "FLOATS",
    "PROMOTION",
    "TENSOR_SPECS",
    "WHOLE",
    "BadCall",
    "TensorOpSpec",
    "arguments",
]

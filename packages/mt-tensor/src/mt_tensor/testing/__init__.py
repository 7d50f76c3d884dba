"""The sample table for operations on tensors, beside `mt_operators.testing` for the operators.

A row names an operation, its NumPy oracle, and the shapes it is tested on. The conformance kit
walks the table on every backend: values, element types, gradients by finite differences, inputs
unchanged, and the errors that bad arguments must raise. A new operation needs one row, in the file
of its subject.
"""

from __future__ import annotations

# Importing a subject enters its rows.
from mt_tensor.testing import (
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
    Shapes,
    TensorOpSpec,
    arguments,
    row,
)

SUBJECTS = (pointwise, reductions, order, products, linalg, movement, indexing, in_place)
"""The modules that hold the rows."""

__all__ = [
    "BAD_CALLS",
    "FLOATS",
    "PROMOTION",
    "SUBJECTS",
    "TENSOR_SPECS",
    "WHOLE",
    "BadCall",
    "Shapes",
    "TensorOpSpec",
    "arguments",
    "row",
]

"""Matrix products, batched and broadcast.

The contract's `matmul` forward, and two more products backward. `MatMul` is a `Function` that saves
its arguments, and the first here that reads them again.
"""

from __future__ import annotations

from typing import Any

from mt_autodiff.core.mode import recording
from mt_tensor.core.arguments import check_not_bool
from mt_tensor.core.conversion import cast
from mt_tensor.core.dtypes import result_type
from mt_tensor.core.errors import ShapeError
from mt_tensor.core.function import Function, common_backend, require_tensors
from mt_tensor.core.precision import BLOCKS, adjusted
from mt_tensor.core.strides import shape_broadcast
from mt_tensor.core.tensor import Tensor


class MatMul(Function):
    """Product of matrices in the last two dimensions, or of vectors; see `matmul`."""

    @staticmethod
    def forward(ctx: Any, a: Tensor, b: Tensor) -> Tensor:
        needs_a, needs_b = ctx.needs_input_grad
        ctx.save_for_backward(a if needs_b else None, b if needs_a else None, a.shape, b.shape)
        return a._with(a.backend.matmul(a._tensor, b._tensor))

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        a, b, shape_a, shape_b = ctx.saved_tensors
        needs_a, needs_b = ctx.needs_input_grad
        if len(shape_b) == 1:
            grad = grad.unsqueeze(-1)
        if len(shape_a) == 1:
            grad = grad.unsqueeze(-2)
        grad_a = grad_b = None
        if needs_a:
            columns = b.unsqueeze(1) if b.ndim == 1 else b
            grad_a = (grad @ columns.mT).sum_to_size(shape_a)
        if needs_b:
            rows = a.unsqueeze(0) if a.ndim == 1 else a
            products = rows.mT @ grad
            if len(shape_b) == 1:
                products = products.squeeze(-1)
            grad_b = products.sum_to_size(shape_b)
        return grad_a, grad_b


def matmul(input: Tensor, other: Tensor) -> Tensor:
    """Multiply as `torch.matmul` does.

    Args:
        input: shape (n, m), (m,) or (*batch, n, m).
        other: shape (m, k), (m,) or (*batch, m, k). A vector is a row on the left and a column on
            the right, and its dimension is dropped from the result. Batch dimensions broadcast.

    Raises:
        ShapeError: an argument has no dimension, or the inner extents differ.
        IndexingError: the batch dimensions do not broadcast.
        DTypeError: the tensors are bool.
    """
    require_tensors("matmul", input, other)
    if BLOCKS.count:
        input, other = adjusted("matmul", input), adjusted("matmul", other)
    backend, a, b = input.backend, input._tensor, other._tensor
    if backend is not other.backend:
        common_backend(input, other)
    left, right = a.layout, b.layout
    rows, columns = left.shape, right.shape
    if not rows or not columns:
        raise ShapeError(
            f"matmul() needs at least one dimension on both sides; shapes {rows} and {columns} "
            "were given. Use * for a product with a number."
        )
    inner = columns[-2:][0]  # of a vector the only extent
    if rows[-1] != inner:
        raise ShapeError(
            f"matmul() cannot multiply shapes {rows} and {columns}: the inner extents {rows[-1]} "
            f"and {inner} differ."
        )
    if len(rows) > 2 < len(columns) and rows[:-2] != columns[:-2]:
        shape_broadcast(rows[:-2], columns[:-2])
    if left.dtype is not right.dtype:
        dtype = result_type(input, other)
        return matmul(cast(input, dtype), cast(other, dtype))
    check_not_bool("matmul", left)
    if recording.get() and (input.requires_grad or other.requires_grad):
        return MatMul.apply(input, other)
    return Tensor._make(backend.matmul(a, b), backend)


def __matmul__(self: Tensor, other: Tensor) -> Tensor:
    if not isinstance(other, Tensor):
        return NotImplemented
    return matmul(self, other)

"""Matrix products, batched and broadcast."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mt_tensor.arguments import check_not_bool
from mt_tensor.dtypes import bool_, result_type
from mt_tensor.errors import ShapeError
from mt_tensor.recording.function import Function, common_backend, require_tensors
from mt_tensor.tensor_base import TensorBase

if TYPE_CHECKING:
    from mt_tensor.tensors import Tensor


class MatMul(Function):
    """Product of matrices in the last two dimensions."""

    @staticmethod
    def forward(ctx: Any, a: TensorBase, b: TensorBase) -> Tensor:
        needs_a, needs_b = ctx.needs_input_grad
        ctx.save_for_backward(a if needs_b else None, b if needs_a else None, a.shape, b.shape)
        return a._with(a.backend.product(a._tensor, b._tensor))

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        a, b, shape_a, shape_b = ctx.saved_tensors
        needs_a, needs_b = ctx.needs_input_grad
        return (
            (grad @ b.mT).sum_to_size(shape_a) if needs_a else None,
            (a.mT @ grad).sum_to_size(shape_b) if needs_b else None,
        )


def matmul(input: TensorBase, other: TensorBase) -> Tensor:
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
    common_backend(input, other)
    if input.ndim == 0 or other.ndim == 0:
        raise ShapeError(
            f"matmul() needs at least one dimension on both sides; shapes {input.shape} and "
            f"{other.shape} were given. Use * for a product with a number."
        )
    left = input.unsqueeze(0) if input.ndim == 1 else input
    right = other.unsqueeze(1) if other.ndim == 1 else other
    if left.shape[-1] != right.shape[-2]:
        raise ShapeError(
            f"matmul() cannot multiply shapes {input.shape} and {other.shape}: the inner extents "
            f"{left.shape[-1]} and {right.shape[-2]} differ."
        )
    if left.dtype is not right.dtype:
        dtype = result_type(left, right)
        left, right = left.to(dtype), right.to(dtype)
    if left.dtype is bool_:
        check_not_bool("matmul", left)
    out = MatMul.apply(left, right)
    if input.ndim == 1:
        out = out.squeeze(-2)
    return out.squeeze(-1) if other.ndim == 1 else out

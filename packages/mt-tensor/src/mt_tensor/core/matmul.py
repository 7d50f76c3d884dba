"""Matrix products with batch dimensions that broadcast, and their gradients."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mt_autodiff.core.mode import recording
from mt_tensor.core.arguments import check_not_bool
from mt_tensor.core.conversion import cast
from mt_tensor.core.dtypes import result_type
from mt_tensor.core.errors import ShapeError
from mt_tensor.core.extensions import AUTOCAST_BLOCKS, EXTENSIONS
from mt_tensor.core.graph import Node, record
from mt_tensor.core.layout import Layout
from mt_tensor.core.operands import common_backend, require_tensors
from mt_tensor.core.strides import Shape, shape_broadcast
from mt_tensor.core.tensor import Tensor
from mt_tensor.core.views import cache_layouts


class MatMul:
    """The gradient rule of a product: each factor's gradient is a product with the other."""

    @staticmethod
    def record(a: Tensor, b: Tensor, result: Tensor) -> None:
        """Record a product in the graph, if a factor requires grad."""
        inputs, saved = [], []
        left = right = None
        if a._requires_grad and a.requires_grad:  # for a view, updates `_node`
            inputs.append(a._node or a)
            saved.append(b._tensor)
            right = b
        if b._requires_grad and b.requires_grad:
            inputs.append(b._node or b)
            saved.append(a._tensor)
            left = a
        if inputs:
            ctx = (left, right, a._tensor.layout.shape, b._tensor.layout.shape)
            record(result, MatMul, "MatMul", inputs, ctx, saved)

    @classmethod
    def vjp(cls, _: Node, inputs: Any, ctx: Any, grad: Tensor, needed: Any) -> Sequence[Any]:
        """Return the gradients of the factors that require grad; see `Rule`."""
        a, b, shape_a, shape_b = ctx
        if needed is not None:  # `backward` skips the gradient if the other factor is None
            if a is not None and inputs[-1] not in needed:
                a = None
            if b is not None and inputs[0] not in needed:
                b = None
        gradients = cls.backward(grad, a, b, shape_a, shape_b)
        needs = (ctx[1] is not None, ctx[0] is not None)
        return [each for each, need in zip(gradients, needs, strict=True) if need]

    @staticmethod
    def backward(
        grad: Tensor, a: Tensor | None, b: Tensor | None, shape_a: Shape, shape_b: Shape
    ) -> tuple[Tensor | None, Tensor | None]:
        """Return the gradients of both factors.

        Args:
            grad: the gradient of the product.
            a: the first factor; None if the gradient of the second is not needed.
            b: the second factor; None if the gradient of the first is not needed.
            shape_a: the shape of the first.
            shape_b: the shape of the second.
        """
        if len(shape_b) == 1:
            grad = grad.unsqueeze(-1)
        if len(shape_a) == 1:
            grad = grad.unsqueeze(-2)
        grad_a = grad_b = None
        if b is not None:
            columns = b.unsqueeze(1) if b.ndim == 1 else b
            grad_a = _summed(grad @ columns.mT, shape_a)
        if a is not None:
            rows = a.unsqueeze(0) if a.ndim == 1 else a
            products = rows.mT @ grad
            if len(shape_b) == 1:
                products = products.squeeze(-1)
            grad_b = _summed(products, shape_b)
        return grad_a, grad_b


def _summed(product: Tensor, shape: Shape) -> Tensor:
    """Sum a product over the batch dimensions in which a factor was repeated."""
    return product if product._tensor.layout.shape == shape else product.sum_to_size(shape)


def matmul(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Return the product of two matrices, vectors or batches of matrices, as `torch.matmul` does.

    Args:
        input: shape (n, m), (m,) or (*batch, n, m).
        other: shape (m, k), (m,) or (*batch, m, k). A vector is a row on the left and a column on
            the right, and its dimension is dropped from the result. Batch dimensions broadcast.
        out: the tensor to store the result in, or None.

    Raises:
        ShapeError: an argument has no dimension, or the inner sizes differ.
        IndexingError: the batch dimensions do not broadcast.
        DTypeError: the tensors are bool.
    """
    if out is not None:
        return EXTENSIONS["result in out"]("matmul", matmul, (input, other), {"out": out})  # type: ignore[no-any-return]
    require_tensors("matmul", input, other)
    if AUTOCAST_BLOCKS.count:
        autocast = EXTENSIONS["argument under autocast"]
        input, other = autocast("matmul", input), autocast("matmul", other)
    backend, a, b = input.backend, input._tensor, other._tensor
    if backend is not other.backend:
        common_backend(input, other)
    _check_factors(a.layout, b.layout)
    if a.layout.dtype is not b.layout.dtype:
        dtype = result_type(input, other)
        return matmul(cast(input, dtype), cast(other, dtype))
    result = Tensor._make(backend.matmul(a, b), backend)
    if (input._requires_grad or other._requires_grad) and recording.get():
        MatMul.record(input, other, result)
    return result


@cache_layouts
def _check_factors(left: Layout, right: Layout) -> None:
    """Check that factors of these layouts can be multiplied; see `matmul`."""
    rows, columns = left.shape, right.shape
    if not rows or not columns:
        raise ShapeError(
            f"matmul() needs at least one dimension on both sides; shapes {rows} and {columns} "
            "were given. Use * for a product with a number."
        )
    inner = columns[-2:][0]  # for a vector its only size
    if rows[-1] != inner:
        raise ShapeError(
            f"matmul() cannot multiply shapes {rows} and {columns}: the inner sizes {rows[-1]} "
            f"and {inner} differ."
        )
    shape_broadcast(rows[:-2], columns[:-2])
    if left.dtype is right.dtype:
        check_not_bool("matmul", left)


def __matmul__(self: Tensor, other: Tensor) -> Tensor:
    if not isinstance(other, Tensor):
        return NotImplemented
    return matmul(self, other)

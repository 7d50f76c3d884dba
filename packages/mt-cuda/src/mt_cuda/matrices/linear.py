"""Linear maps: one launch forward, and two or three backward.

The totals of the product start with the bias, and its gradient is summed in the kernel that
computes the gradient of the weight: see `mt_cuda.matrices.product`.
"""

from __future__ import annotations

from typing import Any

from mt_cuda.core.layout import NARROW_LIMIT, merge
from mt_cuda.matrices.multiply import linear, product_and_sums
from mt_cuda.tensors import elements_of, is_floating, ops_of, tensor_of
from mt_tensor import Tensor, TensorData
from mt_tensor.extending import FusedKernel, Gradients, Needs, Saved


class Linear(FusedKernel):
    """Linear map of inputs (*batch, inputs), weight (outputs, inputs) and bias (outputs,)."""

    def fits(self, *arguments: Any) -> bool:
        """Return whether tensors are non-empty, of one float dtype and below `NARROW_LIMIT`."""
        return is_floating(*arguments) and all(
            x is None or x.numel() < NARROW_LIMIT for x in arguments
        )

    def value(self, needs: Needs, *arguments: Any) -> tuple[Tensor, Saved]:
        """Return `x @ weight.T + bias`."""
        x, weight, bias = arguments
        given = None if bias is None else elements_of(bias)
        out = linear(ops_of(x), _rows(x), _transposed(weight._tensor), given)
        return tensor_of(out, x, (*x.shape[:-1], weight.shape[0])), ()

    def gradient(self, grad: Tensor, saved: Saved, needs: Needs, *arguments: Any) -> Gradients:
        """Return the gradients of input, weight and bias; None if not needed."""
        x, weight, _ = arguments
        ops, upstream = ops_of(x), _rows(grad)
        of_x = of_weight = of_bias = None
        if needs[0]:
            of_x = tensor_of(ops.matmul(upstream, weight._tensor), x, x.shape)
        if needs[2]:
            of_weight, of_bias = (
                tensor_of(found, x)
                for found in product_and_sums(ops, _transposed(upstream), _rows(x))
            )
        elif needs[1]:
            of_weight = tensor_of(ops.matmul(_transposed(upstream), _rows(x)), x)
        return of_x, of_weight, of_bias


def _rows(x: Tensor) -> TensorData:
    """Return a tensor as a matrix whose rows are its last dimension: a view if possible."""
    data = x._tensor
    rows = merge(data.shape[:-1], [data.strides[:-1]])
    if rows.rank > 1:
        data = elements_of(x)
        rows = merge(data.shape[:-1], [data.strides[:-1]])
    (steps,) = rows.strides
    return data.like((rows.size, x.shape[-1]), (*(steps or (0,)), data.strides[-1]), data.offset)


def _transposed(matrix: TensorData) -> TensorData:
    """Return the transposed view of a matrix."""
    return matrix.like(matrix.shape[::-1], matrix.strides[::-1], matrix.offset)


KERNELS = {"linear": Linear()}
"""For `mt_tensor.extending.register_kernels`."""

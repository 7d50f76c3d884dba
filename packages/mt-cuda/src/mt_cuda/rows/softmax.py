"""Softmax and log-softmax: one launch each way, where the composition takes five."""

from __future__ import annotations

from typing import Any, Literal

from mt_cuda.core.elements import computed
from mt_cuda.rows.kernels import Operand, Rows, planned, rows_along
from mt_cuda.rows.teams import Team
from mt_cuda.tensors import elements_of, is_floating, new, ops_of, tensor_of
from mt_tensor import DType, Tensor, TensorData
from mt_tensor.extending import FusedKernel, Gradients, Needs, Saved

Name = Literal["softmax", "log_softmax", "softmax_gradient", "log_softmax_gradient"]


def rowwise(name: Name, dtype: DType, team: Team) -> Rows:
    """Return the kernel that computes `y` from `x`, or the gradient `out` from `grad` and `y`."""
    gradient = name.endswith("gradient")
    names = ("grad", "y", "out") if gradient else ("x", "y")
    rows = Rows(name, dict.fromkeys(names, Operand(dtype)), team, computed(dtype))
    if gradient:
        if name.startswith("log"):
            rows.sums(total="{grad}")
            rows.store("out", "{grad} - math.exp({y}) * total")
        else:
            rows.sums(total="{grad} * {y}")
            rows.store("out", "{y} * ({grad} - total)")
        return rows
    rows.fold("largest", "larger", "-inf", "{x}")
    rows.sums(total="math.exp({x} - largest)")
    if name == "log_softmax":
        rows.let("logarithm", "math.log(total)")
        rows.store("y", "{x} - largest - logarithm")
    else:
        rows.let("factor", f"{rows.compute.name}(1) / total")
        rows.store("y", "math.exp({x} - largest) * factor")
    return rows


class Rowwise(FusedKernel):
    """An operation along one dimension, whose gradient reads its result.

    Attributes:
        name: the operation.
        backward: the name of its gradient.
    """

    def __init__(self, name: Literal["softmax", "log_softmax"]) -> None:
        self.name: Name = name
        self.backward: Name = (
            "log_softmax_gradient" if name == "log_softmax" else "softmax_gradient"
        )

    def fits(self, *arguments: Any) -> bool:
        """Return whether the tensor is non-empty, floating-point and not a scalar."""
        x, _ = arguments
        return x.ndim > 0 and is_floating(x)

    def value(self, needs: Needs, *arguments: Any) -> tuple[Tensor, Saved]:
        """Return the result, which is saved for the gradient."""
        x, dim = arguments
        result = tensor_of(_along(dim, self.name, x), x)
        return result, (result,)

    def gradient(self, grad: Tensor, saved: Saved, needs: Needs, *arguments: Any) -> Gradients:
        """Return the gradient of the tensor."""
        (result,), (x, dim) = saved, arguments
        return tensor_of(_along(dim, self.backward, grad, result), x), None


def _along(dim: int, name: Name, *tensors: Tensor) -> TensorData:
    """Run a kernel over the rows of tensors of one shape along a dimension."""
    first, out = tensors[0], new(tensors[0])
    ops, recipe = ops_of(first), (rowwise, name, first.dtype)
    plan = planned(ops, recipe, rows_along(first.shape, dim))
    ops.launch(plan, [*map(elements_of, tensors), out])
    return out


KERNELS = {"log_softmax": Rowwise("log_softmax"), "softmax": Rowwise("softmax")}
"""For `mt_tensor.extending.register_kernels`."""

"""Convert tensors to the views that kernels process, and back; plan common launches."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import numpy as np

from mt_cuda.core.backend import CudaOps, Plan
from mt_cuda.core.elements import computed
from mt_cuda.core.kernel import Kernel
from mt_tensor import DType, Tensor, TensorData
from mt_tensor.extending import FusedKernel, Shape


def ops_of(tensor: Tensor) -> CudaOps:
    """Return the backend of a tensor, which must be a `CudaOps`."""
    return cast(CudaOps, tensor.backend)


def elements_of(tensor: Tensor) -> TensorData:
    """Return the elements as a contiguous view: the tensor's own, if it is contiguous."""
    data = tensor._tensor
    layout = data.layout
    return data if layout.row_major else tensor.backend.copy(data, layout.contiguous)


def tensor_of(data: TensorData, like: Tensor, shape: Shape | None = None) -> Tensor:
    """Return a new view as a tensor on the backend of another.

    Args:
        data: the view.
        like: a tensor on the backend.
        shape: if given, the tensor has this shape and owns the storage of the view, all of whose
            elements are contiguous; no other view may be used afterwards.
    """
    if shape is not None:
        data = TensorData(data.storage, shape, dtype=data.dtype)
    return Tensor._make(data, like.backend)


def new(like: Tensor, shape: Shape | None = None, dtype: DType | None = None) -> TensorData:
    """Allocate on the backend of a tensor, with its shape and dtype unless others are given."""
    return like.backend.empty(like.shape if shape is None else shape, dtype or like.dtype)


def new_in_order(like: Tensor, shape: Shape) -> TensorData:
    """Allocate a tensor of the given shape, with the dimension order of another in memory."""
    steps = like._tensor.strides
    strides, size = [0] * len(shape), 1
    for dim in sorted(range(len(shape)), key=lambda d: (abs(steps[d]), -d)):
        strides[dim], size = size, size * shape[dim]
    flat = like.backend.empty((size,), like.dtype)
    return TensorData(flat.storage, shape, tuple(strides), dtype=like.dtype)


def numbers_of(kernel: Kernel, values: Mapping[str, int]) -> tuple[int, ...]:
    """Return the values that a kernel takes, in the order of its parameters."""
    return tuple(
        values[parameter.name]
        for parameter in kernel.parameters
        if parameter.name in values and parameter.passed == "value"
    )


def is_floating(first: Tensor, *others: Tensor | None) -> bool:
    """Return whether tensors are non-empty and have one floating-point dtype; skip None."""
    return first.dtype.is_floating_point and all(
        x.numel() and x.dtype is first.dtype for x in (first, *others) if x is not None
    )


class FloatKernel(FusedKernel):
    """A kernel for operations whose first argument is a non-empty floating-point tensor."""

    def fits(self, *arguments: Any) -> bool:
        """Return whether the first argument is a non-empty floating-point tensor."""
        return is_floating(arguments[0])


def planned_over_grid(
    ops: CudaOps, recipe: tuple[Any, ...], count: int, numbers: tuple[int, ...] = ()
) -> Plan:
    """Return the cached plan of a kernel that loops over elements.

    Args:
        ops: the backend.
        recipe: the function that returns the kernel, and its arguments.
        count: the number of elements.
        numbers: the arguments that are passed by value, after the count.
    """

    def plan() -> Plan:
        make, *arguments = recipe
        return ops.plan_over_grid(make(*arguments), count, numbers)

    return ops.remembered((recipe, count, numbers), plan)  # type: ignore[no-any-return]


def number_of(value: float, dtype: DType) -> np.generic:
    """Convert a number to the NumPy type in which kernels compute for a dtype."""
    return cast(np.generic, computed(dtype).numpy.type(value))

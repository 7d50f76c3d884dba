"""From tensors to the views that kernels run over, and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

import numpy as np

from mt_cuda.core.backend import CudaOps
from mt_cuda.core.kernel import Kernel, computed
from mt_tensor import DType, Tensor, TensorData
from mt_tensor.extending import Shape


def ops_of(tensor: Tensor) -> CudaOps:
    """Return the backend of a tensor, which is one of this package's."""
    return cast(CudaOps, tensor.backend)


def elements_of(tensor: Tensor) -> TensorData:
    """Return the elements as a contiguous view: the tensor's own, if it is contiguous."""
    data = tensor._tensor
    layout = data.layout
    return data if layout.row_major else tensor.backend.copy(data, layout.contiguous)


def tensor_of(data: TensorData, like: Tensor) -> Tensor:
    """Return a new view as a tensor on the backend of another."""
    return Tensor._make(data, like.backend)


def new(like: Tensor, shape: Shape | None = None, dtype: DType | None = None) -> TensorData:
    """Return new memory on the backend of a tensor; its shape and type, or those that are given."""
    return like.backend.empty(like.shape if shape is None else shape, dtype or like.dtype)


def new_in_order(like: Tensor, shape: Shape) -> TensorData:
    """Return new memory for elements of another shape, that lie in the order of a tensor's."""
    steps = like._tensor.strides
    strides, size = [0] * len(shape), 1
    for dim in sorted(range(len(shape)), key=lambda d: (abs(steps[d]), -d)):
        strides[dim], size = size, size * shape[dim]
    whole = like.backend.empty((size,), like.dtype)
    return TensorData(whole.storage, shape, tuple(strides), dtype=like.dtype)


def numbers_of(kernel: Kernel, values: Mapping[str, int]) -> tuple[int, ...]:
    """Return the whole numbers that a kernel takes, in the order of its parameters."""
    return tuple(
        values[parameter.name]
        for parameter in kernel.parameters
        if parameter.name in values and parameter.passed == "value"
    )


def is_floating(*tensors: Tensor | None) -> bool:
    """Whether the tensors that are there have elements, and these are floating-point numbers."""
    return all(x.numel() and x.dtype.is_floating_point for x in tensors if x is not None)


def number_of(value: float, dtype: DType) -> np.generic:
    """Return a number as it is passed to kernels on elements of a type: in what they compute in."""
    return cast(np.generic, computed(dtype).numpy.type(value))

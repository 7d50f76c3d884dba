"""Linear algebra under the names of `torch.linalg`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mt_tensor.products import vectors
from mt_tensor.products.matmul import matmul
from mt_tensor.products.vectors import matrix_power, multi_dot

if TYPE_CHECKING:
    from mt_tensor.tensor_base import TensorBase
    from mt_tensor.tensors import Tensor

__all__ = ["cross", "matmul", "matrix_power", "multi_dot"]


def cross(input: TensorBase, other: TensorBase, *, dim: int = -1) -> Tensor:
    """Return the cross products of vectors along `dim`, by default the last dimension.

    Raises:
        ShapeError: the numbers of dimensions differ, or `dim` has not the extent 3.
        IndexingError: the other dimensions do not broadcast, or there is no such dimension.
    """
    return vectors.cross(input, other, dim)

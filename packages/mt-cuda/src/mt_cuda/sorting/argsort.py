"""The order of elements along a dimension: one launch where it is short."""

from __future__ import annotations

from mt_cuda.rows.kernels import RowLayout, rows_along
from mt_cuda.sorting.sorting import sort_rows
from mt_cuda.tensors import elements_of, new, ops_of, tensor_of
from mt_tensor import Tensor, int64


def argsort(x: Tensor, dim: int, descending: bool) -> Tensor:
    """Return the indices that sort along a dimension; equal elements keep their order."""
    out = new(x, dtype=int64)
    if x.numel():
        layout = rows_along(x.shape, dim) if x.ndim else RowLayout(1, 1)
        sort_rows(ops_of(x), elements_of(x), layout, out, descending)
    return tensor_of(out, x)


ARGSORT = argsort

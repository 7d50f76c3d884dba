"""Where elements are that are not zero, and with it what masks select."""

from __future__ import annotations

from mt_cuda.sorting.compaction import nonzero
from mt_cuda.tensors import elements_of, ops_of, tensor_of
from mt_tensor import Tensor


def places(x: Tensor) -> Tensor:
    """Return a row of coordinates for each dimension; a number is a vector of one."""
    data = elements_of(x)
    return tensor_of(nonzero(ops_of(x), data if x.ndim else data.like((1,), (1,), data.offset)), x)


NONZERO = places

"""Products as methods of `Tensor`: `x.mm(y)` is `mm(x, y)`."""

from __future__ import annotations

from typing import Any

from mt_tensor.pointwise.beside_arrays import refused_on_the_left
from mt_tensor.products import added, distances, vectors
from mt_tensor.products import matmul as matrices
from mt_tensor.tensor import Tensor


class ProductMethods(Tensor):
    """The functions of several modules, whose first argument is the tensor itself."""

    __slots__ = ()

    addbmm = added.addbmm
    addmm = added.addmm
    addmv = added.addmv
    addr = added.addr
    baddbmm = added.baddbmm

    bmm = vectors.bmm
    cross = vectors.cross
    dot = vectors.dot
    ger = vectors.outer
    inner = vectors.inner
    kron = vectors.kron
    mm = vectors.mm
    mv = vectors.mv
    outer = vectors.outer
    trace = vectors.trace
    vdot = vectors.vdot

    matmul = matrices.matmul

    dist = distances.dist

    def __matmul__(self, other: Tensor) -> Tensor:
        if not isinstance(other, Tensor):
            return NotImplemented
        return matrices.matmul(self, other)

    def __rmatmul__(self, other: Any) -> Tensor:
        raise refused_on_the_left("matmul")

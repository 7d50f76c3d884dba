"""Linear algebra as methods of `Tensor`: `x.det()` is `det(x)`."""

from __future__ import annotations

from mt_tensor.linalg import products, systems
from mt_tensor.tensor import Tensor


class LinalgMethods(Tensor):
    """The functions that torch has beside those of `torch.linalg`."""

    __slots__ = ()

    matrix_power = products.matrix_power

    det = systems.det
    inverse = systems.inverse
    logdet = systems.logdet
    pinverse = systems.pinverse
    slogdet = systems.slogdet

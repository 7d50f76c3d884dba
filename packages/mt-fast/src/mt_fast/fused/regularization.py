"""Dropout in one pass each way: the mask is recomputed from the noise and never stored."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mt_fast.core.kernel import Kernel
from mt_fast.memory.aligned import empty_like
from mt_fast.memory.arrays import array_of, is_compiled, shared, tensor_of
from mt_tensor import Tensor
from mt_tensor.extending import FusedKernel


def _dropout(lo: Any, hi: Any, x: Any, noise: Any, p: Any, out: Any) -> None:
    """Write the elements whose noise is at least `p`, scaled, and zeros for the others."""
    values, noises, results = x[lo:hi], noise[lo:hi], out[lo:hi]
    limit, zero, scale = np.float32(p), x.dtype.type(0), x.dtype.type(1.0 / (1.0 - p))
    for i in range(values.size):
        results[i] = values[i] * (scale if noises[i] >= limit else zero)


_KERNEL = Kernel.of(_dropout)


class _Dropout(FusedKernel):
    """Elements, the noise, and how likely an element is left out."""

    reads = (1,)

    def fits(self, *arguments: Any) -> bool:
        """Leave nothing and float16 to the composition."""
        return is_compiled(arguments[0])

    def value(self, needs: Sequence[bool], *arguments: Any) -> tuple[Tensor, tuple[Any, ...]]:
        """Return what is left."""
        x, noise, p = arguments
        return _left(x, noise, p), ()

    def gradient(
        self, grad: Tensor, saved: tuple[Any, ...], needs: Sequence[bool], *arguments: Any
    ) -> Sequence[Tensor | None]:
        """Return the gradient of what was left, and zeros for the others."""
        _, noise, p = arguments
        return _left(grad, noise, p), None, None


def _left(x: Tensor, noise: Tensor, p: float) -> Tensor:
    array = array_of(x)
    out = empty_like(array)
    rows = [each.reshape(-1) for each in (array, array_of(noise))]
    _KERNEL.run(out.size, shared(out.size, x), *rows, p, out.reshape(-1))
    return tensor_of(out, x)


DROPOUT = _Dropout()

"""Pad images by reflection, replication or wrapping, in one pass forward and one backward.

The composition concatenates slices along each dimension, and its gradient adds them up one by one.
Here index arrays list the source of each row and column; all but the padding are consecutive.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mt_fast.core.kernel import Kernel
from mt_fast.memory.arrays import array_of, is_compiled, shared, tensor_of
from mt_tensor import Tensor
from mt_tensor.extending import Array, FusedKernel, Gradients, Needs, Saved

NUMPY_MODES: dict[str, Any] = {"reflect": "reflect", "replicate": "edge", "circular": "wrap"}
"""The names of the modes in NumPy."""

# --- Kernels: units are images, arrays of shape (images, height, width) -------------------------


def _pad(lo: Any, hi: Any, x: Any, rows: Any, columns: Any, before: Any, out: Any) -> None:
    """Write the padded images.

    Args:
        lo: the first image.
        hi: the image after the last.
        x: images.
        rows: the source row of each row.
        columns: the source column of each column.
        before: the number of columns added before the first.
        out: the padded images.
    """
    for i in range(lo, hi):
        for y in range(rows.size):
            source, target = x[i, rows[y]], out[i, y]
            for j in range(source.size):
                target[before + j] = source[j]
            for j in range(before):
                target[j] = source[columns[j]]
            for j in range(before + source.size, target.size):
                target[j] = source[columns[j]]


def _pad_gradient(
    lo: Any, hi: Any, grad: Any, rows: Any, columns: Any, before: Any, out: Any
) -> None:
    """Add up the gradients of all copies of each element."""
    zero = out.dtype.type(0)
    for i in range(lo, hi):
        image = out[i]
        for y in range(len(image)):
            image[y, :] = zero
        for y in range(rows.size):
            upstream, target = grad[i, y], image[rows[y]]
            for j in range(target.size):
                target[j] += upstream[before + j]
            for j in range(before):
                target[columns[j]] += upstream[j]
            for j in range(before + target.size, upstream.size):
                target[columns[j]] += upstream[j]


_FORWARD, _BACKWARD = Kernel.of(_pad), Kernel.of(_pad_gradient)

# --- The operation on tensors -------------------------------------------------------------------


class _Pad(FusedKernel):
    """Padding: images, the amounts before and after the last dimensions, the mode."""

    reads = ()

    def fits(self, *arguments: Any) -> bool:
        """Require one or two padded dimensions without cropping, and float32 or float64."""
        x, amounts, _ = arguments
        return is_compiled(x) and len(amounts) <= 4 and min(amounts) >= 0

    def value(self, needs: Needs, *arguments: Any) -> tuple[Tensor, Saved]:
        """Return the padded images; saved are the source rows and columns, and the input shape."""
        x, amounts, mode = arguments
        padded = len(amounts) // 2
        height, width = (1, *x.shape[x.ndim - padded :])[-2:]  # one row if one dimension is padded
        rows, columns = _sources(height, amounts[2:], mode), _sources(width, amounts[:2], mode)
        images = array_of(x).reshape(-1, height, width)
        out = np.empty((len(images), rows.size, columns.size), images.dtype)
        operands = images, rows, columns, amounts[0]
        _FORWARD.run(len(images), shared(out.size, x), *operands, out)
        ends = (rows.size, columns.size)[2 - padded :]
        result = tensor_of(out.reshape(*x.shape[: x.ndim - padded], *ends), x)
        return result, (rows, columns, images.shape)

    def gradient(self, grad: Tensor, saved: Saved, needs: Needs, *arguments: Any) -> Gradients:
        """Return the gradient of the images."""
        (x, amounts, _), (rows, columns, shape) = arguments, saved
        upstream = array_of(grad).reshape(-1, rows.size, columns.size)
        out = np.empty(shape, upstream.dtype)
        operands = upstream, rows, columns, amounts[0]
        _BACKWARD.run(len(out), shared(upstream.size, x), *operands, out)
        return tensor_of(out.reshape(x.shape), x), None, None


def _sources(length: int, amounts: Sequence[int], mode: str) -> Array:
    """Return the source of each row or column; without amounts nothing is added."""
    return np.pad(np.arange(length), amounts or (0, 0), NUMPY_MODES[mode])


PAD = _Pad()

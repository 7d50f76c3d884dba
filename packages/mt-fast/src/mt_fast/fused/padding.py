"""Pad images by reflection, replication or wrapping, in one pass forward and one backward.

The composition joins slices dimension by dimension, and its gradient adds each of them up. Here the
places are listed that rows and columns come from, of which all but the outermost are in order.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mt_fast.core.kernel import Kernel
from mt_fast.memory.arrays import array_of, is_compiled, shared, tensor_of
from mt_tensor import Tensor
from mt_tensor.extending import Array, FusedKernel, Gradients, Needs, Saved

NUMPYS = {"reflect": "reflect", "replicate": "edge", "circular": "wrap"}
"""What NumPy calls the modes."""

# --- Kernels: units are images, arrays of shape (images, height, width) -------------------------


def _pad(lo: Any, hi: Any, x: Any, rows: Any, columns: Any, before: Any, out: Any) -> None:
    """Write images with rows and columns of their own around them.

    Args:
        lo: the first image.
        hi: the image after the last.
        x: images.
        rows: from which row each row comes.
        columns: from which column each column comes.
        before: how many columns are added before the first.
        out: what is written.
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
    """Add up the gradients of all places that an element was written to."""
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
    """Images, how much is added before and after each of the last dimensions, and the mode."""

    reads = ()

    def fits(self, *arguments: Any) -> bool:
        """Leave nothing, float16, volumes and what crops to the composition."""
        x, amounts, _ = arguments
        return is_compiled(x) and len(amounts) <= 4 and min(amounts) >= 0

    def value(self, needs: Needs, *arguments: Any) -> tuple[Tensor, Saved]:
        """Return the padded images; saved is from where they came, and what shape they had."""
        x, amounts, mode = arguments
        padded = len(amounts) // 2
        height, width = (1, *x.shape[x.ndim - padded :])[-2:]  # one row if one dimension is padded
        rows, columns = _places(height, amounts[2:], mode), _places(width, amounts[:2], mode)
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


def _places(length: int, amounts: Sequence[int], mode: str) -> Array:
    """Return from where each row, or column, comes; no amounts add nothing."""
    places: Array = np.pad(np.arange(length), amounts or (0, 0), NUMPYS[mode])  # type: ignore[call-overload]
    return places


PAD = _Pad()

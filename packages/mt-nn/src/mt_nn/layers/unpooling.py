"""Unpooling: the largest elements laid back to where they were."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from mt_nn.core.module import Module
from mt_nn.core.settings import Sizes, integers
from mt_nn.core.windows import as_batch
from mt_nn.errors import InputError, SettingError
from mt_nn.layers.dimensions import over_dimensions
from mt_tensor import Tensor, int64, zeros


def max_unpool(
    dims: int,
    input: Tensor,
    indices: Tensor,
    kernel_size: Sizes,
    stride: Sizes | None = None,
    padding: Sizes = 0,
    output_size: Sequence[int] | None = None,
) -> Tensor:
    """Undo the pooling to the largest elements, with zeros for what it left out.

    Args:
        dims: 1 in `max_unpool1d`, 2 in `max_unpool2d`, 3 in `max_unpool3d`: how many sizes there
            are.
        input: what the pooling returned, shape (batch, channels, *sizes), or without the batch.
        indices: where in the flattened images it came from, int64 of the same shape. Which of
            several elements for one place remains is open.
        kernel_size: that of the pooling, as are the next two.
        stride: how far apart windows were; the kernel's size if None.
        padding: how much was added on each side.
        output_size: the sizes of what was pooled, perhaps after batch and channels; None for
            `(size - 1) stride - 2 padding + kernel`, from which it is less than the stride away.

    Returns:
        Shape (batch, channels, *output_size).

    Raises:
        InputError: the shapes do not fit, or the indices are not int64.
        SettingError: an invalid setting.
        IndexingError: an index lies outside of the images.
    """
    name = f"max_unpool{dims}d"
    batch = as_batch(name, input, dims)
    if indices.shape != input.shape or indices.dtype is not int64:
        raise InputError(
            f"{name}() takes indices of the shape {input.shape} of its input and of int64; shape "
            f"{indices.shape} and {indices.dtype.name} were given."
        )
    kernel = integers("kernel_size", kernel_size, dims, 1)
    steps = kernel if stride is None else integers("stride", stride, dims, 1)
    margins = integers("padding", padding, dims, 0)
    every = zip(batch.shape[2:], kernel, steps, margins, strict=True)
    size = tuple((extent - 1) * step + k - 2 * margin for extent, k, step, margin in every)
    if output_size is not None:
        size = _chosen(output_size, size, steps)
    if min(size) < 0:
        raise SettingError(f"{name}() with padding {margins} would leave extents of {size}.")
    n, channels = batch.shape[:2]
    empty = zeros(n, channels, math.prod(size), dtype=batch.dtype, backend=batch.backend)
    places = indices.reshape(n, channels, math.prod(batch.shape[2:]))
    out = empty.scatter(2, places, batch.flatten(2)).unflatten(2, size)
    return out.squeeze(0) if input.ndim == dims + 1 else out


max_unpool1d, max_unpool2d, max_unpool3d = over_dimensions(max_unpool)


def _chosen(output_size: Any, usual: tuple[int, ...], stride: tuple[int, ...]) -> tuple[int, ...]:
    """Return the size of an output that is given, if it is less than the stride from the usual."""
    given = tuple(output_size) if isinstance(output_size, Sequence) else (output_size,)
    if len(given) not in (len(usual), len(usual) + 2):
        raise SettingError(f"output_size must have {len(usual)} extents; got {output_size}.")
    size = integers("output_size", given[-len(usual) :], len(usual), 0)
    if any(abs(e - u) >= step for e, u, step in zip(size, usual, stride, strict=True)):
        raise SettingError(
            f"output_size {size} must be less than the stride {stride} away from {usual} in each "
            "dimension."
        )
    return size


# --- Layers ---------------------------------------------------------------------------------------


class _MaxUnpool(Module):
    """What the ways back share: the settings of the pooling."""

    dims: ClassVar[int]
    function: ClassVar[Callable[..., Tensor]]

    def __init__(self, kernel_size: Sizes, stride: Sizes | None = None, padding: Sizes = 0) -> None:
        super().__init__()
        self.kernel_size = integers("kernel_size", kernel_size, self.dims, 1)
        self.stride = integers("stride", kernel_size if stride is None else stride, self.dims, 1)
        self.padding = integers("padding", padding, self.dims, 0)

    def forward(
        self, input: Tensor, indices: Tensor, output_size: Sequence[int] | None = None
    ) -> Tensor:
        """Return shape (batch, channels, *sizes), from what the pooling returned."""
        return self.function(
            input, indices, self.kernel_size, self.stride, self.padding, output_size
        )

    def extra_repr(self) -> str:
        """Show the settings."""
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class MaxUnpool1d(_MaxUnpool):
    """Undoes `MaxPool1d`; see `MaxUnpool2d`."""

    dims = 1
    function = staticmethod(max_unpool1d)


class MaxUnpool2d(_MaxUnpool):
    """Undoes `MaxPool2d` with zeros for what it left out; see `mt_nn.functional.max_unpool2d`."""

    dims = 2
    function = staticmethod(max_unpool2d)


class MaxUnpool3d(_MaxUnpool):
    """Undoes `MaxPool3d`; see `MaxUnpool2d`."""

    dims = 3
    function = staticmethod(max_unpool3d)

"""Layers that undo pooling: what was left out is zero."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar

from mt_nn.core.module import Module
from mt_nn.core.settings import Sizes, integers
from mt_nn.functional.unpooling import max_unpool1d, max_unpool2d, max_unpool3d
from mt_tensor import Tensor


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

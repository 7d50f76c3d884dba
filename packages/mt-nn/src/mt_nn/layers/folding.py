"""Windows of images as columns of a matrix, and back."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from mt_nn import functional
from mt_nn.core.settings import Sizes
from mt_nn.layers.function import FunctionLayer
from mt_tensor import Tensor


class Unfold(FunctionLayer):
    """All windows of images, each as a column; see `mt_nn.functional.unfold`."""

    shown = ("kernel_size", "dilation", "padding", "stride")

    function: ClassVar[Callable[..., Tensor]] = staticmethod(functional.unfold)

    def __init__(
        self, kernel_size: Sizes, dilation: Sizes = 1, padding: Sizes = 0, stride: Sizes = 1
    ) -> None:
        super().__init__()
        self.kernel_size, self.dilation = kernel_size, dilation
        self.padding, self.stride = padding, stride


class Fold(Unfold):
    """Windows laid back to where `Unfold` took them from; see `mt_nn.functional.fold`."""

    function = staticmethod(functional.fold)

    def __init__(
        self,
        output_size: Sizes,
        kernel_size: Sizes,
        dilation: Sizes = 1,
        padding: Sizes = 0,
        stride: Sizes = 1,
    ) -> None:
        super().__init__(kernel_size, dilation, padding, stride)
        self.output_size = output_size

    def extra_repr(self) -> str:
        """Show the settings."""
        return f"output_size={self.output_size}, {super().extra_repr()}"

"""Max pooling in windows that are drawn at random."""

from __future__ import annotations

from typing import Any, ClassVar

from mt_nn import functional
from mt_nn.core.module import Module
from mt_nn.core.settings import Sizes, integers
from mt_nn.functional.fractional_pooling import Ratios, check_ratio
from mt_tensor import Tensor


class _FractionalMaxPool(Module):
    """What both share: their settings.

    Args:
        kernel_size: the sizes of the windows.
        output_size: the sizes of the output; or else
        output_ratio: these as parts of the input's, above 0 and below 1.
        return_indices: whether to return where the elements were, too.
        _random_samples: the random numbers to use; drawn at each call if None.
    """

    dims: ClassVar[int]

    def __init__(
        self,
        kernel_size: Sizes,
        output_size: Sizes | None = None,
        output_ratio: Ratios | None = None,
        return_indices: bool = False,
        _random_samples: Tensor | None = None,
    ) -> None:
        super().__init__()
        check_ratio(type(self).__name__, self.dims, output_size, output_ratio)
        self.kernel_size = integers("kernel_size", kernel_size, self.dims, 1)
        self.output_size, self.output_ratio = output_size, output_ratio
        if output_size is not None:
            self.output_size = integers("output_size", output_size, self.dims, 1)
        self.return_indices = return_indices
        self.register_buffer("_random_samples", _random_samples)

    def forward(self, input: Tensor) -> Any:
        """Return shape (batch, channels, *output_size), and where the elements were."""
        pool = getattr(functional, f"fractional_max_pool{self.dims}d")
        settings = (self.output_size, self.output_ratio, self.return_indices)
        return pool(input, self.kernel_size, *settings, self._random_samples)

    def extra_repr(self) -> str:
        """Show the settings."""
        size = f"output_size={self.output_size}"
        if self.output_size is None:
            size = f"output_ratio={self.output_ratio}"
        return f"kernel_size={self.kernel_size}, {size}"


class FractionalMaxPool2d(_FractionalMaxPool):
    """The largest elements of windows of images; see `mt_nn.functional.fractional_max_pool2d`."""

    dims = 2


class FractionalMaxPool3d(_FractionalMaxPool):
    """The largest elements of windows of volumes; see `mt_nn.functional.fractional_max_pool3d`."""

    dims = 3

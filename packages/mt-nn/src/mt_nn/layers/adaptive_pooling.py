"""Pooling to outputs of a given size, whatever the input's; to a size of 1, it is global."""

from __future__ import annotations

from mt_nn import functional
from mt_nn.functional.adaptive_pooling import OutputSize
from mt_nn.layers.function import FunctionLayer


class _AdaptiveAvgPool(FunctionLayer):
    """What the means share: the size of the output; None, in it or for it, for the input's."""

    shown = ("output_size",)

    def __init__(self, output_size: OutputSize) -> None:
        super().__init__()
        self.output_size = output_size


class AdaptiveAvgPool1d(_AdaptiveAvgPool):
    """The mean of each of so many parts of signals; see `AdaptiveAvgPool2d`."""

    function = staticmethod(functional.adaptive_avg_pool1d)


class AdaptiveAvgPool2d(_AdaptiveAvgPool):
    """The mean of each of so many parts; see `mt_nn.functional.adaptive_avg_pool2d`."""

    function = staticmethod(functional.adaptive_avg_pool2d)


class AdaptiveAvgPool3d(_AdaptiveAvgPool):
    """The mean of each of so many parts of volumes; see `AdaptiveAvgPool2d`."""

    function = staticmethod(functional.adaptive_avg_pool3d)


class _AdaptiveMaxPool(FunctionLayer):
    """What the largest elements share: the size of the output, and whether places are wanted."""

    shown = ("output_size",)

    def __init__(self, output_size: OutputSize, return_indices: bool = False) -> None:
        super().__init__()
        self.output_size, self.return_indices = output_size, return_indices


class AdaptiveMaxPool1d(_AdaptiveMaxPool):
    """The largest element of each of so many parts of signals; see `AdaptiveMaxPool2d`."""

    function = staticmethod(functional.adaptive_max_pool1d)


class AdaptiveMaxPool2d(_AdaptiveMaxPool):
    """The largest element of each of so many parts; see `mt_nn.functional.adaptive_max_pool2d`."""

    function = staticmethod(functional.adaptive_max_pool2d)


class AdaptiveMaxPool3d(_AdaptiveMaxPool):
    """The largest element of each of so many parts of volumes; see `AdaptiveMaxPool2d`."""

    function = staticmethod(functional.adaptive_max_pool3d)

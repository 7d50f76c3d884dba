"""A residual network of nine layers, small enough to be trained without a GPU.

After D. Page, "How to train your ResNet" (2018): convolutions with batch normalization, two of the
blocks with a shortcut (He et al. 2016).
"""

from __future__ import annotations

from mt_nn.core.activation import ReLU
from mt_nn.core.containers import Sequential
from mt_nn.core.convolution import Conv2d
from mt_nn.core.linear import Flatten, Linear
from mt_nn.core.module import Module
from mt_nn.core.pooling import MaxPool2d
from mt_nn.layers.adaptive_pooling import AdaptiveMaxPool2d
from mt_nn.layers.normalization import BatchNorm2d
from mt_tensor import Tensor


class ResNet9(Module):
    """Eight convolutions and a linear layer.

    Args:
        channels: channels of the images; height and width may be any from 8 on.
        classes: how many classes there are.
        width: channels after the first convolution; the last ones have eight times as many. Page's
            network has 64; with half as many it takes a quarter of the time.
    """

    def __init__(self, channels: int = 3, classes: int = 10, width: int = 32) -> None:
        super().__init__()
        self.features = Sequential(
            _convolution(channels, width),
            _convolution(width, 2 * width, pool=True),
            _Residual(2 * width),
            _convolution(2 * width, 4 * width, pool=True),
            _convolution(4 * width, 8 * width, pool=True),
            _Residual(8 * width),
        )
        self.classifier = Sequential(
            AdaptiveMaxPool2d(1), Flatten(), Linear(8 * width, classes, bias=False)
        )

    def forward(self, images: Tensor) -> Tensor:
        """Return scores, (batch, classes), for images of shape (batch, channels, height, width)."""
        scores: Tensor = self.classifier(self.features(images)) / 8
        return scores


class _Residual(Module):
    """Two convolutions, whose result is added to what they were given."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.change = Sequential(_convolution(channels, channels), _convolution(channels, channels))

    def forward(self, images: Tensor) -> Tensor:
        changed: Tensor = images + self.change(images)
        return changed


def _convolution(inputs: int, outputs: int, pool: bool = False) -> Sequential:
    layers = [Conv2d(inputs, outputs, 3, padding=1, bias=False), BatchNorm2d(outputs), ReLU()]
    return Sequential(*layers, *([MaxPool2d(2)] if pool else []))

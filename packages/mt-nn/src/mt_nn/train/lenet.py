"""A small convolutional network for images of digits, after LeCun et al. 1998."""

from __future__ import annotations

from mt_nn.core.containers import Sequential
from mt_nn.core.convolution_layers import Conv2d
from mt_nn.core.dropout_layers import Dropout
from mt_nn.core.linear_layers import Flatten, Linear
from mt_nn.core.module import Module
from mt_nn.core.pooling_layers import MaxPool2d
from mt_nn.layers.activation import ReLU
from mt_tensor import Tensor


class LeNet(Module):
    """Two convolutions, each followed by relu and the second by pooling, and two linear layers.

    Args:
        image_size: height and width of the images.
        classes: how many classes there are.
        channels: channels after the first and the second convolution.
        hidden: features between the linear layers.
        dropout: the share of these that is left out in training.
    """

    def __init__(
        self,
        image_size: int = 8,
        classes: int = 10,
        channels: tuple[int, int] = (8, 16),
        hidden: int = 64,
        dropout: float = 0.25,
    ) -> None:
        super().__init__()
        pool = 2 if image_size <= 16 else 4
        side = image_size // pool
        self.features = Sequential(
            Conv2d(1, channels[0], 3, padding=1),
            ReLU(),
            Conv2d(channels[0], channels[1], 3, padding=1),
            ReLU(),
            MaxPool2d(pool),
            Flatten(),
        )
        self.classifier = Sequential(
            Linear(channels[1] * side * side, hidden),
            ReLU(),
            Dropout(dropout),
            Linear(hidden, classes),
        )

    def forward(self, images: Tensor) -> Tensor:
        """Return the score of each class, (batch, classes), for images (batch, 1, size, size)."""
        scores: Tensor = self.classifier(self.features(images))
        return scores

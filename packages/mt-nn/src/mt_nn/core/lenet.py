"""LeNet, a small convolutional network for images of digits (LeCun et al. 1998).

loader = DataLoader(TensorDataset(images, labels), batch_size=64, shuffle=True)
model = LeNet()
train(model, loader, Adam(model.parameters()), epochs=10)
print(evaluate(model, test_images, test_labels))
"""

from __future__ import annotations

from mt_autodiff import no_grad
from mt_nn.core.activation import ReLU
from mt_nn.core.containers import Sequential
from mt_nn.core.convolution import Conv2d
from mt_nn.core.dropout import Dropout
from mt_nn.core.linear import Flatten, Linear
from mt_nn.core.loader import DataLoader
from mt_nn.core.losses import accuracy, cross_entropy
from mt_nn.core.module import Module
from mt_nn.core.optimizer import Optimizer
from mt_nn.core.pooling import MaxPool2d
from mt_tensor import Tensor


class LeNet(Module):
    """Two convolutions with relu, max pooling, and two linear layers with dropout between them.

    Args:
        image_size: height and width of the images.
        classes: the number of classes.
        channels: the number of channels after the first and the second convolution.
        hidden: the number of features between the linear layers.
        dropout: the dropout probability of these features.
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
        """Return scores of shape (batch, classes) for images of shape (batch, 1, size, size)."""
        scores: Tensor = self.classifier(self.features(images))
        return scores


def train(model: Module, loader: DataLoader, optimizer: Optimizer, epochs: int) -> None:
    """Train a classifier on batches of inputs and classes."""
    model.train()
    for _ in range(epochs):
        for inputs, classes in loader:
            optimizer.zero_grad()
            cross_entropy(model(inputs), classes).backward()
            optimizer.step()


def evaluate(model: Module, inputs: Tensor, classes: Tensor) -> float:
    """Return the accuracy of a classifier."""
    model.eval()
    with no_grad():
        return accuracy(model(inputs), classes)

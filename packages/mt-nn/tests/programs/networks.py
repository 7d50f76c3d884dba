"""Small networks, built from the layers of the module `nn`: torch.nn or mt_nn."""

from typing import Any


def lenet(nn: Any) -> Any:
    """Return a network of two convolutions and two linear layers for 8 x 8 images."""
    return nn.Sequential(
        nn.Conv2d(1, 4, 3, padding=1),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(4, 8, 3, padding=1),
        nn.ReLU(),
        nn.Flatten(),
        nn.Linear(128, 16),
        nn.ReLU(),
        nn.Linear(16, 5),
    )


def normalized(nn: Any) -> Any:
    """Return a network with a convolution, batch normalization and a linear layer."""
    return nn.Sequential(
        nn.Conv2d(1, 4, 3, padding=1),
        nn.BatchNorm2d(4),
        nn.ReLU(),
        nn.Flatten(),
        nn.Linear(256, 5),
    )


def transformer(nn: Any) -> Any:
    """Return a network with a transformer encoder layer over the rows of an image."""
    return nn.Sequential(
        nn.Flatten(1, 2),
        nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True),
        nn.Flatten(),
        nn.Linear(64, 5),
    )


NETWORKS = {"lenet": lenet, "normalized": normalized, "transformer": transformer}

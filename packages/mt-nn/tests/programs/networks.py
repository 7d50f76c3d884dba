"""Small networks that are written for torch and for mt_nn alike: functions of the module `nn`."""

from typing import Any


def lenet(nn: Any) -> Any:
    """Return two convolutions and two linear maps, for images of 8 x 8 points."""
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
    """Return the same with batch normalization."""
    return nn.Sequential(
        nn.Conv2d(1, 4, 3, padding=1),
        nn.BatchNorm2d(4),
        nn.ReLU(),
        nn.Flatten(),
        nn.Linear(256, 5),
    )


def transformer(nn: Any) -> Any:
    """Return a layer of attention over the rows of an image."""
    return nn.Sequential(
        nn.Flatten(1, 2),
        nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True),
        nn.Flatten(),
        nn.Linear(64, 5),
    )


NETWORKS = {"lenet": lenet, "normalized": normalized, "transformer": transformer}

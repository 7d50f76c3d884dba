"""Stage 5: networks, from layers and losses to data and training.

The names are torch's. Everything is composed from the operations of mt-tensor, and is fast where
the backend offers a kernel for it.
"""

from typing import TYPE_CHECKING, Any

from mt_nn import data, functional, init, optim
from mt_nn.errors import (
    FileError,
    InputError,
    MissingPackageError,
    NetworkError,
    SettingError,
)
from mt_nn.layers.activation import ReLU, Sigmoid, Tanh
from mt_nn.layers.containers import Sequential
from mt_nn.layers.convolution import Conv2d
from mt_nn.layers.dropout import Dropout
from mt_nn.layers.linear import Flatten, Linear
from mt_nn.layers.loss import CrossEntropyLoss, MSELoss
from mt_nn.layers.pooling import AvgPool2d, MaxPool2d
from mt_nn.module import Module
from mt_nn.parameter import Parameter
from mt_nn.saving import load, save
from mt_operators import Buffer, StateDictError

if TYPE_CHECKING:
    from mt_nn.inspection import summary
    from mt_nn.profiling import profile
    from mt_nn.saving.checkpoint import load_checkpoint, save_checkpoint
    from mt_nn.saving.folder import Checkpoints

__version__ = "0.1.0"

__all__ = [
    "AvgPool2d",
    "Buffer",
    "Checkpoints",
    "Conv2d",
    "CrossEntropyLoss",
    "Dropout",
    "FileError",
    "Flatten",
    "InputError",
    "Linear",
    "MSELoss",
    "MaxPool2d",
    "MissingPackageError",
    "Module",
    "NetworkError",
    "Parameter",
    "ReLU",
    "Sequential",
    "SettingError",
    "Sigmoid",
    "StateDictError",
    "Tanh",
    "__version__",
    "data",
    "functional",
    "init",
    "load",
    "load_checkpoint",
    "optim",
    "profile",
    "save",
    "save_checkpoint",
    "summary",
]

_HOME = {
    "Checkpoints": "saving.folder",
    "load_checkpoint": "saving.checkpoint",
    "profile": "profiling",
    "save_checkpoint": "saving.checkpoint",
    "summary": "inspection",
}
"""Where those lie that most programs do without, and that are imported when they are asked for."""


def __getattr__(name: str) -> Any:
    """Import what is asked for, when it is asked for."""
    if name not in _HOME:
        raise AttributeError(f"module 'mt_nn' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"mt_nn.{_HOME[name]}"), name)

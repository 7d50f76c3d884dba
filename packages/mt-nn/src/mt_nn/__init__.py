"""Stage 5: networks, from layers and losses to data and training.

The names are torch's. Everything is composed from the operations of mt-tensor, and is fast where
the backend offers a kernel for it.
"""

from mt_nn import data, functional, init, optim, utils
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
from mt_nn.layers.loss import (
    BCELoss,
    BCEWithLogitsLoss,
    CosineEmbeddingLoss,
    CrossEntropyLoss,
    CTCLoss,
    GaussianNLLLoss,
    HingeEmbeddingLoss,
    HuberLoss,
    KLDivLoss,
    L1Loss,
    MarginRankingLoss,
    MSELoss,
    MultiLabelMarginLoss,
    MultiLabelSoftMarginLoss,
    MultiMarginLoss,
    NLLLoss,
    PoissonNLLLoss,
    SmoothL1Loss,
    SoftMarginLoss,
    TripletMarginLoss,
    TripletMarginWithDistanceLoss,
)
from mt_nn.layers.pooling import AvgPool2d, MaxPool2d
from mt_nn.module import Module
from mt_nn.parameter import Parameter
from mt_nn.saving import load, save
from mt_operators import Buffer, StateDictError

__version__ = "0.1.0"

__all__ = [
    "AvgPool2d",
    "BCELoss",
    "BCEWithLogitsLoss",
    "Buffer",
    "CTCLoss",
    "Conv2d",
    "CosineEmbeddingLoss",
    "CrossEntropyLoss",
    "Dropout",
    "FileError",
    "Flatten",
    "GaussianNLLLoss",
    "HingeEmbeddingLoss",
    "HuberLoss",
    "InputError",
    "KLDivLoss",
    "L1Loss",
    "Linear",
    "MSELoss",
    "MarginRankingLoss",
    "MaxPool2d",
    "MissingPackageError",
    "Module",
    "MultiLabelMarginLoss",
    "MultiLabelSoftMarginLoss",
    "MultiMarginLoss",
    "NLLLoss",
    "NetworkError",
    "Parameter",
    "PoissonNLLLoss",
    "ReLU",
    "Sequential",
    "SettingError",
    "Sigmoid",
    "SmoothL1Loss",
    "SoftMarginLoss",
    "StateDictError",
    "Tanh",
    "TripletMarginLoss",
    "TripletMarginWithDistanceLoss",
    "__version__",
    "data",
    "functional",
    "init",
    "load",
    "optim",
    "save",
    "utils",
]

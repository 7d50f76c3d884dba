"""Stage 5: networks, from layers and losses to data and training.

The names are torch's. Everything is composed from the operations of mt-tensor, and is fast where
the backend offers a kernel for it.
"""

from mt_nn import course, data, functional, init, optim
from mt_nn.errors import (
    FileError,
    InputError,
    MissingPackageError,
    NetworkError,
    SettingError,
)
from mt_nn.layers.activation import ReLU, Sigmoid, Tanh
from mt_nn.layers.adaptive_pooling import (
    AdaptiveAvgPool1d,
    AdaptiveAvgPool2d,
    AdaptiveAvgPool3d,
    AdaptiveMaxPool1d,
    AdaptiveMaxPool2d,
    AdaptiveMaxPool3d,
)
from mt_nn.layers.containers import Sequential
from mt_nn.layers.convolution import (
    Conv1d,
    Conv2d,
    Conv3d,
    ConvTranspose1d,
    ConvTranspose2d,
    ConvTranspose3d,
)
from mt_nn.layers.distance import CosineSimilarity, PairwiseDistance
from mt_nn.layers.dropout import Dropout
from mt_nn.layers.folding import Fold, Unfold
from mt_nn.layers.linear import Flatten, Linear
from mt_nn.layers.loss import CrossEntropyLoss, MSELoss
from mt_nn.layers.padding import (
    CircularPad1d,
    CircularPad2d,
    CircularPad3d,
    ConstantPad1d,
    ConstantPad2d,
    ConstantPad3d,
    ReflectionPad1d,
    ReflectionPad2d,
    ReflectionPad3d,
    ReplicationPad1d,
    ReplicationPad2d,
    ReplicationPad3d,
    ZeroPad1d,
    ZeroPad2d,
    ZeroPad3d,
)
from mt_nn.layers.pooling import (
    AvgPool1d,
    AvgPool2d,
    AvgPool3d,
    LPPool1d,
    LPPool2d,
    LPPool3d,
    MaxPool1d,
    MaxPool2d,
    MaxPool3d,
    MaxUnpool1d,
    MaxUnpool2d,
    MaxUnpool3d,
)
from mt_nn.layers.resampling import (
    ChannelShuffle,
    PixelShuffle,
    PixelUnshuffle,
    Upsample,
    UpsamplingBilinear2d,
    UpsamplingNearest2d,
)
from mt_nn.module import Module
from mt_nn.parameter import Parameter
from mt_nn.saving import load, save
from mt_operators import Buffer, StateDictError

__version__ = "0.1.0"

__all__ = [
    "AdaptiveAvgPool1d",
    "AdaptiveAvgPool2d",
    "AdaptiveAvgPool3d",
    "AdaptiveMaxPool1d",
    "AdaptiveMaxPool2d",
    "AdaptiveMaxPool3d",
    "AvgPool1d",
    "AvgPool2d",
    "AvgPool3d",
    "Buffer",
    "ChannelShuffle",
    "CircularPad1d",
    "CircularPad2d",
    "CircularPad3d",
    "ConstantPad1d",
    "ConstantPad2d",
    "ConstantPad3d",
    "Conv1d",
    "Conv2d",
    "Conv3d",
    "ConvTranspose1d",
    "ConvTranspose2d",
    "ConvTranspose3d",
    "CosineSimilarity",
    "CrossEntropyLoss",
    "Dropout",
    "FileError",
    "Flatten",
    "Fold",
    "InputError",
    "LPPool1d",
    "LPPool2d",
    "LPPool3d",
    "Linear",
    "MSELoss",
    "MaxPool1d",
    "MaxPool2d",
    "MaxPool3d",
    "MaxUnpool1d",
    "MaxUnpool2d",
    "MaxUnpool3d",
    "MissingPackageError",
    "Module",
    "NetworkError",
    "PairwiseDistance",
    "Parameter",
    "PixelShuffle",
    "PixelUnshuffle",
    "ReLU",
    "ReflectionPad1d",
    "ReflectionPad2d",
    "ReflectionPad3d",
    "ReplicationPad1d",
    "ReplicationPad2d",
    "ReplicationPad3d",
    "Sequential",
    "SettingError",
    "Sigmoid",
    "StateDictError",
    "Tanh",
    "Unfold",
    "Upsample",
    "UpsamplingBilinear2d",
    "UpsamplingNearest2d",
    "ZeroPad1d",
    "ZeroPad2d",
    "ZeroPad3d",
    "__version__",
    "course",
    "data",
    "functional",
    "init",
    "load",
    "optim",
    "save",
]

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
from mt_nn.layers.attention import MultiheadAttention
from mt_nn.layers.containers import Sequential
from mt_nn.layers.convolution import Conv2d
from mt_nn.layers.dropout import Dropout
from mt_nn.layers.linear import Flatten, Linear
from mt_nn.layers.loss import CrossEntropyLoss, MSELoss
from mt_nn.layers.normalization import LayerNorm
from mt_nn.layers.pooling import AvgPool2d, MaxPool2d
from mt_nn.layers.positions import LearnedPositions, RotaryPositions, SinusoidalPositions
from mt_nn.layers.recurrent import GRU, LSTM, RNN, GRUCell, LSTMCell, RNNCell
from mt_nn.layers.transformer import (
    Transformer,
    TransformerDecoder,
    TransformerDecoderLayer,
    TransformerEncoder,
    TransformerEncoderLayer,
)
from mt_nn.module import Module
from mt_nn.parameter import Parameter
from mt_nn.saving import load, save
from mt_operators import Buffer, StateDictError

__version__ = "0.1.0"

__all__ = [
    "GRU",
    "LSTM",
    "RNN",
    "AvgPool2d",
    "Buffer",
    "Conv2d",
    "CrossEntropyLoss",
    "Dropout",
    "FileError",
    "Flatten",
    "GRUCell",
    "InputError",
    "LSTMCell",
    "LayerNorm",
    "LearnedPositions",
    "Linear",
    "MSELoss",
    "MaxPool2d",
    "MissingPackageError",
    "Module",
    "MultiheadAttention",
    "NetworkError",
    "Parameter",
    "RNNCell",
    "ReLU",
    "RotaryPositions",
    "Sequential",
    "SettingError",
    "Sigmoid",
    "SinusoidalPositions",
    "StateDictError",
    "Tanh",
    "Transformer",
    "TransformerDecoder",
    "TransformerDecoderLayer",
    "TransformerEncoder",
    "TransformerEncoderLayer",
    "__version__",
    "data",
    "functional",
    "init",
    "load",
    "optim",
    "save",
    "utils",
]

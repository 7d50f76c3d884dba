"""The names of `mt_nn`, for type checkers; `mt declare` writes this file."""

from mt_nn import course as course
from mt_nn import data as data
from mt_nn import distributions as distributions
from mt_nn import functional as functional
from mt_nn import init as init
from mt_nn import optim as optim
from mt_nn import utils as utils
from mt_nn.errors import DownloadError as DownloadError
from mt_nn.errors import FileError as FileError
from mt_nn.errors import InputError as InputError
from mt_nn.errors import LoaderError as LoaderError
from mt_nn.errors import MissingFileError as MissingFileError
from mt_nn.errors import MissingPackageError as MissingPackageError
from mt_nn.errors import NetworkError as NetworkError
from mt_nn.errors import SettingError as SettingError
from mt_nn.errors import SettingTypeError as SettingTypeError
from mt_nn.library.files.limits import limits as limits
from mt_nn.library.inspection import summary as summary
from mt_nn.library.layers.activation import CELU as CELU
from mt_nn.library.layers.activation import ELU as ELU
from mt_nn.library.layers.activation import GELU as GELU
from mt_nn.library.layers.activation import GLU as GLU
from mt_nn.library.layers.activation import SELU as SELU
from mt_nn.library.layers.activation import Hardshrink as Hardshrink
from mt_nn.library.layers.activation import Hardsigmoid as Hardsigmoid
from mt_nn.library.layers.activation import Hardswish as Hardswish
from mt_nn.library.layers.activation import Hardtanh as Hardtanh
from mt_nn.library.layers.activation import LeakyReLU as LeakyReLU
from mt_nn.library.layers.activation import LogSigmoid as LogSigmoid
from mt_nn.library.layers.activation import LogSoftmax as LogSoftmax
from mt_nn.library.layers.activation import Mish as Mish
from mt_nn.library.layers.activation import PReLU as PReLU
from mt_nn.library.layers.activation import RReLU as RReLU
from mt_nn.library.layers.activation import ReLU as ReLU
from mt_nn.library.layers.activation import ReLU6 as ReLU6
from mt_nn.library.layers.activation import SiLU as SiLU
from mt_nn.library.layers.activation import Sigmoid as Sigmoid
from mt_nn.library.layers.activation import Softmax as Softmax
from mt_nn.library.layers.activation import Softmax2d as Softmax2d
from mt_nn.library.layers.activation import Softmin as Softmin
from mt_nn.library.layers.activation import Softplus as Softplus
from mt_nn.library.layers.activation import Softshrink as Softshrink
from mt_nn.library.layers.activation import Softsign as Softsign
from mt_nn.library.layers.activation import Tanh as Tanh
from mt_nn.library.layers.activation import Tanhshrink as Tanhshrink
from mt_nn.library.layers.activation import Threshold as Threshold
from mt_nn.library.layers.adaptive_pooling import AdaptiveAvgPool1d as AdaptiveAvgPool1d
from mt_nn.library.layers.adaptive_pooling import AdaptiveAvgPool2d as AdaptiveAvgPool2d
from mt_nn.library.layers.adaptive_pooling import AdaptiveAvgPool3d as AdaptiveAvgPool3d
from mt_nn.library.layers.adaptive_pooling import AdaptiveMaxPool1d as AdaptiveMaxPool1d
from mt_nn.library.layers.adaptive_pooling import AdaptiveMaxPool2d as AdaptiveMaxPool2d
from mt_nn.library.layers.adaptive_pooling import AdaptiveMaxPool3d as AdaptiveMaxPool3d
from mt_nn.library.layers.adaptive_softmax import AdaptiveLogSoftmaxWithLoss as AdaptiveLogSoftmaxWithLoss
from mt_nn.library.layers.attention import MultiheadAttention as MultiheadAttention
from mt_nn.layers.containers import Identity as Identity
from mt_nn.layers.containers import ModuleDict as ModuleDict
from mt_nn.layers.containers import ModuleList as ModuleList
from mt_nn.layers.containers import ParameterDict as ParameterDict
from mt_nn.layers.containers import ParameterList as ParameterList
from mt_nn.layers.containers import Residual as Residual
from mt_nn.layers.containers import Sequential as Sequential
from mt_nn.layers.convolution import Conv1d as Conv1d
from mt_nn.layers.convolution import Conv2d as Conv2d
from mt_nn.layers.convolution import Conv3d as Conv3d
from mt_nn.library.layers.transposed import ConvTranspose1d as ConvTranspose1d
from mt_nn.library.layers.transposed import ConvTranspose2d as ConvTranspose2d
from mt_nn.library.layers.transposed import ConvTranspose3d as ConvTranspose3d
from mt_nn.library.layers.distance import CosineSimilarity as CosineSimilarity
from mt_nn.library.layers.distance import PairwiseDistance as PairwiseDistance
from mt_nn.layers.dropout import AlphaDropout as AlphaDropout
from mt_nn.layers.dropout import DropPath as DropPath
from mt_nn.layers.dropout import Dropout as Dropout
from mt_nn.layers.dropout import Dropout1d as Dropout1d
from mt_nn.layers.dropout import Dropout2d as Dropout2d
from mt_nn.layers.dropout import Dropout3d as Dropout3d
from mt_nn.layers.dropout import FeatureAlphaDropout as FeatureAlphaDropout
from mt_nn.library.layers.embedding import Embedding as Embedding
from mt_nn.library.layers.embedding import EmbeddingBag as EmbeddingBag
from mt_nn.library.layers.folding import Fold as Fold
from mt_nn.library.layers.folding import Unfold as Unfold
from mt_nn.library.layers.fractional_pooling import FractionalMaxPool2d as FractionalMaxPool2d
from mt_nn.library.layers.fractional_pooling import FractionalMaxPool3d as FractionalMaxPool3d
from mt_nn.library.layers.lazy import LazyBatchNorm1d as LazyBatchNorm1d
from mt_nn.library.layers.lazy import LazyBatchNorm2d as LazyBatchNorm2d
from mt_nn.library.layers.lazy import LazyBatchNorm3d as LazyBatchNorm3d
from mt_nn.library.layers.lazy import LazyConv1d as LazyConv1d
from mt_nn.library.layers.lazy import LazyConv2d as LazyConv2d
from mt_nn.library.layers.lazy import LazyConv3d as LazyConv3d
from mt_nn.library.layers.lazy import LazyConvTranspose1d as LazyConvTranspose1d
from mt_nn.library.layers.lazy import LazyConvTranspose2d as LazyConvTranspose2d
from mt_nn.library.layers.lazy import LazyConvTranspose3d as LazyConvTranspose3d
from mt_nn.library.layers.lazy import LazyInstanceNorm1d as LazyInstanceNorm1d
from mt_nn.library.layers.lazy import LazyInstanceNorm2d as LazyInstanceNorm2d
from mt_nn.library.layers.lazy import LazyInstanceNorm3d as LazyInstanceNorm3d
from mt_nn.library.layers.lazy import LazyLinear as LazyLinear
from mt_nn.library.layers.lazy import UninitializedBuffer as UninitializedBuffer
from mt_nn.library.layers.lazy import UninitializedParameter as UninitializedParameter
from mt_nn.layers.linear import Bilinear as Bilinear
from mt_nn.layers.linear import Flatten as Flatten
from mt_nn.layers.linear import Linear as Linear
from mt_nn.layers.linear import Unflatten as Unflatten
from mt_nn.library.layers.loss import BCELoss as BCELoss
from mt_nn.library.layers.loss import BCEWithLogitsLoss as BCEWithLogitsLoss
from mt_nn.library.layers.loss import CTCLoss as CTCLoss
from mt_nn.library.layers.loss import CosineEmbeddingLoss as CosineEmbeddingLoss
from mt_nn.library.layers.loss import CrossEntropyLoss as CrossEntropyLoss
from mt_nn.library.layers.loss import GaussianNLLLoss as GaussianNLLLoss
from mt_nn.library.layers.loss import HingeEmbeddingLoss as HingeEmbeddingLoss
from mt_nn.library.layers.loss import HuberLoss as HuberLoss
from mt_nn.library.layers.loss import KLDivLoss as KLDivLoss
from mt_nn.library.layers.loss import L1Loss as L1Loss
from mt_nn.library.layers.loss import MSELoss as MSELoss
from mt_nn.library.layers.loss import MarginRankingLoss as MarginRankingLoss
from mt_nn.library.layers.loss import MultiLabelMarginLoss as MultiLabelMarginLoss
from mt_nn.library.layers.loss import MultiLabelSoftMarginLoss as MultiLabelSoftMarginLoss
from mt_nn.library.layers.loss import MultiMarginLoss as MultiMarginLoss
from mt_nn.library.layers.loss import NLLLoss as NLLLoss
from mt_nn.library.layers.loss import PoissonNLLLoss as PoissonNLLLoss
from mt_nn.library.layers.loss import SmoothL1Loss as SmoothL1Loss
from mt_nn.library.layers.loss import SoftMarginLoss as SoftMarginLoss
from mt_nn.library.layers.loss import TripletMarginLoss as TripletMarginLoss
from mt_nn.library.layers.loss import TripletMarginWithDistanceLoss as TripletMarginWithDistanceLoss
from mt_nn.library.layers.normalization import BatchNorm1d as BatchNorm1d
from mt_nn.library.layers.normalization import BatchNorm2d as BatchNorm2d
from mt_nn.library.layers.normalization import BatchNorm3d as BatchNorm3d
from mt_nn.library.layers.normalization import GroupNorm as GroupNorm
from mt_nn.library.layers.normalization import InstanceNorm1d as InstanceNorm1d
from mt_nn.library.layers.normalization import InstanceNorm2d as InstanceNorm2d
from mt_nn.library.layers.normalization import InstanceNorm3d as InstanceNorm3d
from mt_nn.library.layers.normalization import LayerNorm as LayerNorm
from mt_nn.library.layers.normalization import LocalResponseNorm as LocalResponseNorm
from mt_nn.library.layers.normalization import RMSNorm as RMSNorm
from mt_nn.library.layers.padding import CircularPad1d as CircularPad1d
from mt_nn.library.layers.padding import CircularPad2d as CircularPad2d
from mt_nn.library.layers.padding import CircularPad3d as CircularPad3d
from mt_nn.library.layers.padding import ConstantPad1d as ConstantPad1d
from mt_nn.library.layers.padding import ConstantPad2d as ConstantPad2d
from mt_nn.library.layers.padding import ConstantPad3d as ConstantPad3d
from mt_nn.library.layers.padding import ReflectionPad1d as ReflectionPad1d
from mt_nn.library.layers.padding import ReflectionPad2d as ReflectionPad2d
from mt_nn.library.layers.padding import ReflectionPad3d as ReflectionPad3d
from mt_nn.library.layers.padding import ReplicationPad1d as ReplicationPad1d
from mt_nn.library.layers.padding import ReplicationPad2d as ReplicationPad2d
from mt_nn.library.layers.padding import ReplicationPad3d as ReplicationPad3d
from mt_nn.library.layers.padding import ZeroPad1d as ZeroPad1d
from mt_nn.library.layers.padding import ZeroPad2d as ZeroPad2d
from mt_nn.library.layers.padding import ZeroPad3d as ZeroPad3d
from mt_nn.library.layers.norm_pooling import LPPool1d as LPPool1d
from mt_nn.library.layers.norm_pooling import LPPool2d as LPPool2d
from mt_nn.library.layers.norm_pooling import LPPool3d as LPPool3d
from mt_nn.layers.pooling import AvgPool1d as AvgPool1d
from mt_nn.layers.pooling import AvgPool2d as AvgPool2d
from mt_nn.layers.pooling import AvgPool3d as AvgPool3d
from mt_nn.layers.pooling import MaxPool1d as MaxPool1d
from mt_nn.layers.pooling import MaxPool2d as MaxPool2d
from mt_nn.layers.pooling import MaxPool3d as MaxPool3d
from mt_nn.library.layers.unpooling import MaxUnpool1d as MaxUnpool1d
from mt_nn.library.layers.unpooling import MaxUnpool2d as MaxUnpool2d
from mt_nn.library.layers.unpooling import MaxUnpool3d as MaxUnpool3d
from mt_nn.library.layers.positions import LearnedPositions as LearnedPositions
from mt_nn.library.layers.positions import RotaryPositions as RotaryPositions
from mt_nn.library.layers.positions import SinusoidalPositions as SinusoidalPositions
from mt_nn.library.layers.recurrent import GRU as GRU
from mt_nn.library.layers.recurrent import LSTM as LSTM
from mt_nn.library.layers.recurrent import RNN as RNN
from mt_nn.library.layers.recurrent import GRUCell as GRUCell
from mt_nn.library.layers.recurrent import LSTMCell as LSTMCell
from mt_nn.library.layers.recurrent import RNNCell as RNNCell
from mt_nn.library.layers.resampling import ChannelShuffle as ChannelShuffle
from mt_nn.library.layers.resampling import PixelShuffle as PixelShuffle
from mt_nn.library.layers.resampling import PixelUnshuffle as PixelUnshuffle
from mt_nn.library.layers.resampling import Upsample as Upsample
from mt_nn.library.layers.resampling import UpsamplingBilinear2d as UpsamplingBilinear2d
from mt_nn.library.layers.resampling import UpsamplingNearest2d as UpsamplingNearest2d
from mt_nn.library.layers.transformer import Transformer as Transformer
from mt_nn.library.layers.transformer import TransformerDecoder as TransformerDecoder
from mt_nn.library.layers.transformer import TransformerDecoderLayer as TransformerDecoderLayer
from mt_nn.library.layers.transformer import TransformerEncoder as TransformerEncoder
from mt_nn.library.layers.transformer import TransformerEncoderLayer as TransformerEncoderLayer
from mt_nn.module import Module as Module
from mt_nn.parameter import Parameter as Parameter
from mt_nn.library.profiling import profile as profile
from mt_nn.saving import load as load
from mt_nn.saving import save as save
from mt_nn.library.saving.checkpoint import load_checkpoint as load_checkpoint
from mt_nn.library.saving.checkpoint import save_checkpoint as save_checkpoint
from mt_nn.library.saving.folder import Checkpoints as Checkpoints
from mt_operators import Buffer as Buffer
from mt_operators import StateDictError as StateDictError

__all__ = [
    "AdaptiveAvgPool1d",
    "AdaptiveAvgPool2d",
    "AdaptiveAvgPool3d",
    "AdaptiveLogSoftmaxWithLoss",
    "AdaptiveMaxPool1d",
    "AdaptiveMaxPool2d",
    "AdaptiveMaxPool3d",
    "AlphaDropout",
    "AvgPool1d",
    "AvgPool2d",
    "AvgPool3d",
    "BCELoss",
    "BCEWithLogitsLoss",
    "BatchNorm1d",
    "BatchNorm2d",
    "BatchNorm3d",
    "Bilinear",
    "Buffer",
    "CELU",
    "CTCLoss",
    "ChannelShuffle",
    "Checkpoints",
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
    "CosineEmbeddingLoss",
    "CosineSimilarity",
    "CrossEntropyLoss",
    "DownloadError",
    "DropPath",
    "Dropout",
    "Dropout1d",
    "Dropout2d",
    "Dropout3d",
    "ELU",
    "Embedding",
    "EmbeddingBag",
    "FeatureAlphaDropout",
    "FileError",
    "Flatten",
    "Fold",
    "FractionalMaxPool2d",
    "FractionalMaxPool3d",
    "GELU",
    "GLU",
    "GRU",
    "GRUCell",
    "GaussianNLLLoss",
    "GroupNorm",
    "Hardshrink",
    "Hardsigmoid",
    "Hardswish",
    "Hardtanh",
    "HingeEmbeddingLoss",
    "HuberLoss",
    "Identity",
    "InputError",
    "InstanceNorm1d",
    "InstanceNorm2d",
    "InstanceNorm3d",
    "KLDivLoss",
    "L1Loss",
    "LPPool1d",
    "LPPool2d",
    "LPPool3d",
    "LSTM",
    "LSTMCell",
    "LayerNorm",
    "LazyBatchNorm1d",
    "LazyBatchNorm2d",
    "LazyBatchNorm3d",
    "LazyConv1d",
    "LazyConv2d",
    "LazyConv3d",
    "LazyConvTranspose1d",
    "LazyConvTranspose2d",
    "LazyConvTranspose3d",
    "LazyInstanceNorm1d",
    "LazyInstanceNorm2d",
    "LazyInstanceNorm3d",
    "LazyLinear",
    "LeakyReLU",
    "LearnedPositions",
    "Linear",
    "LoaderError",
    "LocalResponseNorm",
    "LogSigmoid",
    "LogSoftmax",
    "MSELoss",
    "MarginRankingLoss",
    "MaxPool1d",
    "MaxPool2d",
    "MaxPool3d",
    "MaxUnpool1d",
    "MaxUnpool2d",
    "MaxUnpool3d",
    "Mish",
    "MissingFileError",
    "MissingPackageError",
    "Module",
    "ModuleDict",
    "ModuleList",
    "MultiLabelMarginLoss",
    "MultiLabelSoftMarginLoss",
    "MultiMarginLoss",
    "MultiheadAttention",
    "NLLLoss",
    "NetworkError",
    "PReLU",
    "PairwiseDistance",
    "Parameter",
    "ParameterDict",
    "ParameterList",
    "PixelShuffle",
    "PixelUnshuffle",
    "PoissonNLLLoss",
    "RMSNorm",
    "RNN",
    "RNNCell",
    "RReLU",
    "ReLU",
    "ReLU6",
    "ReflectionPad1d",
    "ReflectionPad2d",
    "ReflectionPad3d",
    "ReplicationPad1d",
    "ReplicationPad2d",
    "ReplicationPad3d",
    "Residual",
    "RotaryPositions",
    "SELU",
    "Sequential",
    "SettingError",
    "SettingTypeError",
    "SiLU",
    "Sigmoid",
    "SinusoidalPositions",
    "SmoothL1Loss",
    "SoftMarginLoss",
    "Softmax",
    "Softmax2d",
    "Softmin",
    "Softplus",
    "Softshrink",
    "Softsign",
    "StateDictError",
    "Tanh",
    "Tanhshrink",
    "Threshold",
    "Transformer",
    "TransformerDecoder",
    "TransformerDecoderLayer",
    "TransformerEncoder",
    "TransformerEncoderLayer",
    "TripletMarginLoss",
    "TripletMarginWithDistanceLoss",
    "Unflatten",
    "Unfold",
    "UninitializedBuffer",
    "UninitializedParameter",
    "Upsample",
    "UpsamplingBilinear2d",
    "UpsamplingNearest2d",
    "ZeroPad1d",
    "ZeroPad2d",
    "ZeroPad3d",
    "__version__",
    "course",
    "data",
    "distributions",
    "functional",
    "init",
    "limits",
    "load",
    "load_checkpoint",
    "optim",
    "profile",
    "save",
    "save_checkpoint",
    "summary",
    "utils",
]
__version__: str

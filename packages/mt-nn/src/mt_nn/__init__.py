"""Stage 5: networks, from layers and losses to data and training.

The names are torch's. Everything is composed from operations of mt-tensor, and uses the backend's
kernels where there are any.
"""

# fmt: off
from importlib.util import find_spec

from mt_nn.core.activation import ReLU
from mt_nn.core.containers import Sequential
from mt_nn.core.convolution import Conv2d
from mt_nn.core.dropout import Dropout
from mt_nn.core.errors import InputError, NetworkError, SettingError, SettingTypeError
from mt_nn.core.linear import Flatten, Linear
from mt_nn.core.module import Module
from mt_nn.core.parameter import Parameter
from mt_nn.core.pooling import MaxPool2d
from mt_operators import Buffer, StateDictError

if find_spec("mt_nn.layers") is not None:  # the core can be imported without the rest
    from mt_nn import (
        course,
        data,
        distributions,
        functional,
        init,
        onnx,
        optim,
        registrations,  # noqa: F401 - fills the tables of the core
        utils,
    )
    from mt_nn.errors import (
        DownloadError, ExportError, FileError, LoaderError, MissingFileError, MissingPackageError,
    )
    from mt_nn.files.limits import limits
    from mt_nn.inspection.profiling import profile
    from mt_nn.inspection.summary import summary
    from mt_nn.layers.activation import (
        CELU, ELU, GELU, GLU, SELU, Hardshrink, Hardsigmoid, Hardswish, Hardtanh, LeakyReLU,
        LogSigmoid, LogSoftmax, Mish, PReLU, ReLU6, RReLU, Sigmoid, SiLU, Softmax, Softmax2d,
        Softmin, Softplus, Softshrink, Softsign, Tanh, Tanhshrink, Threshold,
    )
    from mt_nn.layers.adaptive_pooling import (
        AdaptiveAvgPool1d, AdaptiveAvgPool2d, AdaptiveAvgPool3d, AdaptiveMaxPool1d,
        AdaptiveMaxPool2d, AdaptiveMaxPool3d, FractionalMaxPool2d, FractionalMaxPool3d,
    )
    from mt_nn.layers.adaptive_softmax import AdaptiveLogSoftmaxWithLoss
    from mt_nn.layers.attention import MultiheadAttention
    from mt_nn.layers.containers import (
        Identity, ModuleDict, ModuleList, ParameterDict, ParameterList,
    )
    from mt_nn.layers.convolution import (
        Conv1d, Conv3d, ConvTranspose1d, ConvTranspose2d, ConvTranspose3d,
    )
    from mt_nn.layers.dropout import (
        AlphaDropout, Dropout1d, Dropout2d, Dropout3d, FeatureAlphaDropout,
    )
    from mt_nn.layers.embedding import Embedding, EmbeddingBag
    from mt_nn.layers.folding import Fold, Unfold
    from mt_nn.layers.key_value_cache import KeyValueCache
    from mt_nn.layers.lazy import (
        LazyBatchNorm1d, LazyBatchNorm2d, LazyBatchNorm3d, LazyConv1d, LazyConv2d, LazyConv3d,
        LazyConvTranspose1d, LazyConvTranspose2d, LazyConvTranspose3d, LazyInstanceNorm1d,
        LazyInstanceNorm2d, LazyInstanceNorm3d, LazyLinear, UninitializedBuffer,
        UninitializedParameter,
    )
    from mt_nn.layers.linear import Bilinear, CosineSimilarity, PairwiseDistance, Unflatten
    from mt_nn.layers.normalization import (
        BatchNorm1d, BatchNorm2d, BatchNorm3d, GroupNorm, InstanceNorm1d, InstanceNorm2d,
        InstanceNorm3d, LayerNorm, LocalResponseNorm, RMSNorm,
    )
    from mt_nn.layers.padding import (
        CircularPad1d, CircularPad2d, CircularPad3d, ConstantPad1d, ConstantPad2d, ConstantPad3d,
        ReflectionPad1d, ReflectionPad2d, ReflectionPad3d, ReplicationPad1d, ReplicationPad2d,
        ReplicationPad3d, ZeroPad1d, ZeroPad2d, ZeroPad3d,
    )
    from mt_nn.layers.pooling import (
        AvgPool1d, AvgPool2d, AvgPool3d, LPPool1d, LPPool2d, LPPool3d, MaxPool1d, MaxPool3d,
        MaxUnpool1d, MaxUnpool2d, MaxUnpool3d,
    )
    from mt_nn.layers.positions import LearnedPositions, RotaryPositions, SinusoidalPositions
    from mt_nn.layers.recurrent import GRU, LSTM, RNN, GRUCell, LSTMCell, RNNCell
    from mt_nn.layers.resampling import (
        ChannelShuffle, PixelShuffle, PixelUnshuffle, Upsample, UpsamplingBilinear2d,
        UpsamplingNearest2d,
    )
    from mt_nn.layers.transformer import (
        Transformer, TransformerDecoder, TransformerDecoderLayer, TransformerEncoder,
        TransformerEncoderLayer,
    )
    from mt_nn.losses.layers import (
        BCELoss, BCEWithLogitsLoss, CosineEmbeddingLoss, CrossEntropyLoss, CTCLoss, GaussianNLLLoss,
        HingeEmbeddingLoss, HuberLoss, KLDivLoss, L1Loss, MarginRankingLoss, MSELoss,
        MultiLabelMarginLoss, MultiLabelSoftMarginLoss, MultiMarginLoss, NLLLoss, PoissonNLLLoss,
        SmoothL1Loss, SoftMarginLoss, TripletMarginLoss, TripletMarginWithDistanceLoss,
    )
    from mt_nn.optim.amp import GradScaler
    from mt_nn.quantization import QuantizedLinear, quantize_dynamic
    from mt_nn.saving import load, save
    from mt_nn.saving.checkpoint import Checkpoints, load_checkpoint, save_checkpoint

__version__ = "0.1.0"

__all__ = [
    "CELU", "ELU", "GELU", "GLU", "GRU", "LSTM", "RNN", "SELU", "AdaptiveAvgPool1d",
    "AdaptiveAvgPool2d", "AdaptiveAvgPool3d", "AdaptiveLogSoftmaxWithLoss", "AdaptiveMaxPool1d",
    "AdaptiveMaxPool2d", "AdaptiveMaxPool3d", "AlphaDropout", "AvgPool1d", "AvgPool2d", "AvgPool3d",
    "BCELoss", "BCEWithLogitsLoss", "BatchNorm1d", "BatchNorm2d", "BatchNorm3d", "Bilinear",
    "Buffer", "CTCLoss", "ChannelShuffle", "Checkpoints", "CircularPad1d", "CircularPad2d",
    "CircularPad3d", "ConstantPad1d", "ConstantPad2d", "ConstantPad3d", "Conv1d", "Conv2d",
    "Conv3d", "ConvTranspose1d", "ConvTranspose2d", "ConvTranspose3d", "CosineEmbeddingLoss",
    "CosineSimilarity", "CrossEntropyLoss", "DownloadError", "Dropout", "Dropout1d",
    "Dropout2d", "Dropout3d", "Embedding", "EmbeddingBag", "ExportError", "FeatureAlphaDropout",
    "FileError", "Flatten", "Fold", "FractionalMaxPool2d", "FractionalMaxPool3d", "GRUCell",
    "GaussianNLLLoss", "GradScaler", "GroupNorm", "Hardshrink", "Hardsigmoid", "Hardswish",
    "Hardtanh", "HingeEmbeddingLoss", "HuberLoss", "Identity", "InputError", "InstanceNorm1d",
    "InstanceNorm2d", "InstanceNorm3d", "KLDivLoss", "KeyValueCache", "L1Loss", "LPPool1d",
    "LPPool2d", "LPPool3d", "LSTMCell", "LayerNorm", "LazyBatchNorm1d", "LazyBatchNorm2d",
    "LazyBatchNorm3d", "LazyConv1d", "LazyConv2d", "LazyConv3d", "LazyConvTranspose1d",
    "LazyConvTranspose2d", "LazyConvTranspose3d", "LazyInstanceNorm1d", "LazyInstanceNorm2d",
    "LazyInstanceNorm3d", "LazyLinear", "LeakyReLU", "LearnedPositions", "Linear", "LoaderError",
    "LocalResponseNorm", "LogSigmoid", "LogSoftmax", "MSELoss", "MarginRankingLoss", "MaxPool1d",
    "MaxPool2d", "MaxPool3d", "MaxUnpool1d", "MaxUnpool2d", "MaxUnpool3d", "Mish",
    "MissingFileError", "MissingPackageError", "Module", "ModuleDict", "ModuleList",
    "MultiLabelMarginLoss", "MultiLabelSoftMarginLoss", "MultiMarginLoss", "MultiheadAttention",
    "NLLLoss", "NetworkError", "PReLU", "PairwiseDistance", "Parameter", "ParameterDict",
    "ParameterList", "PixelShuffle", "PixelUnshuffle", "PoissonNLLLoss", "QuantizedLinear",
    "RMSNorm", "RNNCell", "RReLU", "ReLU", "ReLU6", "ReflectionPad1d", "ReflectionPad2d",
    "ReflectionPad3d", "ReplicationPad1d", "ReplicationPad2d", "ReplicationPad3d",
    "RotaryPositions", "Sequential", "SettingError", "SettingTypeError", "SiLU", "Sigmoid",
    "SinusoidalPositions", "SmoothL1Loss", "SoftMarginLoss", "Softmax", "Softmax2d", "Softmin",
    "Softplus", "Softshrink", "Softsign", "StateDictError", "Tanh", "Tanhshrink", "Threshold",
    "Transformer", "TransformerDecoder", "TransformerDecoderLayer", "TransformerEncoder",
    "TransformerEncoderLayer", "TripletMarginLoss", "TripletMarginWithDistanceLoss", "Unflatten",
    "Unfold", "UninitializedBuffer", "UninitializedParameter", "Upsample", "UpsamplingBilinear2d",
    "UpsamplingNearest2d", "ZeroPad1d", "ZeroPad2d", "ZeroPad3d", "__version__", "course", "data",
    "distributions", "functional", "init", "limits", "load", "load_checkpoint", "onnx",
    "optim", "profile", "quantize_dynamic", "save", "save_checkpoint", "summary", "utils",
]
# fmt: on

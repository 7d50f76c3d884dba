"""Stage 5: networks, from layers and losses to data and training.

The names are torch's. Everything is composed from the operations of mt-tensor, and is fast where
the backend offers a kernel for it.

Importing this package imports next to nothing: a name is imported from where it is defined when
somebody asks for it. Type checkers read `__init__.pyi`, which `hatch run mt declare` writes.
"""

from importlib import import_module

from mt_tensor.backends import register_kernels

__version__ = "0.1.0"

register_kernels("numpy", "mt_nn.library.kernels.numpy")

_MODULES = "course data distributions functional init optim utils"
"""The modules that users find here."""

_NAMES = {
    "mt_nn.errors": """
        DownloadError FileError InputError LoaderError MissingFileError MissingPackageError
        NetworkError SettingError SettingTypeError
    """,
    "mt_nn.library.files.limits": "limits",
    "mt_nn.library.inspection": "summary",
    "mt_nn.library.layers.activation": """
        CELU ELU GELU GLU SELU Hardshrink Hardsigmoid Hardswish Hardtanh LeakyReLU LogSigmoid
        LogSoftmax Mish PReLU RReLU ReLU ReLU6 SiLU Sigmoid Softmax Softmax2d Softmin Softplus
        Softshrink Softsign Tanh Tanhshrink Threshold
    """,
    "mt_nn.library.layers.adaptive_pooling": """
        AdaptiveAvgPool1d AdaptiveAvgPool2d AdaptiveAvgPool3d AdaptiveMaxPool1d
        AdaptiveMaxPool2d AdaptiveMaxPool3d
    """,
    "mt_nn.library.layers.adaptive_softmax": "AdaptiveLogSoftmaxWithLoss",
    "mt_nn.library.layers.attention": "MultiheadAttention",
    "mt_nn.layers.containers": """
        Identity ModuleDict ModuleList ParameterDict ParameterList Residual Sequential
    """,
    "mt_nn.layers.convolution": "Conv1d Conv2d Conv3d",
    "mt_nn.library.layers.transposed": "ConvTranspose1d ConvTranspose2d ConvTranspose3d",
    "mt_nn.library.layers.distance": "CosineSimilarity PairwiseDistance",
    "mt_nn.layers.dropout": """
        AlphaDropout DropPath Dropout Dropout1d Dropout2d Dropout3d FeatureAlphaDropout
    """,
    "mt_nn.library.layers.embedding": "Embedding EmbeddingBag",
    "mt_nn.library.layers.folding": "Fold Unfold",
    "mt_nn.library.layers.fractional_pooling": "FractionalMaxPool2d FractionalMaxPool3d",
    "mt_nn.library.layers.lazy": """
        LazyBatchNorm1d LazyBatchNorm2d LazyBatchNorm3d LazyConv1d LazyConv2d LazyConv3d
        LazyConvTranspose1d LazyConvTranspose2d LazyConvTranspose3d LazyInstanceNorm1d
        LazyInstanceNorm2d LazyInstanceNorm3d LazyLinear UninitializedBuffer
        UninitializedParameter
    """,
    "mt_nn.layers.linear": "Bilinear Flatten Linear Unflatten",
    "mt_nn.library.layers.loss": """
        BCELoss BCEWithLogitsLoss CTCLoss CosineEmbeddingLoss CrossEntropyLoss GaussianNLLLoss
        HingeEmbeddingLoss HuberLoss KLDivLoss L1Loss MSELoss MarginRankingLoss
        MultiLabelMarginLoss MultiLabelSoftMarginLoss MultiMarginLoss NLLLoss PoissonNLLLoss
        SmoothL1Loss SoftMarginLoss TripletMarginLoss TripletMarginWithDistanceLoss
    """,
    "mt_nn.library.layers.normalization": """
        BatchNorm1d BatchNorm2d BatchNorm3d GroupNorm InstanceNorm1d InstanceNorm2d
        InstanceNorm3d LayerNorm LocalResponseNorm RMSNorm
    """,
    "mt_nn.library.layers.padding": """
        CircularPad1d CircularPad2d CircularPad3d ConstantPad1d ConstantPad2d ConstantPad3d
        ReflectionPad1d ReflectionPad2d ReflectionPad3d ReplicationPad1d ReplicationPad2d
        ReplicationPad3d ZeroPad1d ZeroPad2d ZeroPad3d
    """,
    "mt_nn.library.layers.norm_pooling": "LPPool1d LPPool2d LPPool3d",
    "mt_nn.layers.pooling": "AvgPool1d AvgPool2d AvgPool3d MaxPool1d MaxPool2d MaxPool3d",
    "mt_nn.library.layers.unpooling": "MaxUnpool1d MaxUnpool2d MaxUnpool3d",
    "mt_nn.library.layers.positions": "LearnedPositions RotaryPositions SinusoidalPositions",
    "mt_nn.library.layers.recurrent": "GRU LSTM RNN GRUCell LSTMCell RNNCell",
    "mt_nn.library.layers.resampling": """
        ChannelShuffle PixelShuffle PixelUnshuffle Upsample UpsamplingBilinear2d
        UpsamplingNearest2d
    """,
    "mt_nn.library.layers.transformer": """
        Transformer TransformerDecoder TransformerDecoderLayer TransformerEncoder
        TransformerEncoderLayer
    """,
    "mt_nn.module": "Module",
    "mt_nn.parameter": "Parameter",
    "mt_nn.library.profiling": "profile",
    "mt_nn.saving": "load save",
    "mt_nn.library.saving.checkpoint": "load_checkpoint save_checkpoint",
    "mt_nn.library.saving.folder": "Checkpoints",
    "mt_operators": "Buffer StateDictError",
}
"""What else they find here, by the modules that define it."""

_MODULE_OF = {name: module for module, names in _NAMES.items() for name in names.split()}

__all__ = ["__version__", *_MODULES.split(), *_MODULE_OF]  # noqa: PLE0604


def __getattr__(name: str) -> object:
    """Import what is asked for, when it is asked for."""
    if name in _MODULE_OF:
        value = getattr(import_module(_MODULE_OF[name]), name)
    elif name in _MODULES.split():
        value = import_module(f"mt_nn.{name}")
    else:
        raise AttributeError(f"module 'mt_nn' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """Return all names, imported or not."""
    return sorted({*globals(), *__all__})

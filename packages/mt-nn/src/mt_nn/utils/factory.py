"""torch's factory arguments of layers, `device` and `dtype`, after the settings of the layer."""

from __future__ import annotations

import functools
import inspect
from typing import Any

from mt_nn.core.module import Module
from mt_nn.layers import lazy, normalization, recurrent, transformer
from mt_nn.layers.activation import PReLU
from mt_nn.layers.adaptive_softmax import AdaptiveLogSoftmaxWithLoss
from mt_nn.layers.attention import MultiheadAttention
from mt_nn.layers.embedding import Embedding, EmbeddingBag
from mt_nn.layers.linear import Bilinear

LAYERS: tuple[type[Module], ...] = (
    *(Bilinear, PReLU, Embedding, EmbeddingBag, AdaptiveLogSoftmaxWithLoss),
    *(normalization.BatchNorm1d, normalization.BatchNorm2d, normalization.BatchNorm3d),
    *(normalization.InstanceNorm1d, normalization.InstanceNorm2d, normalization.InstanceNorm3d),
    *(normalization.GroupNorm, normalization.LayerNorm, normalization.RMSNorm),
    *(recurrent.RNN, recurrent.LSTM, recurrent.GRU),
    *(recurrent.RNNCell, recurrent.LSTMCell, recurrent.GRUCell),
    *(MultiheadAttention, transformer.Transformer),
    *(transformer.TransformerEncoderLayer, transformer.TransformerDecoderLayer),
    *lazy._Lazy.__subclasses__(),
)
"""The layers whose constructors are wrapped; `Linear` and convolutions take these themselves."""


def takes_device_and_dtype(layer: type[Module]) -> None:
    """Let the constructor of a layer take `device` and `dtype`, by keyword or position.

    The layer is created on the current backend, and moved to the device.
    """
    initialize: Any = layer.__init__
    own = inspect.signature(layer).parameters
    settings = [one for name, one in own.items() if name not in ("device", "dtype")]
    by_position = [one for one in settings if one.kind is one.POSITIONAL_OR_KEYWORD]
    added = [
        inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=None)
        for name in ("device", "dtype")
    ]
    others = [one for one in settings if one not in by_position]
    signature = inspect.Signature([*by_position, *added, *others])

    @functools.wraps(initialize)
    def __init__(self: Module, *args: Any, **kwargs: Any) -> None:
        if len(args) > len(by_position):  # to raise Python's errors, let Python bind them
            kwargs = dict(signature.bind(*args, **kwargs).arguments)
            args = ()
        factory = {name: kwargs.pop(name) for name in ("device", "dtype") if name in kwargs}
        if "dtype" in own and "dtype" in factory:  # random values are drawn in the dtype
            kwargs["dtype"] = factory["dtype"]
        initialize(self, *args, **kwargs)
        if factory.get("device") is not None or factory.get("dtype") is not None:
            self.to(**factory)

    changed: Any = layer
    changed.__init__ = __init__
    changed.__signature__ = signature

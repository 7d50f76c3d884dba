"""Layers and losses of networks, forward and backward: the group `layers`.

Each is called on inputs with the sizes of small networks, and the sum of its result is
differentiated with respect to the first input and the parameters.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mt.bench.libraries import Library
from mt.bench.workloads.registry import Make, Program, workload

Shape = tuple[int, ...]
Inputs = Callable[[Library], tuple[Any, ...]]

FEATURES = ((64, 4096),)
IMAGES = ((32, 32, 28, 28),)
TOKENS = ((16, 64, 128),)
PAIR = ((256, 1024), (256, 1024))


def _normal(*shapes: Shape) -> Inputs:
    return lambda side: tuple(side.tensors.randn(*shape) for shape in shapes)


def _words(side: Library) -> tuple[Any, ...]:
    return (side.tensors.randint(0, 5000, (32, 64)),)


def _classes(samples: int, classes: int) -> Inputs:
    def inputs(side: Library) -> tuple[Any, ...]:
        t = side.tensors
        return t.randn(samples, classes), t.randint(0, classes, (samples,))

    return inputs


def _probabilities(side: Library) -> tuple[Any, ...]:
    return tuple(side.tensors.rand(256, 1024) for _ in range(2))


def _logits(side: Library) -> tuple[Any, ...]:
    return side.tensors.randn(256, 1024), side.tensors.rand(256, 1024)


def _signs(side: Library) -> tuple[Any, ...]:
    t = side.tensors
    return t.randn(256, 128), t.randn(256, 128), t.randint(0, 2, (256,)) * 2 - 1


def _spoken(side: Library) -> tuple[Any, ...]:
    t = side.tensors
    labels = t.randint(1, 32, (16, 20))
    return t.randn(100, 16, 32).log_softmax(-1), labels, (100,) * 16, (20,) * 16


def _step(layer: str, inputs: Inputs, arguments: tuple[Any, ...], **settings: Any) -> Make:
    def make(side: Library) -> Program:
        module = getattr(side.nn, layer)(*arguments, **settings)
        given = inputs(side)
        if given[0].is_floating_point():
            given[0].requires_grad_()

        def step() -> None:
            module.zero_grad()
            given[0].grad = None
            result = module(*given)
            while isinstance(result, tuple):
                result = result[0]
            result.sum().backward()

        return step

    return make


def _enter(layer: str, inputs: Inputs, *arguments: Any, **settings: Any) -> None:
    shown = [*map(repr, arguments), *(f"{name}={value!r}" for name, value in settings.items())]
    make = _step(layer, inputs, arguments, **settings)
    workload(f"{layer}({', '.join(shown)})", 1.0, "layers")(make)


_enter("Linear", _normal((64, 784)), 784, 256)
_enter("Bilinear", _normal((64, 32), (64, 32)), 32, 32, 16)
_enter("Conv1d", _normal((32, 16, 128)), 16, 32, 5, padding=2)
_enter("Conv2d", _normal((32, 16, 28, 28)), 16, 32, 3, padding=1)
_enter("Conv2d", _normal((32, 16, 28, 28)), 16, 32, 3, padding=1, stride=2)
_enter("Conv2d", _normal((32, 16, 28, 28)), 16, 32, 3, padding=2, dilation=2)
_enter("Conv2d", _normal((32, 16, 28, 28)), 16, 32, 3, padding=1, padding_mode="reflect")
_enter("Conv2d", _normal(*IMAGES), 32, 32, 3, padding=1, groups=32)
_enter("Conv3d", _normal((4, 4, 12, 16, 16)), 4, 8, 3, padding=1)
_enter("ConvTranspose1d", _normal((32, 32, 64)), 32, 16, 4, 2, 1)
_enter("ConvTranspose2d", _normal((16, 32, 14, 14)), 32, 16, 4, 2, 1)
_enter("MaxPool1d", _normal((32, 16, 256)), 2)
_enter("MaxPool2d", _normal(*IMAGES), 3, 2, 1)
_enter("AvgPool2d", _normal(*IMAGES), 2)
_enter("AvgPool2d", _normal(*IMAGES), 3, 1, 1)
_enter("LPPool2d", _normal(*IMAGES), 2, 2)
_enter("AdaptiveAvgPool2d", _normal(*IMAGES), 1)
_enter("AdaptiveAvgPool2d", _normal(*IMAGES), 7)
_enter("AdaptiveMaxPool2d", _normal(*IMAGES), 5)
_enter("BatchNorm1d", _normal((64, 256)), 256)
_enter("BatchNorm2d", _normal(*IMAGES), 32)
_enter("GroupNorm", _normal(*IMAGES), 4, 32)
_enter("InstanceNorm2d", _normal(*IMAGES), 32, affine=True)
_enter("LayerNorm", _normal(*TOKENS), 128)
_enter("RMSNorm", _normal(*TOKENS), 128)
_enter("Dropout", _normal(*FEATURES))
_enter("Dropout2d", _normal(*IMAGES))
_enter("Embedding", _words, 5000, 128)
_enter("EmbeddingBag", _words, 5000, 128)
_enter("MultiheadAttention", _normal(*TOKENS * 3), 128, 4, batch_first=True)
_enter("TransformerEncoderLayer", _normal(*TOKENS), 128, 4, 256, batch_first=True)
_enter("Upsample", _normal((16, 16, 28, 28)), scale_factor=2)
_enter("Upsample", _normal((16, 16, 28, 28)), scale_factor=2, mode="bilinear")
_enter("PixelShuffle", _normal((16, 32, 28, 28)), 2)
_enter("Unfold", _normal((16, 8, 28, 28)), 3, padding=1)
_enter("ReflectionPad2d", _normal(*IMAGES), 2)
_enter("ZeroPad2d", _normal(*IMAGES), 2)
_enter("Softmax", _normal((512, 512)), -1)

for _name in (
    *("ReLU", "LeakyReLU", "PReLU", "RReLU", "ELU", "SELU", "CELU", "GELU", "SiLU", "Mish", "GLU"),
    *("Softplus", "Softsign", "Softshrink", "Hardtanh", "Hardswish", "Hardsigmoid", "ReLU6"),
    *("LogSigmoid", "Tanhshrink", "Sigmoid", "Tanh"),
):
    _enter(_name, _normal(*FEATURES))

_enter("CrossEntropyLoss", _classes(64, 10))
_enter("CrossEntropyLoss", _classes(1024, 1000), label_smoothing=0.1)
for _name in ("MSELoss", "L1Loss", "SmoothL1Loss", "HuberLoss"):
    _enter(_name, _normal(*PAIR))
_enter("BCEWithLogitsLoss", _logits)
_enter("BCELoss", _probabilities)
_enter("KLDivLoss", _logits, reduction="batchmean")
_enter("CTCLoss", _spoken)
_enter("TripletMarginLoss", _normal(*[(256, 128)] * 3))
_enter("CosineEmbeddingLoss", _signs)

"""Complete training steps, as benchmarks of backends.

Each function creates a network and a batch on the current backend, and returns a function that runs
one step: forward, backward and optimizer. A step reads no value and therefore does not wait for a
device. The functions are entry points of the group `mt_tensor.steps`.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from mt_nn.core.lenet import LeNet
from mt_nn.core.module import Module
from mt_nn.functional import cross_entropy
from mt_nn.optim import SGD, Adam, AdamW, Optimizer
from mt_nn.train.networks import TransformerLanguageModel
from mt_nn.utils import clip_grad_norm_
from mt_tensor import Tensor, tensor

Step = Callable[[], Tensor]


def lenet_64() -> Step:
    """Return a step of LeNet with 64 digits and gradient descent with momentum."""
    return _lenet(64, lambda model: SGD(model.parameters(), lr=0.1, momentum=0.9))


def lenet_1024() -> Step:
    """Return a step of LeNet with 1024 digits and Adam."""
    return _lenet(1024, lambda model: Adam(model.parameters()))


def gpt_2x64() -> Step:
    """Return a step of a transformer with 2 layers of width 64: 16 texts of 64 characters."""
    return _gpt(layers=2, width=64, heads=4, window=64)


def gpt_6x384() -> Step:
    """Return a step of a transformer with 6 layers of width 384: 16 texts of 256 characters."""
    return _gpt(layers=6, width=384, heads=6, window=256)


def _lenet(batch: int, make_optimizer: Callable[[LeNet], SGD | Adam]) -> Step:
    rng = np.random.default_rng(0)
    model = LeNet(28, channels=(4, 8))
    images = tensor(rng.random((batch, 1, 28, 28), np.float32))
    return _step(model, make_optimizer(model), images, tensor(rng.integers(0, 10, batch)))


def _gpt(layers: int, width: int, heads: int, window: int, tokens: int = 65) -> Step:
    rng = np.random.default_rng(0)
    model = TransformerLanguageModel(tokens, width, layers, heads, window)
    optimizer = AdamW(model.parameters(), lr=1e-3)
    texts = tensor(rng.integers(0, tokens, (window + 1, 16)))
    return _step(model, optimizer, texts[:-1], texts[1:].reshape(-1), clip_norm=1.0)


def _step(
    model: Module,
    optimizer: Optimizer,
    inputs: Tensor,
    target: Tensor,
    clip_norm: float | None = None,
) -> Step:
    def step() -> Tensor:
        optimizer.zero_grad()
        loss = cross_entropy(model(inputs), target)
        loss.backward()
        if clip_norm is not None:
            clip_grad_norm_(model.parameters(), clip_norm)
        optimizer.step()
        return loss

    return step

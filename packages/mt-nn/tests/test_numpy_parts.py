"""Kernels of the `numpy` backend that go through arrays part by part: the parts do not show."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from mt_nn.kernels.numpy.losses import cross_entropies
from mt_nn.kernels.numpy.normalization import batch_gradient, batch_norm, layer_gradient, layer_norm
from mt_tensor.extending import Array
from mt_tensor.large_arrays import blocks
from mt_tensor.large_arrays.blocks import parts

RNG = np.random.default_rng(0)
PLANES, UPSTREAM = RNG.normal(2, 3, (2, 5, 7, 11))
ROWS, ROW_UPSTREAM = PLANES.reshape(35, 11), UPSTREAM.reshape(35, 11)
WEIGHT, BIAS = RNG.normal(size=(2, 11))
OF_CHANNELS = RNG.normal(size=(2, 1, 7, 1))


CLASSES = np.arange(35) % 11


def _losses(ignored: Any = None) -> tuple[Array, Array]:
    gradient = np.empty_like(ROWS)
    return cross_entropies(ROWS, CLASSES, ignored, 0.5, gradient), gradient


KERNELS: dict[str, Callable[[], Any]] = {
    "layer_norm": lambda: (layer_norm(ROWS, WEIGHT, BIAS, 1e-5),),
    "layer_gradient": lambda: layer_gradient(ROW_UPSTREAM, ROWS, WEIGHT, BIAS, 1e-5),
    "batch_norm": lambda: batch_norm(PLANES, *OF_CHANNELS, 1e-5),
    "batch_gradient": lambda: batch_gradient(UPSTREAM, PLANES, OF_CHANNELS[0], 1e-5),
    "cross_entropies": _losses,
    "cross_entropies but of some": lambda: _losses(CLASSES == 3),
}


@pytest.mark.parametrize("block", [1, 25, 170])
@pytest.mark.parametrize("name", KERNELS)
def test_parts_do_not_show(monkeypatch: pytest.MonkeyPatch, name: str, block: int) -> None:
    whole = KERNELS[name]()
    monkeypatch.setattr(blocks, "BLOCK", block)
    assert len([*parts(*ROWS.shape)]) > 1
    for found, expected in zip(KERNELS[name](), whole, strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


def test_losses_need_no_gradient() -> None:
    losses, _ = _losses()
    scores = ROWS.copy()
    without = cross_entropies(scores, CLASSES, None, 0.5, None)
    np.testing.assert_array_equal(without, losses)
    np.testing.assert_array_equal(scores, ROWS)


def test_parts_cover_everything_once() -> None:
    for count, size in ((0, 5), (10, 0), (7, 10**6), (10**5, 3)):
        taken = [i for part in parts(count, size) for i in range(count)[part]]
        assert taken == [*range(count)]

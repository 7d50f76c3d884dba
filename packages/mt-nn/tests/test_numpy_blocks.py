"""Kernels of the `numpy` backend that work in blocks."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from mt_nn.kernels.numpy.losses import cross_entropies
from mt_tensor.extending import Array
from mt_tensor.large_arrays import blocks
from mt_tensor.large_arrays.blocks import parts

RNG = np.random.default_rng(0)
ROWS = RNG.normal(2, 3, (35, 11))
CLASSES = np.arange(35) % 11


def _losses(weights: Any = 0.5) -> tuple[Array, Array]:
    gradient = np.empty_like(ROWS)
    return cross_entropies(ROWS, CLASSES, np.full(35, weights), gradient), gradient


KERNELS: dict[str, Callable[[], Any]] = {
    "cross_entropies": _losses,
    "cross_entropies with ignored rows": lambda: _losses(np.where(CLASSES == 3, 0.0, 0.5)),
}


@pytest.mark.parametrize("block", [1, 25, 170])
@pytest.mark.parametrize("name", KERNELS)
def test_block_size_does_not_change_results(
    monkeypatch: pytest.MonkeyPatch, name: str, block: int
) -> None:
    expected_results = KERNELS[name]()
    monkeypatch.setattr(blocks, "BLOCK", block)
    assert len([*parts(*ROWS.shape)]) > 1
    for result, expected in zip(KERNELS[name](), expected_results, strict=True):
        np.testing.assert_allclose(result, expected, rtol=1e-12, atol=1e-12)


def test_losses_without_gradient_equal_those_with_gradient_and_keep_scores() -> None:
    losses, _ = _losses()
    scores = ROWS.copy()
    without = cross_entropies(scores, CLASSES, np.full(35, 0.5), None)
    np.testing.assert_array_equal(without, losses)
    np.testing.assert_array_equal(scores, ROWS)


def test_parts_cover_every_index_once() -> None:
    for count, size in ((0, 5), (10, 0), (7, 10**6), (10**5, 3)):
        indices = [i for part in parts(count, size) for i in range(count)[part]]
        assert indices == [*range(count)]

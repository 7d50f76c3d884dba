"""Indices that are out of range, by one at either end, are errors.

A kernel that uses such an index would read memory outside of the tensor.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import mt_nn.functional as F  # noqa: N812 - as programs do
import mt_tensor as mt
from mt_tensor.backends import TensorBackend
from mt_tensor.errors import TensorError

X = np.linspace(-1.0, 1.0, 12, dtype=np.float32).reshape(3, 4)
IMAGES = np.linspace(-1.0, 1.0, 24, dtype=np.float32).reshape(1, 4, 3, 2)

CALLS: dict[str, tuple[int, Callable[[Any, Any], Any]]] = {
    "nll_loss": (4, lambda t, i: F.nll_loss(t(X), t([0, i, 1]))),
    "nll_loss of images": (4, lambda t, i: F.nll_loss(t(IMAGES), t([[[0, 1], [i, 2], [3, 3]]]))),
    "cross_entropy": (4, lambda t, i: F.cross_entropy(t(X), t([0, i, 1]))),
    "cross_entropy of images": (
        4, lambda t, i: F.cross_entropy(t(IMAGES), t([[[0, 1], [i, 2], [3, 3]]]))),
    "cross_entropy, smoothed": (
        4, lambda t, i: F.cross_entropy(t(X), t([0, i, 1]), label_smoothing=0.1)),
    "cross_entropy, weighted": (
        4, lambda t, i: F.cross_entropy(t(X), t([0, i, 1]), weight=t([1.0, 2.0, 3.0, 4.0]))),
    "multi_margin_loss": (4, lambda t, i: F.multi_margin_loss(t(X), t([0, i, 1]))),
    "ctc_loss": (4, lambda t, i: F.ctc_loss(t(X[:, None]), t([[1, i]]), [3], [2])),
    "embedding": (3, lambda t, i: F.embedding(t([[0, i], [1, 2]]), t(X))),
    "embedding of many": (3, lambda t, i: F.embedding(t([0, 1, 2] * 999 + [i]), t(X))),
    "embedding_bag": (3, lambda t, i: F.embedding_bag(t([0, i, 1, 2]), t(X), t([0, 2]))),
    "one_hot": (4, lambda t, i: F.one_hot(t([0, i]), 4)),
    "max_unpool2d": (
        24, lambda t, i: F.max_unpool2d(
            t(IMAGES), t(np.full(IMAGES.shape, i)), 2, output_size=(6, 4))),
    "gather": (4, lambda t, i: t(X).gather(1, t([[0], [i], [1]]))),
    "take_along_dim": (4, lambda t, i: t(X).take_along_dim(t([[0], [i], [1]]), 1)),
    "take": (12, lambda t, i: t(X).take(t([0, i]))),
    "index_select": (3, lambda t, i: t(X).index_select(0, t([0, i]))),
    "indexing": (3, lambda t, i: t(X)[t([0, i])]),
    "index_add": (3, lambda t, i: t(X).index_add(0, t([i]), t(X[:1]))),
    "index_copy": (3, lambda t, i: t(X).index_copy(0, t([i]), t(X[:1]))),
    "index_fill": (3, lambda t, i: t(X).index_fill(0, t([i]), 0.0)),
    "index_put": (3, lambda t, i: t(X).index_put((t([i]),), t(X[:1]))),
    "scatter": (4, lambda t, i: t(X).scatter(1, t([[i], [0], [1]]), 1.0)),
    "scatter_add": (4, lambda t, i: t(X).scatter_add(1, t([[i], [0], [1]]), t(X))),
}  # fmt: skip
"""For each operation: the number of valid indices, and a call with one index as a parameter."""

COUNT_FROM_THE_END = ("take", "indexing", "index_put", "index_fill")
"""Operations that support negative indices."""


@pytest.mark.parametrize("name", CALLS)
def test_out_of_range_index_raises(backend: TensorBackend, name: str) -> None:
    count, call = CALLS[name]

    def made(values: Any) -> mt.Tensor:
        return mt.tensor(values, backend=backend)

    def called(index: int) -> None:
        call(made, index)
        backend.synchronize()  # some backends report an invalid index only here

    first = -count if name in COUNT_FROM_THE_END else 0
    called(first)
    called(count - 1)
    for index in (count, first - 1):
        with pytest.raises((TensorError, ValueError)):
            called(index)

"""Whose memory results lie in: what a later change in place changes, too."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import mt_tensor as mt
from mt_tensor.backends import TensorBackend
from mt_tensor.testing.sharing import APART, SHARING


def sample(backend: TensorBackend) -> mt.Tensor:
    """Return the tensor that the calls take, of numbers that rounding leaves as they are."""
    return mt.tensor(np.arange(1.0, 7.0, dtype=np.float32).reshape(2, 3), backend=backend)


def share(backend: TensorBackend, a: mt.Tensor, b: mt.Tensor) -> bool:
    """Whether the memory of two tensors is the same."""
    return backend.same_memory(a._tensor.storage, b._tensor.storage)


@pytest.mark.parametrize("name", SHARING)
def test_a_change_of_a_view_changes_what_it_is_a_view_of(backend: TensorBackend, name: str) -> None:
    x = sample(backend)
    view = SHARING[name](x)
    if view.backend is not backend:
        return  # what was on a device lies elsewhere
    assert share(backend, view, x)
    if not name.startswith("expand"):
        view.mul_(-1.0)
        assert (np.asarray(x) < 0).any()


@pytest.mark.parametrize("name", APART)
def test_a_change_of_another_result_changes_nothing_else(backend: TensorBackend, name: str) -> None:
    x = sample(backend)
    result: Any = APART[name](x)
    assert not share(backend, result, x)
    result.zero_()
    assert np.array_equal(np.asarray(x), np.arange(1.0, 7.0).reshape(2, 3))

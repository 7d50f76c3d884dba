"""Alignment of the memory of large tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import mt_tensor as mt
from mt_fast.memory.aligned import LARGE, LINE, aligned, empty, empty_like
from mt_tensor.errors import ShapeError


def is_aligned(array: Any) -> bool:
    return bool(array.ctypes.data % LINE == 0)


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "bool"])
@pytest.mark.parametrize("shape", [LARGE, (LARGE // 8, 8), (3, LARGE // 3 + 1)])
def test_large_array_starts_at_cache_line(shape: Any, dtype: str) -> None:
    array = empty(shape, dtype)
    expected = np.empty(shape, dtype)
    assert (array.shape, array.dtype) == (expected.shape, expected.dtype)
    assert array.flags.c_contiguous
    assert array.flags.writeable
    assert is_aligned(array)
    assert empty_like(array).shape == array.shape


@pytest.mark.parametrize("shape", [0, 1, 7, (0, 3), (), (2, 3)])
def test_small_array_is_allocated_by_numpy(shape: Any) -> None:
    assert empty(shape, "f4").shape == np.empty(shape).shape
    assert empty(shape, "f4").base is None


def test_aligned_copies_only_large_unaligned_arrays() -> None:
    memory = empty(LARGE, "f4")
    memory[:] = np.arange(LARGE)
    assert aligned(memory) is memory
    small = memory[1:5]
    assert aligned(small) is small
    result = aligned(memory[1:])
    assert is_aligned(result)
    assert np.array_equal(result, np.arange(1, LARGE))


def test_large_results_start_at_cache_line() -> None:
    with mt.use_backend("fast"):
        x = mt.randn(1024, 1025)
        results = [
            x,
            mt.tensor(np.ones((1024, 1025), np.float32)),
            x + x,
            x.exp(),
            x.T.contiguous(),
            x.softmax(1),
        ]
    for result in results:
        assert is_aligned(result.numpy())


def test_from_numpy_shares_unaligned_memory() -> None:
    array = empty(LARGE, "f4")[3:]
    array[:] = 0
    with mt.use_backend("fast"):
        x = mt.from_numpy(array)
    array[5] = 7
    assert x[5].item() == 7.0


@pytest.mark.parametrize(
    "make", [lambda: mt.empty(2**62), lambda: mt.ones(1).expand(2**62).clone()]
)
def test_tensor_with_too_many_elements_raises(make: Callable[[], mt.Tensor]) -> None:
    with mt.use_backend("fast"), pytest.raises(ShapeError, match="more elements than"):
        make()


def test_aligned_accepts_read_only_memory() -> None:
    memory = empty(LARGE + 1, "f4")
    memory[:] = 1
    memory.flags.writeable = False
    assert aligned(memory) is memory
    assert np.all(aligned(memory[1:]) == 1)

"""Copies by vectors: all requested elements, and no others."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numba import njit

from mt_fast.vectors import instructions as simd
from mt_fast.vectors import processor

LANES = processor.VECTOR_BYTES // 4
COUNTS = [*range(2 * LANES + 2), 5 * LANES - 1]
AT, START = 3, 2
BEYOND = 3 * LANES
"""The number of elements after those that are copied."""


@njit
def _copy(target: Any, source: Any, step: int, count: int) -> None:
    simd.copy(target, AT, source, START, count)


@njit
def _copy_every(target: Any, source: Any, step: int, count: int) -> None:
    simd.copy_every(target, AT, source, START, step, count, source.size)


@njit
def _copy_to_every(target: Any, source: Any, step: int, count: int) -> None:
    simd.copy_to_every(target, AT, step, source, START, count)


@njit
def _clear(target: Any, source: Any, step: int, count: int) -> None:
    simd.clear(target, AT, count)


@njit
def _clear_every(target: Any, source: Any, step: int, count: int) -> None:
    simd.clear_every(target, AT, step, count)


def _run(function: Callable[..., None], step: int, count: int, dtype: Any) -> tuple[Any, Any]:
    """Return the target, initially filled with -1, and the source of a copy."""
    source = np.arange(1, START + step * count + 2 * BEYOND, dtype=dtype)
    target = np.full(AT + step * count + BEYOND, -1, dtype)
    function(target, source, step, count)
    return target, source


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_row_is_copied_and_cleared(dtype: Any) -> None:
    for count in COUNTS:
        for function in (_copy, _clear):
            found, source = _run(function, 1, count, dtype)
            row = source[START : START + count] if function is _copy else np.zeros(count, dtype)
            np.testing.assert_array_equal(found[AT : AT + count], row)
            assert np.all(found[:AT] == -1)
            assert np.all(found[AT + count :] == -1)


@pytest.mark.parametrize("step", [1, 2, 3])
def test_only_strided_elements_are_written(step: int) -> None:
    for count in COUNTS:
        places = AT + step * np.arange(count)
        for function in (_copy_to_every, _clear_every):
            found, source = _run(function, step, count, np.float32)
            values = source[START : START + count] if function is _copy_to_every else 0
            np.testing.assert_array_equal(found[places], values)
            assert np.all(np.delete(found, places) == -1)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("step", [1, 2, 3])
def test_strided_elements_become_adjacent(step: int, dtype: Any) -> None:
    for count in COUNTS:
        found, source = _run(_copy_every, step, count, dtype)
        expected = source[START : START + step * count : step]
        np.testing.assert_array_equal(found[AT : AT + count], expected)
        assert np.all(found[:AT] == -1)
        assert np.all(found[AT + count + LANES :] == -1)  # except for the rest of a vector


def test_nothing_is_read_beyond_the_end_of_the_source() -> None:
    for count in COUNTS[1:]:
        source = np.arange(START + 2 * count - 1, dtype=np.float32)
        found = np.full(AT + count + LANES, -1, np.float32)
        _copy_every(found, source, 2, count)
        np.testing.assert_array_equal(found[AT : AT + count], source[START::2])
        assert np.all(found[AT + count :] == -1)  # one by one, since there is no whole vector


@pytest.mark.parametrize(
    ("features", "machine", "expected"),
    [
        ("+sse2,+avx,+avx2,+avx512f", "x86_64", (64, 32)),
        ("+sse2,+avx,+avx2,-avx512f", "x86_64", (32, 16)),
        ("+sse2,-avx", "AMD64", (16, 16)),
        ("", "arm64", (16, 32)),
    ],
)
def test_registers_are_those_of_the_processor(
    features: str, machine: str, expected: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(processor.config, "CPU_FEATURES", features)
    monkeypatch.setattr(processor.platform, "machine", lambda: machine)
    assert processor._registers() == expected

"""Vectorized copies: which elements they read and write; registers of processors."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numba import njit

from mt_fast.vectors import instructions as simd
from mt_fast.vectors import processor

LANES = processor.VECTOR_BYTES // 4
COUNTS = [*range(2 * LANES + 2), 5 * LANES - 1]
TARGET_START, SOURCE_START = 3, 2
MARGIN = 3 * LANES
"""The number of elements after the copied ones."""


@njit
def _copy(target: Any, source: Any, step: int, count: int) -> None:
    simd.copy(target, TARGET_START, source, SOURCE_START, count)


@njit
def _copy_from_strided(target: Any, source: Any, step: int, count: int) -> None:
    simd.copy_from_strided(target, TARGET_START, source, SOURCE_START, step, count, source.size)


@njit
def _copy_to_strided(target: Any, source: Any, step: int, count: int) -> None:
    simd.copy_to_strided(target, TARGET_START, step, source, SOURCE_START, count)


@njit
def _clear(target: Any, source: Any, step: int, count: int) -> None:
    simd.clear(target, TARGET_START, count)


@njit
def _clear_strided(target: Any, source: Any, step: int, count: int) -> None:
    simd.clear_strided(target, TARGET_START, step, count)


def _run(function: Callable[..., None], step: int, count: int, dtype: Any) -> tuple[Any, Any]:
    """Return the target, initially filled with -1, and the source of a copy."""
    source = np.arange(1, SOURCE_START + step * count + 2 * MARGIN, dtype=dtype)
    target = np.full(TARGET_START + step * count + MARGIN, -1, dtype)
    function(target, source, step, count)
    return target, source


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_copy_and_clear_write_exactly_the_row(dtype: Any) -> None:
    for count in COUNTS:
        for function in (_copy, _clear):
            found, source = _run(function, 1, count, dtype)
            row = (
                source[SOURCE_START : SOURCE_START + count]
                if function is _copy
                else np.zeros(count, dtype)
            )
            np.testing.assert_array_equal(found[TARGET_START : TARGET_START + count], row)
            assert np.all(found[:TARGET_START] == -1)
            assert np.all(found[TARGET_START + count :] == -1)


@pytest.mark.parametrize("step", [1, 2, 3])
def test_copy_and_clear_with_step_write_only_strided_elements(step: int) -> None:
    for count in COUNTS:
        positions = TARGET_START + step * np.arange(count)
        for function in (_copy_to_strided, _clear_strided):
            found, source = _run(function, step, count, np.float32)
            values = (
                source[SOURCE_START : SOURCE_START + count] if function is _copy_to_strided else 0
            )
            np.testing.assert_array_equal(found[positions], values)
            assert np.all(np.delete(found, positions) == -1)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("step", [1, 2, 3])
def test_copy_from_strided_gathers_strided_elements(step: int, dtype: Any) -> None:
    for count in COUNTS:
        found, source = _run(_copy_from_strided, step, count, dtype)
        expected = source[SOURCE_START : SOURCE_START + step * count : step]
        np.testing.assert_array_equal(found[TARGET_START : TARGET_START + count], expected)
        assert np.all(found[:TARGET_START] == -1)
        # The last vector may write up to LANES elements more.
        assert np.all(found[TARGET_START + count + LANES :] == -1)


def test_copy_from_strided_does_not_read_beyond_the_source() -> None:
    for count in COUNTS[1:]:
        source = np.arange(SOURCE_START + 2 * count - 1, dtype=np.float32)
        found = np.full(TARGET_START + count + LANES, -1, np.float32)
        _copy_from_strided(found, source, 2, count)
        np.testing.assert_array_equal(
            found[TARGET_START : TARGET_START + count], source[SOURCE_START::2]
        )
        # The last elements are copied one by one, because there is no complete vector.
        assert np.all(found[TARGET_START + count :] == -1)


@pytest.mark.parametrize(
    ("features", "machine", "expected"),
    [
        ("+sse2,+avx,+avx2,+avx512f", "x86_64", (64, 32)),
        ("+sse2,+avx,+avx2,-avx512f", "x86_64", (32, 16)),
        ("+sse2,-avx", "AMD64", (16, 16)),
        ("", "arm64", (16, 32)),
    ],
)
def test_registers_follow_processor_features(
    features: str, machine: str, expected: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(processor.config, "CPU_FEATURES", features)
    monkeypatch.setattr(processor.platform, "machine", lambda: machine)
    assert processor._registers() == expected

"""Random arrays for samples."""

from __future__ import annotations

import numpy as np

from mt_tensor.extending import Array

EXTREMES = np.array([np.nan, np.inf, -np.inf, 1e30, -1e30, 1e-40, 0.0, -0.0], np.float32)


def draw(*shape: int, dtype: str = "float32", seed: int = 0) -> Array:
    """Return an array of random numbers from the standard normal distribution."""
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


def extreme(*shape: int) -> Array:
    """Return an array of random numbers, every fifth of which is replaced by an extreme one."""
    array = draw(*shape)
    array.reshape(-1)[::5] = np.resize(EXTREMES, array.size)[::5]
    return array

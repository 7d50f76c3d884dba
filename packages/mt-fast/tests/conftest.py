"""Fixtures for settings that depend on the size of tensors."""

import pytest

import mt_tensor as mt
from mt_fast.core import elementwise, loops, reductions
from mt_fast.folds import kernels, parts, reduce
from mt_tensor.backends.extending import drop_plans


def _clear_plans():
    for planned in (elementwise.planned, reductions.planned, reduce.planned, loops.loop_over):
        planned.cache_clear()
    drop_plans()


@pytest.fixture(scope="session")
def clear_plans():
    """Return a function that clears the caches of loops, which depend on the settings."""
    return _clear_plans


@pytest.fixture
def no_thresholds(monkeypatch, clear_plans):
    """Run kernels for tensors of any size, and split their work into small pieces."""
    monkeypatch.setattr(loops, "KERNEL_FROM", 0)
    monkeypatch.setattr(loops, "MIN_PIECE", 7)
    monkeypatch.setattr(parts, "MIN_PART", 5)
    monkeypatch.setattr(kernels, "COLUMNS", 4)
    monkeypatch.setattr(mt.get_backend("fast"), "parallel_from", 1)
    clear_plans()
    yield
    clear_plans()

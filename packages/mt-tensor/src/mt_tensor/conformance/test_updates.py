"""Tests of functions that update several tensors in one pass, against float64."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import mt_tensor as mt
from mt_operators import Formula
from mt_operators.core.elementary import where
from mt_tensor.backends import TensorBackend
from mt_tensor.conformance.layouts import LAYOUTS
from mt_tensor.core.dtypes import Array

TOLERANCE = {"float32": 1e-5, "float64": 1e-12, "float16": 4e-3}


def adaptive(x: Any, grad: Any, mean: Any, square: Any, rate: Any, kept: Any) -> Any:
    mean = mean * kept + grad * 0.25
    square = square * kept + grad * grad
    return x - rate * mean / (mt.sqrt(square) + 1.5), mean, square


def chosen(x: Any, y: Any, number: Any) -> Any:
    return mt.where(x > y, number, 2.0 * y), mt.maximum(x, number) + mt.exp(-abs(y))


def swapped(x: Any, y: Any) -> Any:
    return y, x


def same(x: Any, y: Any, z: Any) -> Any:
    return y * z, y * z


def constant(x: Any, y: Any, number: Any) -> Any:
    return number + 1.0, 0.5 * (x * 0 + 1.0)


PROGRAMS: dict[str, tuple[Callable[..., Any], tuple[str, ...], tuple[int, ...], int]] = {
    "adaptive": (adaptive, ("x", "mean", "square"), (0, 2, 3), 4),
    "chosen": (chosen, ("x", "y"), (0, 1), 2),
    "swapped": (swapped, ("x", "y"), (0, 1), 2),
    "same": (same, ("x", "y"), (0, 1), 3),
    "constant": (constant, ("x", "y"), (0, 1), 2),
}
"""The functions, the names and positions of changed tensors, and the number of tensors."""

FUSED = {name: mt.fuse_in_place(*names)(f) for name, (f, names, _, _) in PROGRAMS.items()}
NUMBERS = {"adaptive": (0.1, 0.75), "chosen": (0.5,), "constant": (3,)}


def drawn(count: int, shape: tuple[int, ...], dtype: str) -> list[Array]:
    rng = np.random.default_rng(count)
    return [np.abs(rng.standard_normal(shape)).astype(dtype) for _ in range(count)]


def check(backend: TensorBackend, name: str, arrays: list[Array], layouts: list[Any]) -> None:
    """Compare the updated tensors with the results of float64 operations."""
    function, _, places, _ = PROGRAMS[name]
    numbers = NUMBERS.get(name, ())
    tensors = [layout(array, backend) for layout, array in zip(layouts, arrays, strict=True)]
    versions = [tensor._tensor.version for tensor in tensors]
    FUSED[name](*tensors, *numbers)
    wide = [mt.tensor(array.astype("float64"), backend="numpy") for array in arrays]
    wanted = dict(zip(places, function(*wide, *numbers), strict=True))
    dtype = arrays[0].dtype.name
    for place, (tensor, array) in enumerate(zip(tensors, arrays, strict=True)):
        right = np.broadcast_to(np.array(wanted.get(place, array), dtype="float64"), array.shape)
        assert tensor.dtype.name == dtype
        tolerance = TOLERANCE[dtype]
        np.testing.assert_allclose(np.array(tensor), right, rtol=tolerance, atol=tolerance)
        assert (tensor._tensor.version > versions[place]) is (place in places)


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("shape", [(), (1,), (0,), (3, 5), (2, 1, 3, 1, 2)])
@pytest.mark.parametrize("name", PROGRAMS)
def test_fuse_in_place_matches_float64_for_every_dtype(
    backend: TensorBackend, name: str, shape: tuple[int, ...], dtype: str
) -> None:
    arrays = drawn(PROGRAMS[name][3], shape, dtype)
    check(backend, name, arrays, [LAYOUTS["contiguous"]] * len(arrays))


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", PROGRAMS)
def test_fuse_in_place_matches_float64_for_every_layout(
    backend: TensorBackend, name: str, layout: str
) -> None:
    count = PROGRAMS[name][3]
    mixed = [LAYOUTS[layout], LAYOUTS["contiguous"]] * count
    for layouts in ([LAYOUTS[layout]] * count, mixed[:count], mixed[1 : count + 1]):
        check(backend, name, drawn(count, (3, 5), "float32"), layouts)


EXCHANGES = {
    "swap": Formula("swap", 2, 2, lambda x, y: (y, x)),
    "turn": Formula("turn", 2, 2, lambda x, y: (0.6 * x - 0.8 * y, 0.8 * x + 0.6 * y)),
}
"""Formulas of which each result depends on the tensor that the other result replaces."""


CHOICES = {
    "mask": Formula("mask", 3, 1, lambda keep, x, y: where(keep, x * y + 1.0, math.nan)),
    "limit": Formula("limit", 3, 1, lambda keep, x, y: where(keep, -math.inf, x - y)),
}
"""Formulas with a condition first and with constants that are not finite."""


@pytest.mark.parametrize("name", CHOICES)
def test_formula_with_bool_condition_updates_float_tensor(
    backend: TensorBackend, name: str
) -> None:
    x, y = drawn(2, (3, 5), "float32")
    keep = x > y
    views = [backend.from_host(array.copy()) for array in (keep, x, y)]
    backend.elementwise(CHOICES[name])((views[1],), *views)
    wanted = np.where(keep, x * y + 1, np.nan) if name == "mask" else np.where(keep, -np.inf, x - y)
    np.testing.assert_allclose(backend.to_host(views[1]), wanted, rtol=1e-6)
    assert np.array_equal(backend.to_host(views[0]), keep)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", EXCHANGES)
def test_formula_computes_all_results_before_writing_any(
    backend: TensorBackend, name: str, layout: str
) -> None:
    formula = EXCHANGES[name]
    arrays = [np.array([row], "float32") for row in ([1, 2, 3], [5, 0, -2])]
    wanted: list[Array] = formula.function(*arrays)

    replaced = [LAYOUTS[layout](array, backend)._tensor for array in arrays]
    backend.elementwise(formula)(replaced, *replaced)
    for view, right in zip(replaced, wanted, strict=True):
        np.testing.assert_allclose(backend.to_host(view), right, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("name", PROGRAMS)
def test_fuse_in_place_updates_rows_of_many_blocks(backend: TensorBackend, name: str) -> None:
    if backend.name == "simple":
        return  # it has no blocks and would take a minute
    arrays = drawn(PROGRAMS[name][3], (3, 23001), "float32")
    check(backend, name, arrays, [LAYOUTS["contiguous"]] * len(arrays))


def test_fuse_in_place_propagates_nan_and_infinity(backend: TensorBackend) -> None:
    x = mt.tensor([math.nan, math.inf, -math.inf, 1.0], backend=backend)
    y = mt.tensor([1.0, 1.0, math.nan, math.inf], backend=backend)
    FUSED["chosen"](x, y, 0.5)
    np.testing.assert_array_equal(np.array(x), [2.0, 0.5, math.nan, math.inf])
    np.testing.assert_allclose(
        np.array(y), [math.nan, math.inf, math.nan, 1.0], rtol=1e-6, equal_nan=True
    )


def test_fuse_in_place_broadcasts_and_converts_other_arguments(backend: TensorBackend) -> None:
    move = mt.fuse_in_place("x")(lambda x, y, z: x + y * z)
    x = mt.zeros(2, 3, backend=backend)
    row = mt.tensor([1, 2, 3], backend=backend)
    move(x, row, mt.tensor(2.0, dtype="float64", backend=backend))
    assert x.tolist() == [[2, 4, 6]] * 2
    move(x, mt.ones(2, 1, backend=backend), row.float())
    assert x.tolist() == [[3, 6, 9]] * 2


def test_fuse_in_place_reads_overlapping_arguments_before_writing(backend: TensorBackend) -> None:
    follow = mt.fuse_in_place("x", "y")(lambda x, y, z: (y + z, x + z))
    memory = mt.arange(5, dtype="float32", backend=backend)
    y = mt.zeros(3, backend=backend)
    follow(memory[1:4], y, memory[:3])
    assert memory.tolist() == [0, 0, 1, 2, 4]
    assert y.tolist() == [1, 3, 5]
    follow(y, memory[:3], y)
    assert y.tolist() == [1, 3, 6]

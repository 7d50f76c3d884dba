"""bfloat16 on backends that have it: 16 bits, computed in float32 and rounded once.

The oracle computes in float64 from the exact elements and rounds the result to 8 significant bits,
with ties to even, as in IEEE 754.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import mt_tensor as mt
from mt_operators import OPERATORS
from mt_operators.testing import SPECS
from mt_tensor.backends import TensorBackend
from mt_tensor.conformance.layouts import LAYOUTS
from mt_tensor.conformance.test_elementwise import draw, expected, expected_gradients
from mt_tensor.core.dtypes import Array
from mt_tensor.core.numpy_functions import UFUNCS

HALF_STEP = 2.0**-8
"""Half a unit of the last digit, relative to a power of two."""


@pytest.fixture(autouse=True)
def _has_bfloat16(backend: TensorBackend) -> None:
    """Skip the test if the backend lacks bfloat16 and raises the error of the contract."""
    try:
        backend.empty((1,), mt.bfloat16)
    except mt.errors.DTypeError as error:
        pytest.skip(str(error))


def rounded(numbers: Any) -> Array:
    """Return float64 numbers rounded to bfloat16."""
    array = np.asarray(numbers, np.float64)
    return np.array([_rounded(number) for number in array.reshape(-1).tolist()]).reshape(
        array.shape
    )


def _rounded(number: float) -> float:
    if not math.isfinite(number) or not number:
        return number
    unit = 2.0 ** (max(math.frexp(number)[1], -125) - 8)
    held = round(number / unit) * unit  # round() has ties to even, and dividing by `unit` is exact
    return held if abs(held) < 2.0**128 else math.copysign(math.inf, number)


def narrowed(array: Any, backend: TensorBackend, layout: str = "contiguous") -> mt.Tensor:
    """Return a bfloat16 tensor with a memory layout."""
    bits = mt.tensor(np.asarray(array, np.float64), dtype="bfloat16", backend="numpy")
    words = bits.view(mt.int16).numpy()
    return LAYOUTS[layout](words, backend).view(mt.bfloat16)


def values(x: mt.Tensor) -> Array:
    """Return the elements as float64."""
    return np.asarray(x.detach().to("numpy").double())


def small(shape: tuple[int, ...], seed: int = 0) -> Array:
    """Return multiples of 1/2, whose short sums and products bfloat16 represents exactly."""
    return np.random.default_rng(seed).integers(-6, 7, shape) / 2


EDGES = [
    *(0.0, -0.0, math.inf, -math.inf, math.nan, 1.0, -2.5, 0.1, 1e-3, 65504.0, 1e30),
    *(1 + 2**-8, 1 + 3 * 2**-8, -1 - 2**-8, 1 + 2**-8 + 2**-23, 1 + 2**-8 - 2**-24),  # near ties
    *(3.38e38, 3.39e38, 3.4e38, -3.4e38, 2.0**-126, 2.0**-133, 2.0**-134, 1e-44, 3 * 2.0**-134),
]


def test_conversion_to_bfloat16_rounds_to_nearest_even(backend: TensorBackend) -> None:
    with np.errstate(over="ignore"):
        single = np.array(EDGES, np.float32)
    for array in (single, np.array([*EDGES, 1 + 2**-8 + 2**-40, -1 - 2**-8 - 2**-40, 1e300])):
        x = mt.tensor(array, backend=backend)
        held = x.to("bfloat16")
        assert held.dtype is mt.bfloat16
        assert held.view(mt.int16).dtype is mt.int16
        wide = held.to(x.dtype)
        wanted = rounded(array)
        np.testing.assert_array_equal(values(wide), wanted)
        np.testing.assert_array_equal(np.signbit(values(wide)), np.signbit(wanted))
        np.testing.assert_array_equal(values(held), wanted)


def test_bfloat16_converts_to_and_from_other_dtypes(backend: TensorBackend) -> None:
    x = narrowed([0.0, -0.0, 1.5, -2.75, 100.0, 255.0], backend)
    for name, wanted in (
        ("int64", [0, 0, 1, -2, 100, 255]),
        ("bool", [False, False, True, True, True, True]),
        ("float16", [0.0, -0.0, 1.5, -2.75, 100.0, 255.0]),
    ):
        assert x.to(name).tolist() == wanted
    for name in ("int32", "int64", "float16"):
        there = mt.tensor([0, 1, 257, 259, 1000], dtype=name, backend=backend).to("bfloat16")
        assert there.tolist() == [0, 1, 256, 260, 1000]
    assert mt.tensor([True, False], backend=backend).to("bfloat16").tolist() == [1, 0]
    assert mt.full((2,), 0.1, dtype="bfloat16", backend=backend).tolist() == [_rounded(0.1)] * 2
    assert repr(x[:2]) == "tensor([0., -0.], dtype=mt_tensor.bfloat16)"


OPERATORS_OF_EACH_KIND = ("add", "div", "exp", "maximum", "where", "lt", "isnan", "round", "relu")
"""A few operators suffice: the formulas are those of float32, and only conversions are new."""


@pytest.mark.parametrize("name", OPERATORS_OF_EACH_KIND)
def test_bfloat16_operator_matches_float64_within_rounding(
    backend: TensorBackend, name: str
) -> None:
    spec = SPECS[name]
    arrays = [rounded(array) for array in draw(spec, (7,), "float64")]
    is_bool = OPERATORS[spec.name].result == "bool"
    args = [
        mt.tensor(array > 0, backend=backend)
        if spec.name == "where" and not place
        else narrowed(array, backend, layout).requires_grad_(not is_bool)
        for place, (array, layout) in enumerate(zip(arrays, itertools.cycle(LAYOUTS), strict=False))
    ]
    result = mt.elementwise(spec.name, *args)
    assert result.dtype is (mt.bool_ if is_bool else mt.bfloat16)
    wanted = expected(spec, arrays)
    if is_bool:
        assert np.array_equal(values(result), wanted)
        return
    np.testing.assert_allclose(values(result), wanted, rtol=1.01 * HALF_STEP, atol=1e-5)
    result.sum().backward()
    for arg, gradient in zip(args, expected_gradients(spec.name, arrays, np.ones(7)), strict=True):
        if arg.requires_grad and arg.grad is not None:
            assert arg.grad.dtype is mt.bfloat16
            assert np.isfinite(values(arg.grad)).all() == np.isfinite(gradient).all()


@pytest.mark.parametrize("layout", LAYOUTS)
def test_bfloat16_primitives_match_numpy(backend: TensorBackend, layout: str) -> None:
    """Sums, matrix products, reading and writing by index, and copies."""
    array, other = small((3, 4)), small((4, 2), 1)
    x, y = (narrowed(each, backend, layout) for each in (array, other))
    assert np.array_equal(values(x.clone()), array)
    assert np.array_equal(values(x @ y), rounded(array @ other))
    assert np.array_equal(values(mt.cat([x, x])), np.concatenate([array, array]))
    for name, ufunc in UFUNCS.items():
        if name not in ("add", "mul", "maximum", "minimum"):
            continue
        found = backend.reduce(OPERATORS[name], x._tensor, (1,))
        assert np.array_equal(
            values(mt.Tensor._make(found, backend)), rounded(ufunc.reduce(array, 1))
        )
        index = np.array([[0, 2, 0, 1]])
        source = small((1, 4), 2)
        target = narrowed(array, backend, layout)
        wanted = array.copy()
        ufunc.at(wanted, (index, np.arange(4)), source)
        where = mt.tensor(index, backend=backend)
        backend.scatter(
            narrowed(source, backend)._tensor, 0, where._tensor, target._tensor, OPERATORS[name]
        )
        np.testing.assert_allclose(values(target), wanted, rtol=2 * HALF_STEP)
        assert np.array_equal(values(x.gather(0, where)), array[index, np.arange(4)])
    target = narrowed(array, backend, layout)
    target.copy_(narrowed(-array, backend))
    assert np.array_equal(values(target), -array)


def test_bfloat16_sums_and_dot_products_accumulate_in_float32(backend: TensorBackend) -> None:
    ones = mt.full((600,), 1, dtype="bfloat16", backend=backend)
    assert ones.sum().item() == 600.0  # a sum in bfloat16 would stop at 256
    assert (ones @ ones).item() == 600.0
    assert ones.view(2, 300).sum(1).tolist() == [300.0, 300.0]


OPERATIONS: dict[str, Callable[[mt.Tensor], Any]] = {
    "softmax": lambda x: x.softmax(-1),
    "logsumexp": lambda x: x.logsumexp(1),
    "mean": lambda x: x.mean(),
    "var": lambda x: x.var(0),
    "norm": lambda x: x.norm(),
    "prod": lambda x: x.prod(1),
    "max": lambda x: x.max(1).values,
    "argmax": lambda x: x.argmax(1),
    "sort": lambda x: x.sort(1).values,
    "cumsum": lambda x: x.cumsum(0),
    "unique": lambda x: x.unique(),
    "index": lambda x: x[x > 0],
    "where": lambda x: x.where(x > 0, 0.5),
    "masked_fill": lambda x: x.masked_fill(x > 0, 7.0),
    "flip": lambda x: x.flip(0),
    "einsum": lambda x: mt.einsum("ij,kj->ik", x, x),
    "clamp": lambda x: x.clamp(-1, 1),
    "nan_to_num": lambda x: (x / 0).nan_to_num(),
    "isin": lambda x: mt.isin(x, x[0]),
    "histc": lambda x: x.histc(3),
}


@pytest.mark.parametrize("name", OPERATIONS)
def test_bfloat16_operation_matches_rounded_float32_result(
    backend: TensorBackend, name: str
) -> None:
    x = narrowed(small((3, 4)) + 0.25, backend)
    result, wide = (OPERATIONS[name](each) for each in (x, x.float()))
    assert result.dtype is (mt.bfloat16 if wide.dtype is mt.float32 else wide.dtype)
    if name == "nan_to_num":
        assert values(result)[0, 0] == math.copysign(mt.finfo("bfloat16").max, values(x)[0, 0])
        return
    np.testing.assert_allclose(values(result), values(wide), rtol=1.01 * HALF_STEP)


def test_random_bfloat16_numbers_stay_in_range(backend: TensorBackend) -> None:
    drawn = mt.rand(500, dtype="bfloat16", backend=backend)
    assert 0 <= drawn.min().item() < 0.1
    assert 0.9 < drawn.max().item() < 1
    mt.manual_seed(7)
    there = mt.rand(9, dtype="bfloat16", backend="numpy")
    mt.manual_seed(7)
    assert mt.rand(9, dtype="bfloat16", backend=backend).tolist() == there.tolist()
    x = mt.zeros(500, dtype="bfloat16", backend=backend)
    for low, high in ((0.0, 1.0), (-1.0, 0.0), (-3.0, -1.0), (1.0, 1.01)):
        drawn = x.uniform_(low, high)
        assert low <= drawn.min().item() <= drawn.max().item() < high
    assert abs(x.normal_().mean().item()) < 0.3

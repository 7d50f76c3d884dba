"""Tests of Python numbers in 16-bit operations: computed in float32 and rounded once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import mt_tensor as mt
from mt_operators import Formula
from mt_operators.core.elementary import sqrt
from mt_tensor.backends import TensorBackend
from mt_tensor.core.layout import row_major
from mt_tensor.errors import DTypeError


@pytest.fixture(params=["float16", "bfloat16"])
def narrow(request: pytest.FixtureRequest, backend: TensorBackend) -> mt.DType:
    """Return a 16-bit dtype, or skip the test if the backend lacks it."""
    dtype: mt.DType = getattr(mt, request.param)
    try:
        backend.empty((1,), dtype)
    except DTypeError as error:
        pytest.skip(str(error))
    return dtype


WITH_NUMBER: dict[str, Callable[..., Any]] = {
    "add": lambda x, c: x + c,
    "add with a factor": lambda x, c: x.add(x, alpha=c),
    "sub": lambda x, c: c - x,
    "mul": lambda x, c: x * c,
    "div": lambda x, c: x / c,
    "floor_divide": lambda x, c: x // c,
    "pow": lambda x, c: x.abs() ** c,
    "lerp": lambda x, c: x.lerp(-x, c),
    "softplus": lambda x, c: x.softplus(c),
    "leaky_relu": lambda x, c: x.leaky_relu(c),
    "round": lambda x, c: x.round(decimals=2),
    "mul_": lambda x, c: x.clone().mul_(c) if x.dtype.is_narrow else x * c,
    "add_": lambda x, c: x.clone().add_(c) if x.dtype.is_narrow else x + c,
}


@pytest.mark.parametrize("name", WITH_NUMBER)
def test_python_numbers_in_16_bit_operations_keep_precision(
    backend: TensorBackend, name: str, narrow: mt.DType
) -> None:
    """16-bit formulas are computed in float32 and rounded once."""
    call = WITH_NUMBER[name]
    for numbers in ([60000.0, 0.1, -3.0, 1e-7], [600.0, 0.1, -3.0, 1e-7]):
        x = mt.tensor(numbers, dtype=narrow, backend=backend)
        for number in (1e-8, 0.1, 3.3, 1001.0, 1e6):
            result, wanted = call(x, number), call(x.float(), number).to(narrow)
            assert result.dtype is narrow
            assert result.tolist() == wanted.tolist(), number


def test_16_bit_in_place_formula_rounds_once(backend: TensorBackend, narrow: mt.DType) -> None:
    step = Formula("step", 3, 2, lambda x, g, eps: (x - g / (sqrt(g * g) + eps), g * g))
    arrays = np.array([1.0, 2.0, 3.0]), np.array([0.5, 300.0, 0.0])
    tensors = [mt.tensor(array, dtype=narrow, backend=backend) for array in arrays]
    views = [tensor._tensor for tensor in tensors]
    backend.elementwise(step)(views, *views, 1e-8)
    np.testing.assert_allclose(tensors[0].tolist(), [0.0, 1.0, 3.0], atol=1e-6)
    assert tensors[1].tolist() == [0.25, np.inf if narrow is mt.float16 else 90112.0, 0.0]
    new = backend.elementwise(step)(row_major((3,), narrow), *views, 1e-8)
    assert [view.dtype for view in new] == [narrow] * 2

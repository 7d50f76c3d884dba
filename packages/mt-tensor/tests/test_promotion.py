"""Dtypes of factors such as `alpha`, powers by numbers, broadcasting errors and mixed backends.

The reference computation promotes first, and computes with Python integers or in float64.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import broadcastable_shapes

import mt_tensor as mt
from mt_tensor.backends import TensorBackend, get_backend, use_backend
from mt_tensor.core.dtypes import Array, DType
from mt_tensor.emulation.exactness import is_exact


@pytest.fixture(scope="session", params=["numpy", "simple"])
def backend_name(request: pytest.FixtureRequest) -> str:
    """Return the name of each built-in backend."""
    name: str = request.param
    return name


VALUES: dict[str, list[Any]] = {
    "bool": [True, False, True],
    "uint8": [100, 3, 250],
    "int8": [100, -3, 120],
    "int64": [100, -3, 2**40],
    "float16": [60000.0, 0.1, -3.0],
    "float32": [60000.0, 0.1, 1e30],
    "float64": [60000.0, 0.1, -1e200],
}
"""Elements whose products exceed the range or the precision of smaller dtypes."""

Call = Callable[..., Any]
WITH_FACTOR: dict[str, tuple[Call, Call]] = {
    "add": (lambda x, y, c: x.add(y, alpha=c), lambda x, y, c: x + c * y),
    "sub": (lambda x, y, c: mt.sub(x, y, alpha=c), lambda x, y, c: x - c * y),
    "add_": (lambda x, y, c: x.clone().add_(y, alpha=c), lambda x, y, c: x + c * y),
    "sub_": (lambda x, y, c: x.clone().sub_(y, alpha=c), lambda x, y, c: x - c * y),
    "addcmul": (lambda x, y, c: x.addcmul(y, y, value=c), lambda x, y, c: x + c * y * y),
    "addcmul_": (lambda x, y, c: x.clone().addcmul_(y, y, value=c), lambda x, y, c: x + c * y * y),
    "addcdiv": (lambda x, y, c: x.addcdiv(y, y, value=c), lambda x, y, c: x + c * (y / y)),
    "addr": (
        lambda x, y, c: x.addr(y[:1], y, beta=c, alpha=c),
        lambda x, y, c: c * x + c * y[:1] * y,
    ),
    "addmv": (
        lambda x, y, c: x.addmv(y[:, None], y[:1], beta=c, alpha=c),
        lambda x, y, c: c * x + c * y * y[:1],
    ),
}
"""Operations with a factor, and the same computation on arrays of one dtype."""

ONE_DIMENSIONAL = ("addr", "addmv")
"""Operations whose operands must have one dimension."""


def promoted(dtype: DType, x: Array) -> Array:
    """Convert to a dtype, then to Python integers, which do not wrap, or to float64."""
    converted = x.astype(dtype.numpy)
    return converted.astype(object if dtype.kind != "float" else np.float64)


def as_stored(dtype: DType, values: Any) -> Array:
    """Return values as a tensor stores them: integers wrap around, floats are rounded."""
    if dtype.kind == "float":
        return np.asarray(values, np.float64).astype(dtype.numpy)
    converted = [dtype.convert(value) for value in np.asarray(values, object).reshape(-1)]
    return np.array(converted, dtype.numpy).reshape(np.shape(values))


@pytest.mark.parametrize("scale", [65536, 70000.5, 1e-9])
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_0d_factor_of_16_bit_tensor_is_not_rounded_to_its_dtype(
    backend: TensorBackend, dtype: str, scale: float
) -> None:
    x = mt.tensor([0.5, -3.0, 1e-4, 8192.0], dtype=dtype, backend=backend, requires_grad=True)
    factor = mt.tensor(scale, backend=backend)
    wide, number = x.detach().float().numpy(), np.float32(scale)
    for result, expected in ((x * factor, wide * number), (x / factor, wide / number)):
        rounded = mt.tensor(expected, backend=backend).to(x.dtype)
        assert result.dtype is x.dtype
        assert result.tolist() == rounded.tolist()
    (x * factor).sum().backward(mt.tensor(2.0**-12, dtype=dtype, backend=backend))
    assert x.grad is not None
    expected = mt.tensor(2.0**-12 * number, backend=backend).to(x.dtype)
    assert x.grad.tolist() == [expected.item()] * 4


@pytest.mark.parametrize("name", WITH_FACTOR)
def test_factor_is_applied_in_promoted_dtype(backend: TensorBackend, name: str) -> None:
    """This holds even if the product does not fit into the dtype of one operand."""
    call, reference = WITH_FACTOR[name]
    for first, second in itertools.product(VALUES, repeat=2):
        for sizes in ((3, 3), (3, 1), (1, 3))[: 1 if name in ONE_DIMENSIONAL else 3]:
            x, y = (np.array(VALUES[d], d)[:n] for d, n in zip((first, second), sizes, strict=True))
            shapes = [() if size == 1 else (3,) for size in sizes]
            args = [
                mt.tensor(array.reshape(shape), backend=backend)
                for array, shape in zip((x, y), shapes, strict=True)
            ]
            target = mt.result_type(*args)
            if not _is_defined(name, target, args):
                continue
            for factor in (2, 7, *((0.7, -2.5) if target.is_floating_point else ())):
                result = call(*args, factor)
                with np.errstate(all="ignore"):
                    expected = reference(promoted(target, x), promoted(target, y), factor)
                    if target.kind == "bool":
                        expected = expected != 0
                    expected = as_stored(result.dtype, as_stored(target, expected))
                assert result.dtype is (args[0].dtype if name.endswith("_") else target)
                np.testing.assert_allclose(
                    np.asarray(result).reshape(-1),
                    np.broadcast_to(expected, (result.numel(),)),
                    rtol={"float16": 2e-3, "float32": 1e-5}.get(target.name, 1e-12),
                    err_msg=f"{first} and {second}, {sizes}, {factor}",
                )


def _is_defined(name: str, target: DType, args: list[mt.Tensor]) -> bool:
    """Return whether the operation accepts these tensors; some reject tensors that are all bool."""
    if name.endswith("_") and (
        target.rank > args[0].dtype.rank or args[1].numel() > args[0].numel()
    ):
        return False  # the result does not fit into the first operand
    if name == "addcdiv":
        return any(arg.is_floating_point() for arg in args[1:])
    return target.kind != "bool" or name in ("add", "add_", "addr")


@pytest.mark.parametrize("exponent", [2, 3, 0.5, -0.5, -1, -1.0, 1.5, 0])
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
def test_power_with_number_exponent_matches_formula(
    backend: TensorBackend, dtype: str, exponent: float
) -> None:
    """Some exponents use another operator, in `x ** exponent` as in `pow`."""
    tolerance = {"float16": 2e-3, "float32": 1e-6, "float64": 1e-14}[dtype]
    array = np.array([0.25, 0.7, 1.0, 3.0, 9.5])
    slopes: Any = exponent * array.astype(dtype).astype(float) ** (exponent - 1)
    for power in (lambda x: x**exponent, lambda x: mt.pow(x, exponent)):
        x = mt.tensor(array, dtype=dtype, requires_grad=True, backend=backend)
        result = power(x)
        assert result.dtype is x.dtype
        np.testing.assert_allclose(result.tolist(), array.astype(dtype) ** exponent, tolerance)
        result.sum().backward()
        assert x.grad is not None
        np.testing.assert_allclose(x.grad.tolist(), slopes, tolerance)
    assert (mt.tensor([2, 3], backend=backend) ** 2).tolist() == [4, 9]
    assert (mt.tensor([2, 3], backend=backend) ** 2).dtype is mt.int64


@settings(max_examples=15, deadline=None)
@given(st.data())
def test_add_of_incompatible_shapes_raises(backend_name: str, data: st.DataObject) -> None:
    shape = data.draw(broadcastable_shapes((4, 3), min_dims=2, max_dims=3, min_side=2, max_side=4))
    with (
        use_backend(backend_name),
        pytest.raises(mt.errors.IndexingError, match="do not broadcast"),
    ):
        _ = mt.zeros(shape) + mt.zeros(*shape[:-1], shape[-1] + 1)


def test_mixing_backends_raises_and_to_is_differentiable(backend: TensorBackend) -> None:
    other = get_backend("simple" if backend.name == "numpy" else "numpy")
    first, second = mt.ones(2, backend=backend), mt.ones(2, backend=other)
    with pytest.raises(mt.errors.BackendMismatchError, match="was given tensors of backends"):
        _ = first + second
    leaf = (first * 2).requires_grad_()
    (leaf.to(other) * 3).sum().backward()
    assert leaf.grad is not None
    assert leaf.grad.backend is backend
    assert leaf.grad.tolist() == [3, 3]


@pytest.mark.parametrize("name", ["float16", "bfloat16"])
def test_16_bit_dtype_stores_zeros_infinities_and_nan_exactly(name: str) -> None:
    dtype: DType = getattr(mt, name)
    for number in (0.0, -0.0, math.inf, -math.inf, math.nan, 1, 2.0**-8):
        assert is_exact(number, dtype)
    for number in (0.1, 1e300, 2**20 + 1):
        assert not is_exact(number, dtype)

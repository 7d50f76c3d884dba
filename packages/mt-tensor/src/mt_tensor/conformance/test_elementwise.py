"""Every operator of the table, in every layout: values, gradients and second derivatives."""

from __future__ import annotations

import functools
import itertools
import math
import zlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis.extra.numpy import mutually_broadcastable_shapes

import mt_tensor as mt
from mt_operators import OPERATORS, Formula
from mt_operators.core.elementary import div
from mt_operators.functions import floor
from mt_operators.testing import INTEGER_SPECS, SPECIAL, SPECS, TOLERANCE, OpSpec
from mt_tensor.backends import TensorBackend, use_backend
from mt_tensor.conformance.layouts import LAYOUTS
from mt_tensor.core.dtypes import Array
from mt_tensor.core.numpy_functions import UFUNCS
from mt_tensor.testing.specs import FLOATS

ROWS = [pytest.param(spec, id=spec.name) for spec in SPECS.values()]
SMOOTH = [
    pytest.param(spec, id=name) for name, spec in SPECS.items() if OPERATORS[name].result != "bool"
]
"""The operators with gradients."""

VALUES = (*SPECIAL, 0.5, -0.5, 1.5, 2.5, -2.5, -3.0, 800.0, 1e-30, -1e-30)
ZEROS_ALIKE = {"maximum", "minimum", "relu", "clamp_min", "clamp_max", "clamp", "hardtanh"}
ZEROS_ALIKE |= {"relu6", "hardsigmoid"}
"""Operators that may return 0 or -0, depending on the processor."""

SHAPES = [(), (1,), (7,), (0,), (3, 5), (2, 0, 3), (2, 1, 3, 1, 2)]


def draw(spec: OpSpec, shape: tuple[int, ...], dtype: str) -> list[Array]:
    """Return arguments from the operator's domain, away from its kinks."""
    rng = np.random.default_rng(zlib.crc32(f"{spec.name}{shape}".encode()))
    arrays = [np.empty(shape, dtype) for _ in spec.ranges]
    for index in np.ndindex(shape):
        values = [rng.uniform(low, high) for low, high in spec.ranges]
        while abs(spec.kink(*values)) < 0.05:
            values = [rng.uniform(low, high) for low, high in spec.ranges]
        for array, value in zip(arrays, values, strict=True):
            array[index] = value
    if spec.name == "where":
        arrays[0] = arrays[0] > 0.5
    return arrays


def expected(spec: OpSpec, arrays: list[Array]) -> Array:
    """Return the oracle's result in float64."""
    with np.errstate(all="ignore"):
        return np.asarray(spec.oracle(np, *(a.astype(np.float64) for a in arrays)))


def expected_gradients(name: str, arrays: list[Array], upstream: Array) -> list[Array]:
    """Return the gradients, computed from the operator table with Python floats."""
    operator = OPERATORS[name]
    results = [np.zeros(upstream.shape) for _ in arrays]
    for index in np.ndindex(upstream.shape):
        args = [array[index].item() for array in arrays]
        out = operator.function(*args)
        for result, partial in zip(results, operator.partials, strict=True):
            result[index] = upstream[index] * partial(*args, out)
    return results


def assert_close(
    actual: Any, wanted: Array, tolerance: float, absolute: float | None = None
) -> None:
    """Assert that elements are equal up to rounding; nan equals nan.

    Args:
        actual: the computed values.
        wanted: the correct values.
        tolerance: the relative tolerance.
        absolute: the absolute tolerance, which is added to the relative one; `tolerance` if None.
    """
    np.testing.assert_allclose(
        np.asarray(actual, dtype=np.float64),
        wanted,
        rtol=tolerance,
        atol=tolerance if absolute is None else absolute,
    )


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("spec", ROWS)
def test_operator_values_match_numpy(backend: TensorBackend, spec: OpSpec, dtype: str) -> None:
    is_bool = OPERATORS[spec.name].result == "bool"
    for shape in SHAPES:
        arrays = draw(spec, shape, dtype)
        wanted = expected(spec, arrays)
        for name, layout in LAYOUTS.items():
            args = [layout(array, backend) for array in arrays]
            result = mt.elementwise(spec.name, *args)
            assert result.dtype.name == ("bool" if is_bool else dtype), name
            assert result.shape == shape
            assert_close(result, wanted, TOLERANCE[dtype])
            for arg, array in zip(args, arrays, strict=True):
                assert np.array_equal(arg, array), "an input was changed"


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("spec", ROWS)
def test_operator_special_values_match_numpy(
    backend: TensorBackend, spec: OpSpec, dtype: str
) -> None:
    almost_one = float(np.nextafter(np.array(1, dtype), np.array(0, dtype)))
    points = (*VALUES, almost_one, -almost_one)
    columns = np.array(list(itertools.product(points, repeat=len(spec.ranges))), dtype).T
    arrays = [np.array(column) for column in columns]
    if spec.name == "where":
        arrays[0] = arrays[0] > 0
    result = mt.elementwise(spec.name, *(mt.tensor(a, backend=backend) for a in arrays))
    with np.errstate(all="ignore"):
        wanted = expected(spec, arrays).astype(dtype)  # overflows as in `dtype`
        values = np.asarray(result, dtype=np.float64)
        if spec.size is not None:  # digits may cancel
            near = abs(values - wanted) <= TOLERANCE[dtype] * spec.size(np, *arrays)
            values = np.where(near, wanted, values)
    smallest = np.finfo(dtype).smallest_normal
    assert_close(values, wanted, TOLERANCE[dtype], float(smallest))
    if spec.name not in ZEROS_ALIKE:
        zeros, signs = wanted == 0, np.signbit(values)
        assert np.array_equal(signs[zeros], np.signbit(wanted.astype(np.float64))[zeros])


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("spec", SMOOTH)
def test_operator_gradients_match_operator_table(
    backend: TensorBackend, spec: OpSpec, layout: str
) -> None:
    arrays = draw(spec, (3, 5), "float32")
    args = [LAYOUTS[layout](array, backend) for array in arrays]
    for arg in args:
        if arg.is_floating_point():
            arg.requires_grad_()
    upstream = np.linspace(-1, 2, 15, dtype=np.float32).reshape(3, 5)
    result = mt.elementwise(spec.name, *args)
    result.backward(LAYOUTS[layout](upstream, backend))
    wanted = expected_gradients(spec.name, arrays, upstream)
    for arg, gradient in zip(args, wanted, strict=True):
        if arg.grad is not None:
            assert arg.grad.dtype is arg.dtype
            assert_close(arg.grad, gradient, 2e-5)
        else:
            assert not gradient.any()


@pytest.mark.parametrize("spec", SMOOTH)
def test_operator_gradients_at_special_values_match_operator_table(
    backend: TensorBackend, spec: OpSpec
) -> None:
    """Special values include kinks, poles, infinities, nan and points outside the domain."""
    points = (*SPECIAL, 0.5, -2.5, 3.0)
    columns = np.array(list(itertools.product(points, repeat=len(spec.ranges)))).T
    arrays = [np.array(column) for column in columns]
    if spec.name == "where":
        arrays[0] = arrays[0] > 0
    args = [mt.tensor(array, backend=backend) for array in arrays]
    for arg in args:
        arg.requires_grad_(arg.is_floating_point())
    mt.elementwise(spec.name, *args).sum().backward()
    with np.errstate(all="ignore"):
        wanted = expected_gradients(spec.name, arrays, np.ones(arrays[0].shape))
    for arg, gradient in zip(args, wanted, strict=True):
        if arg.grad is not None:
            assert_close(arg.grad, gradient, TOLERANCE["float64"])


@pytest.mark.parametrize("spec", SMOOTH)
def test_operator_second_derivatives_match_finite_differences(
    backend: TensorBackend, spec: OpSpec
) -> None:
    args = [mt.tensor(array, backend=backend) for array in draw(spec, (4,), "float64")]
    for arg in args:
        arg.requires_grad_(arg.is_floating_point())
    assert mt.gradgradcheck(functools.partial(mt.elementwise, spec.name), args, eps=1e-5)


def test_zero_derivative_stops_infinite_gradient(backend: TensorBackend) -> None:
    programs: list[tuple[Callable[[mt.Tensor], mt.Tensor], list[float]]] = [
        (lambda x: x.relu().sqrt(), [0.0, 0.0, 0.25]),
        (lambda x: x.maximum(0.0).log(), [0.0, math.inf, 0.25]),
        (lambda x: x.floor().log() + x, [1.0, 1.0, 1.0]),
    ]
    for create_graph in (False, True):
        for program, wanted in programs:
            x = mt.tensor([-1.0, 0.0, 4.0], backend=backend, requires_grad=True)
            program(x).sum().backward(create_graph=create_graph)
            assert x.grad is not None
            np.testing.assert_array_equal(np.asarray(x.grad.detach()), wanted)


@pytest.mark.parametrize("dtype", ["int32", "int64", "int8", "uint8"])
def test_integer_results_keep_dtype_and_wrap(backend: TensorBackend, dtype: str) -> None:
    x = np.array([0, 1, 2, 100, 127], dtype)
    y = np.array([1, 3, 100, 127, 2], dtype)
    a, b = mt.tensor(x, backend=backend), mt.tensor(y, backend=backend)
    with np.errstate(all="ignore"):
        for result, wanted in (
            (mt.elementwise("where", a > 1, a, b), np.where(x > 1, x, y)),
            (mt.elementwise("pow", a, mt.full_like(a, 2)), x**2),
        ):
            assert result.dtype is a.dtype
            assert np.array_equal(result, wanted)
    assert (a / b).dtype is mt.float32
    np.testing.assert_allclose(np.asarray(a / b), x.astype("f4") / y, rtol=1e-6)
    assert a.exp().dtype is mt.float32


@pytest.mark.parametrize("dtype", ["int32", "int64", "int8", "uint8", "bool"])
def test_integer_signbit_isnan_and_clamp_match_numpy(backend: TensorBackend, dtype: str) -> None:
    array = np.array([0, 1, 2, 5, 0, 127]).astype(dtype)
    if dtype not in ("uint8", "bool"):
        array[0], array[1] = np.iinfo(dtype).min, -3
    x = mt.tensor(array, backend=backend)
    kinds: dict[str, Any] = {"isnan": False, "isinf": False, "isfinite": True}
    kinds["signbit"] = array < 0
    for name, wanted in kinds.items():
        result = mt.elementwise(name, x)
        assert result.dtype is mt.bool_
        assert np.array_equal(result, np.broadcast_to(wanted, array.shape)), name
    for name in ("atan2", "copysign", "hypot", "xlogy", "lerp"):
        result = mt.elementwise(name, x, 2, 1) if name == "lerp" else mt.elementwise(name, x, 2)
        assert result.dtype is mt.float32, name
    if dtype == "bool":
        assert x.clamp(0, 1).dtype is mt.int64
        return
    for low, high in ((1, 5), (0, 127), (5, 1)):
        bounds = [mt.full((6,), bound, dtype=dtype, backend=backend) for bound in (low, high)]
        wanted = np.clip(array, low, high)
        for name in ("clamp", "hardtanh"):
            for results in (mt.elementwise(name, x, *bounds), mt.elementwise(name, x, low, high)):
                assert results.dtype is x.dtype
                assert np.array_equal(results, wanted), name
        assert np.array_equal(x.clamp_min(low), np.maximum(array, low))
        assert np.array_equal(x.clamp_max(bounds[1]), np.minimum(array, high))
    assert np.array_equal(x.relu6(), np.clip(array, 0, 6))
    assert x.clamp(0.5).dtype is mt.float32


DIVISIONS: dict[str, Callable[..., Any]] = {
    name: lambda np, x, y, n=name: getattr(np, n)(x, y)
    for name in ("floor_divide", "remainder", "fmod")
}
OTHERS: dict[str, Callable[..., Any]] = {
    **{
        name: lambda _, x, y, u=UFUNCS[name]: u(x, y)
        for name in ("add", "sub", "mul", "eq", "lt", "maximum", "minimum")
    },
    "neg": lambda np, x: -x,
    "square": lambda np, x: x * x,
    "relu": lambda np, x: np.maximum(x, 0),
    "abs": lambda np, x: np.abs(x),
    "sign": lambda np, x: np.sign(x),
}
EXACT = {**INTEGER_SPECS, **DIVISIONS, **OTHERS}


@pytest.mark.parametrize("dtype", ["int64", "int32", "int16", "int8", "uint8", "uint64"])
@pytest.mark.parametrize("name", EXACT)
def test_integer_operator_is_exact_at_limits_of_dtype(
    backend: TensorBackend, name: str, dtype: str
) -> None:
    limits = np.iinfo(dtype)
    numbers = [limits.min, limits.min + 1, -7, -1, 0, 1, 2, 7, 8, 31, 32, 63, 64, limits.max]
    if dtype == "int64":
        numbers += [2**53 + 1, -(2**53) - 1]
    pairs = np.array([*itertools.product(numbers, repeat=2)], object)
    pairs = pairs[[limits.min <= low <= limits.max for low in pairs.min(1)]]
    if name in DIVISIONS:
        pairs = pairs[pairs[:, 1] != 0]
    if name in {"gcd", "lcm"}:  # the result of an overflow is unspecified
        pairs = pairs[[abs(x * y) <= limits.max for x, y in pairs]]
    arrays = list(pairs.astype(dtype).T)[: OPERATORS[name].arity]
    with np.errstate(all="ignore"):
        wanted = EXACT[name](np, *arrays)
    for layout in LAYOUTS.values():
        result = mt.elementwise(name, *(layout(array, backend) for array in arrays))
        assert result.dtype.name == wanted.dtype.name
        assert np.array_equal(result, wanted)


def test_large_int64_results_are_exact(backend: TensorBackend) -> None:
    big = mt.tensor([2**62 + 1, -(2**62) - 1], backend=backend)
    assert (big + 2).tolist() == [2**62 + 3, -(2**62) + 1]
    assert big.maximum(0).tolist() == [2**62 + 1, 0]
    assert big.clamp(-(2**62), 2**62).tolist() == [2**62, -(2**62)]
    assert big.clamp(-(2**63), 2**63 - 1).tolist() == big.tolist()
    for name in ("floor", "ceil", "trunc", "round", "abs"):
        assert mt.elementwise(name, big[:1]).tolist() == [2**62 + 1], name
    assert big.sign().tolist() == [1, -1]


def test_uint64_above_int64_maximum_stays_positive(backend: TensorBackend) -> None:
    top = 2**64 - 1
    first = np.array([[top, 6, top // 2 + 1], [0, top - 1, 7]], np.uint64)
    second = np.array([[5, top, 2], [top, 1, 7]], np.uint64)
    index = np.array([[0, 0, 1], [1, 1, 0]])
    x, y, places = (LAYOUTS["permuted"](each, backend) for each in (first, second, index))
    for result, wanted in (
        (x / y, first.astype("f4") / second.astype("f4")),
        (x.erf(), np.minimum(first, 1).astype("f4")),
    ):
        np.testing.assert_allclose(np.asarray(result), wanted, rtol=1e-6)
    assert (x ** mt.full_like(x, 3)).tolist() == (first * first * first).tolist()
    assert (mt.ones_like(x) ** y).tolist() == np.ones_like(second).tolist()
    assert (x.amax(1).tolist(), x.amin().item()) == ([top, top - 1], 0)
    assert x.sum(0).tolist() == first.astype("i8").sum(0).tolist()
    assert (x @ y.mT).tolist() == (first @ second.T).tolist()
    for reduce, ufunc in (("amax", np.maximum), ("sum", np.add)):
        into = first.copy()
        ufunc.at(into, (np.array([[0], [1]]), index), second)
        assert x.scatter_reduce(1, places, y, reduce).tolist() == into.tolist(), reduce


@pytest.mark.parametrize("layout", ["contiguous", "reversed"])
def test_uint64_above_int64_maximum_converts_to_and_from_other_dtypes(
    backend: TensorBackend, layout: str
) -> None:
    large = np.array([2**64 - 2**40, 2**63, 2**63 - 2**10, 3], np.uint64)
    x = LAYOUTS[layout](large, backend)
    for dtype in ("float64", "float32", "int64", "uint32"):
        assert x.to(dtype).tolist() == large.astype(dtype).tolist(), dtype
    for dtype in ("float64", "float32"):
        floats = LAYOUTS[layout](large.astype(dtype)[1:], backend)
        assert floats.to("uint64").tolist() == large.astype(dtype)[1:].astype("u8").tolist()
    assert LAYOUTS[layout](np.array([-1, 5]), backend).to("uint64").tolist() == [2**64 - 1, 5]


def test_sign_of_bool_is_bool(backend: TensorBackend) -> None:
    sign = mt.tensor([True, False], backend=backend).sign()
    assert sign.dtype is mt.bool_
    assert sign.tolist() == [True, False]


def test_floor_of_int32_quotient_rounds_down(backend: TensorBackend) -> None:
    half = Formula("half", 1, 1, lambda x: floor(div(x, 2)))
    x = mt.tensor([-3, -2, -1, 0, 1, 3], dtype="int32", backend=backend)
    out = backend.empty(x.shape, x.dtype)
    backend.elementwise(half)([out], x._tensor)
    assert backend.to_host(out).tolist() == [-2, -1, -1, 0, 0, 1]


def test_operators_accept_expanded_tensors(backend: TensorBackend) -> None:
    column = mt.tensor([[1.0], [2.0]], backend=backend).expand(2, 3)
    row = mt.tensor([10.0, 20.0, 30.0], backend=backend).expand(2, 3)
    assert (column + row).tolist() == [[11, 21, 31], [12, 22, 32]]
    assert (mt.tensor(2.0, backend=backend).expand(2, 2) * column[:, :2]).tolist() == [
        [2, 2],
        [4, 4],
    ]


@settings(max_examples=25, deadline=None)
@given(mutually_broadcastable_shapes(num_shapes=3, max_dims=4, max_side=3, min_side=0))
def test_broadcast_values_and_gradients_match_numpy(backend_name: str, shapes: Any) -> None:
    rng = np.random.default_rng(0)
    a, b, c = (rng.standard_normal(shape) for shape in shapes.input_shapes)
    with use_backend(backend_name):
        x, y, z = (mt.tensor(array, requires_grad=True) for array in (a, b, c))
        result = x * y + z
        assert result.shape == shapes.result_shape
        np.testing.assert_allclose(np.asarray(result.detach()), a * b + c)
        result.sum().backward()
        for leaf, local in ((x, b + 0 * a), (y, a + 0 * b), (z, 1 + 0 * c)):
            assert leaf.grad is not None
            assert leaf.grad.shape == leaf.shape
            wanted = summed_to(np.broadcast_to(local, result.shape), leaf.shape)
            np.testing.assert_allclose(leaf.grad, wanted, atol=1e-12)


def summed_to(array: Array, shape: tuple[int, ...]) -> Array:
    """Return the sum of an array over the dimensions along which `shape` was broadcast."""
    array = array.sum(tuple(range(array.ndim - len(shape))))
    repeated = tuple(d for d, length in enumerate(shape) if length != array.shape[d])
    return np.asarray(array.sum(repeated, keepdims=True))

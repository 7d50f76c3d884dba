"""Vectorized functions: accuracy, special values, use by kernels."""

import functools
import math
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import njit

from mt_fast import vector_math
from mt_fast.core.reductions import REASSOCIATE
from mt_fast.vector_math import FLOAT32, FLOAT64, IN_FLOAT64, WRITTEN
from mt_fast.vector_math.operators import VECTORIZED
from mt_operators import OPERATORS
from mt_operators.core.elementary import ELEMENTARY

WIDE = np.longdouble
REFERENCE_ERROR = 0.0 if np.finfo(WIDE).nmant > 52 else 1.0
"""Error of the reference in units in the last place, on platforms where no float is wider than
float64."""

DEFAULT_TOLERANCE = 1.5
TOLERANCES = {"ndtr": 4.5, "gelu": 4.5}
"""Allowed errors in units in the last place."""

FORMATS = {"float32": FLOAT32, "float64": FLOAT64}
CASES = [
    (name, dtype)
    for dtype, float_format in FORMATS.items()
    for name in sorted(WRITTEN[float_format])
]
BINARY = {"pow"}
UNARY = [case for case in CASES if case[0] not in BINARY]
ODD = ["sin", "tanh", "erf", "expm1", "log1p"]

SPECIAL = [np.nan, np.inf, 0.0, 1.0, 1e-45, 1e-40, 1.17549435e-38, 5e-324, 1e-310, 2.3e-308]
EDGES = [88.72283, 88.72284, 89.0, 89.41598, 89.42, 87.33654, 103.97, 103.98, 104.0, 1e30, 1e300]
WIDE_EDGES = [709.782712893384, 709.79, 708.4, 745.1, 745.2, 1023.9999, 1024.0, 1074.0, 1075.1]
BRANCHES = [0.65, 0.64999998, 0.9, 3.93, 9.0, 9.1, 10.0, 19.1, 0.70710677, 1.4142135, 0.99999994]
TAILS = [5.0, 8.3, 12.8, 13.1, 14.1, 14.17, 14.3, 14.4, 37.5, 38.4, 38.5, 38.6, 38.7, 39.0]
OTHERS = [0.5, 0.34657, 0.34658, 127.99999, 128.0, 149.0, 150.0, 1e-8, 1e-20, 16777216.0, 1e22]


def loops_of(function: Any) -> Any:
    """Return loops over arrays by number of arguments, compiled like kernels."""

    @njit(error_model="numpy")
    def unary(x: Any, out: Any) -> None:
        for i in range(x.size):
            out[i] = function(x[i])

    @njit(error_model="numpy")
    def binary(x: Any, y: Any, out: Any) -> None:
        for i in range(x.size):
            out[i] = function(x[i], y[i])

    return {1: unary, 2: binary}


@functools.cache
def _loop(name: str, dtype: str) -> Any:
    written = WRITTEN[FORMATS[dtype]][name]
    return loops_of(vector_math.callable_in_kernels(written, FORMATS[dtype]))[1 + (name in BINARY)]


def _apply(loop: Callable[..., None], *arguments: Any) -> Any:
    out = np.empty_like(arguments[0])
    loop(*arguments, out)
    return out


@functools.cache
def _arguments(dtype: str) -> Any:
    """Return numbers of all exponents and signs, densest where the functions change most."""
    generator = np.random.default_rng(0)
    unsigned = np.dtype(f"u{np.dtype(dtype).itemsize}")
    bits = generator.integers(0, np.iinfo(unsigned).max, 200_000, unsigned, endpoint=True)
    positive = [*SPECIAL, *EDGES, *WIDE_EDGES, *BRANCHES, *TAILS, *OTHERS]
    parts = [
        bits.view(dtype),
        np.linspace(-105, 90, 100_001),
        np.linspace(-750, 720, 50_001),
        np.linspace(-2, 2, 200_001),
        [*positive, *(-x for x in positive)],
    ]
    with np.errstate(over="ignore"):
        return np.concatenate([np.asarray(part).astype(dtype) for part in parts])


@functools.cache
def _pairs(dtype: str) -> tuple[Any, Any]:
    """Return pairs: random bits, bases near 1 with large exponents, and moderate numbers."""
    generator = np.random.default_rng(1)
    unsigned = np.dtype(f"u{np.dtype(dtype).itemsize}")
    bits = generator.integers(0, np.iinfo(unsigned).max, (2, 100_000), unsigned, endpoint=True)
    near, power = (1e-3, 9e4) if dtype == "float32" else (1e-10, 7e12)
    uniform = generator.uniform(-1, 1, (8, 100_000))
    parts = [
        bits.view(dtype),
        (1 + near * uniform[0], power * uniform[1]),
        (np.exp(85 * uniform[2]), 1.2 * uniform[3]),
        (np.exp(5 * uniform[4]), 20 * uniform[5]),
        (9 * uniform[6], np.rint(40 * uniform[7])),
    ]
    x, y = (np.concatenate([np.asarray(part[i]).astype(dtype) for part in parts]) for i in (0, 1))
    return x, y


def _ndtr(x: Any) -> Any:
    """Return the normal distribution function (Abramowitz and Stegun, 26.2).

    Near 0 it is 1/2 plus the density times a series, elsewhere the density times a continued
    fraction. The square in the density is split into the exact square of a shorter number and a
    rest.
    """
    size = np.minimum(np.abs(x), 60.0)
    short = size.astype("f4").astype(WIDE)
    density = np.exp(-short * short / 2) * np.exp((short - size) * (short + size) / 2)
    density /= np.sqrt(WIDE(2) * WIDE("3.14159265358979323846264338327950288"))

    near = np.minimum(size, 1.0)
    term = series = near
    for k in range(1, 25):
        term = term * near * near / (2 * k + 1)
        series = series + term

    far = np.maximum(size, 1.0)
    fraction = np.zeros_like(far)
    for k in range(600, 0, -1):
        fraction = k / (far + fraction)

    left = np.where(size < 1.0, WIDE(0.5) - density * series, density / (far + fraction))
    return np.where(x < 0.0, left, 1.0 - left)


EXACT = {
    "pow": np.power,
    "erf": np.vectorize(math.erf, otypes=[WIDE]),
    "sigmoid": lambda x: np.where(x < 0.0, np.exp(x), 1.0) / (1.0 + np.exp(-np.abs(x))),
    "ndtr": _ndtr,
    "gelu": lambda x: np.maximum(x, -60.0) * _ndtr(x),
}


def _check(name: str, found: Any, exact: Any, *arguments: Any) -> None:
    """Compare results with exact ones of a wider dtype."""
    dtype = found.dtype
    with np.errstate(all="ignore"):
        rounded = exact.astype(dtype)
        assert np.array_equal(np.isnan(found), np.isnan(rounded))
        assert np.array_equal(found[np.isinf(rounded)], rounded[np.isinf(rounded)])
        finite = np.isfinite(rounded)
        unit = np.spacing(np.abs(rounded[finite])).astype(exact.dtype)
        errors = np.abs(found[finite] - exact[finite]) / unit
    worst = int(np.argmax(errors))
    where = [argument[finite][worst] for argument in arguments]
    tolerance = TOLERANCES.get(name, DEFAULT_TOLERANCE) + REFERENCE_ERROR
    assert errors[worst] < tolerance, f"{name} is wrong by {errors[worst]} units at {where}"


@pytest.mark.parametrize(("name", "dtype"), UNARY)
def test_unary_functions_are_accurate(name: str, dtype: str) -> None:
    x = _arguments(dtype)
    found = _apply(_loop(name, dtype), x)
    with np.errstate(all="ignore"):
        exact = EXACT.get(name, getattr(np, name, None))(x.astype(WIDE))
    _check(name, found, exact, x)


@pytest.mark.parametrize(("name", "dtype"), sorted(set(CASES) - set(UNARY)))
def test_binary_functions_are_accurate(name: str, dtype: str) -> None:
    x, y = _pairs(dtype)
    with np.errstate(all="ignore"):
        exact = EXACT.get(name, getattr(np, name, None))(x.astype(WIDE), y.astype(WIDE))
    _check(name, _apply(_loop(name, dtype), x, y), exact, x, y)


@pytest.mark.parametrize(("name", "dtype"), sorted(set(CASES) - set(UNARY)))
def test_binary_functions_match_python_at_special_values(name: str, dtype: str) -> None:
    ends = [0.0, 0.5, 1.0, 2.0, 3.0, 4.5, 16777215.0, 16777216.0, 1e30, math.inf]
    values = np.array([*ends, *(-x for x in ends), math.nan], dtype)
    x, y = (side.ravel() for side in np.meshgrid(values, values))
    found = _apply(_loop(name, dtype), x, y)
    pairs = zip(x.tolist(), y.tolist(), strict=True)
    with np.errstate(over="ignore"):
        expected = np.array([ELEMENTARY[name](*pair) for pair in pairs]).astype(dtype)
    known = expected == expected
    np.testing.assert_allclose(found, expected, rtol=3e-7 if dtype == "float32" else 5e-16)
    assert np.array_equal(np.signbit(found[known]), np.signbit(expected[known]))


@pytest.mark.parametrize("name", [*ODD, "gelu"])
def test_sign_of_zero_is_preserved(name: str) -> None:
    for dtype, float_format in FORMATS.items():
        if name in WRITTEN[float_format]:
            found = _apply(_loop(name, dtype), np.array([0.0, -0.0], dtype))
            assert found.tolist() == [0.0, 0.0]
            assert np.signbit(found).tolist() == [False, True]


@pytest.mark.parametrize("dtype", FORMATS)
def test_gelu_underflows_to_negative_zero(dtype: str) -> None:
    found = _apply(_loop("gelu", dtype), np.array([-14.3, -39.0, -1e30, -math.inf], dtype))
    assert np.signbit(found).all()
    assert found[1:].tolist() == [0.0, 0.0, 0.0]


@pytest.mark.parametrize("dtype", FORMATS)
def test_decay_matches_exp(dtype: str) -> None:
    x = _arguments(dtype)
    x = x[~(x > 40.0)]  # includes some numbers above 0
    loop = loops_of(vector_math.callable_in_kernels(vector_math.decay, FORMATS[dtype]))[1]
    with np.errstate(all="ignore"):
        exact = np.exp(x.astype(WIDE))
    _check("decay", _apply(loop, x), exact, x)


def test_exp_underflows_to_positive_zero() -> None:
    assert not np.signbit(_apply(_loop("exp", "float32"), np.array([-200.0], "float32"))).any()


def test_sin_and_cos_of_large_float32_angles_are_accurate() -> None:
    x = np.array([2.5229176e38, 1.2614588e38], "float32")
    sine, cosine = (_apply(_loop(name, "float32"), x) for name in ("sin", "cos"))
    exact = [4.624949951738393e-08, -2.3124749758691973e-08]
    np.testing.assert_allclose([sine[0], cosine[1]], exact, rtol=1e-7)


@settings(max_examples=50, deadline=None)
@given(
    case=st.sampled_from([("exp", "float32"), ("sin", "float32"), ("ndtr", "float64")]),
    start=st.integers(0, 70),
    count=st.integers(1, 70),
)
def test_vectorized_results_do_not_depend_on_adjacent_elements(
    case: tuple[str, str], start: int, count: int
) -> None:
    x = np.linspace(-3, 3, 200).astype(case[1])
    loop = _loop(*case)
    part = _apply(loop, x[start : start + count].copy())
    assert np.array_equal(part, _apply(loop, x)[start : start + count])


@pytest.mark.parametrize("dtype", FORMATS)
def test_log1p_stays_accurate_with_reassociation(dtype: str) -> None:
    function = VECTORIZED["log1p"]

    @njit(fastmath=set(REASSOCIATE))
    def total(x: Any) -> Any:
        found = x.dtype.type(0)
        for i in range(x.size):
            found += function(x[i])
        return found

    small = np.array([1e-20], dtype)  # 1 + x rounds to 1, so the rest must be kept
    assert total(small) == small[0]


@pytest.mark.parametrize(("name", "dtype"), CASES)
def test_llvm_vectorizes_the_functions(name: str, dtype: str) -> None:
    loop = _loop(name, dtype)
    ones = np.ones(4, dtype)
    _apply(loop, *[ones] * (1 + (name in BINARY)))
    (code,) = loop.inspect_llvm().values()
    lanes = "double" if dtype == "float64" or name in IN_FLOAT64 else "float"
    assert re.search(rf"fdiv <\d+ x {lanes}>|fma\.v\d+f\d+\(<\d+ x {lanes}>", code)


@pytest.mark.parametrize(("name", "dtype"), CASES)
def test_kernels_use_the_vectorized_functions(
    name: str, dtype: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    import mt_tensor as mt

    monkeypatch.setenv("MT_FAST_CACHE", "off")
    x = np.linspace(0.1, 0.9, 50)
    arguments = [x.astype(dtype)] * OPERATORS[name].arity
    tensors = [mt.tensor(argument, backend="fast") for argument in arguments]
    found = getattr(mt, name)(*tensors).numpy()
    assert np.array_equal(found, _apply(_loop(name, dtype), *arguments))


@pytest.mark.parametrize("name", ["asin", "sin", "erf"])
def test_functions_that_are_not_vectorized_match_math(name: str) -> None:
    import mt_tensor as mt

    x = np.linspace(-0.9, 0.9, 50)
    found = getattr(mt.tensor(x, backend="fast"), name)().numpy()
    assert np.array_equal(found, [getattr(math, name)(value) for value in x])

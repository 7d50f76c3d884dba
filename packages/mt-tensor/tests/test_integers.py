"""Floor division, remainders, bitwise operations, gcd and lcm against torch."""

import itertools
import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import mt_tensor as mt
from mt_tensor.errors import DivisionByZeroError, DTypeError

torch = pytest.importorskip("torch")

INTEGERS = ("int64", "int32", "int16", "int8", "uint8")
DTYPES = (*INTEGERS, "bool", "float32", "float64", "float16")
DIVISIONS: dict[str, Callable[..., Any]] = {
    "floor_divide": lambda library, x, y: library.floor_divide(x, y),
    "remainder": lambda library, x, y: library.remainder(x, y),
    "fmod": lambda library, x, y: library.fmod(x, y),
    "div floor": lambda library, x, y: library.div(x, y, rounding_mode="floor"),
    "div trunc": lambda library, x, y: library.div(x, y, rounding_mode="trunc"),
    "//": lambda library, x, y: x // y,
    "%": lambda library, x, y: x % y,
}
BITWISE = {
    f"bitwise_{name}": lambda library, x, y, name=name: getattr(library, f"bitwise_{name}")(x, y)
    for name in ("and", "or", "xor", "left_shift", "right_shift")
}
SYMBOLS = {
    symbol: getattr(operator, symbol) for symbol in ("and_", "or_", "xor", "lshift", "rshift")
}
SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.3, -2.5, 7.0, -7.0, 1e30, math.inf, -math.inf, math.nan]


def both(values: Any, dtype: str) -> tuple[Any, Any]:
    array = np.array(values)
    return mt.tensor(array, dtype=dtype), torch.tensor(array).to(getattr(torch, dtype))


def assert_same(ours: Any, theirs: Any) -> None:
    assert f"torch.{ours.dtype.name}" == str(theirs.dtype)
    assert ours.shape == tuple(theirs.shape)
    np.testing.assert_array_equal(np.asarray(ours), theirs.numpy())


@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize("name", DIVISIONS)
def test_divisions_of_integers_match_torch(name: str, dtype: str) -> None:
    limits = np.iinfo(dtype)
    numbers = {limits.min, limits.min + 1, -9, -2, -1, 0, 1, 2, 9, limits.max}
    numbers |= {2**53 + 1, -(2**53) - 1}
    pairs = [
        (x, y)
        for x, y in itertools.product(sorted(numbers), repeat=2)
        if limits.min <= x <= limits.max and limits.min <= y <= limits.max
        # torch crashes if the quotient overflows
        if y and (x, y) != (limits.min, -1)
    ]
    ours, theirs = zip(*(both(column, dtype) for column in zip(*pairs, strict=True)), strict=True)
    assert_same(DIVISIONS[name](mt, *ours), DIVISIONS[name](torch, *theirs))


@pytest.mark.parametrize("dtype", INTEGERS[:-1])
def test_division_of_smallest_integer_by_minus_one_wraps_around(dtype: str) -> None:
    x = mt.tensor([np.iinfo(dtype).min], dtype=dtype)
    assert (x // -1).tolist() == x.tolist() == mt.div(x, -1, rounding_mode="trunc").tolist()
    assert (x % -1).tolist() == [0] == mt.fmod(x, -1).tolist()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", DIVISIONS)
def test_divisions_of_special_floats_match_torch(name: str, dtype: str) -> None:
    columns = zip(*itertools.product(SPECIAL, repeat=2), strict=True)
    ours, theirs = zip(*(both(column, dtype) for column in columns), strict=True)
    results = DIVISIONS[name](mt, *ours), DIVISIONS[name](torch, *theirs)
    assert_same(*results)
    signs = [np.signbit(np.asarray(result)) for result in results]
    zeros = np.asarray(results[0]) == 0
    assert np.array_equal(signs[0][zeros], signs[1][zeros])


FINITE = st.floats(-1e6, 1e6, width=32)


@given(x=FINITE, y=FINITE)
@pytest.mark.parametrize("name", DIVISIONS)
def test_divisions_of_random_floats_match_torch(name: str, x: float, y: float) -> None:
    ours, theirs = zip(*(both([value], "float64") for value in (x, y)), strict=True)
    assert_same(DIVISIONS[name](mt, *ours), DIVISIONS[name](torch, *theirs))


@pytest.mark.parametrize("name", [n for n in DIVISIONS if n not in ("floor_divide", "//")])
def test_gradients_of_divisions_match_torch(name: str) -> None:
    arrays = np.array([7.5, -7.5, 7.5, -0.3, 4.1]), np.array([2.0, 2.0, -2.0, 1.0, 1.5])
    grads = []
    for library in (mt, torch):
        x, y = (library.tensor(array.tolist()).requires_grad_() for array in arrays)
        (
            DIVISIONS[name](library, x, y) * library.tensor([1.0, 2.0, 3.0, 4.0, 5.0])
        ).sum().backward()
        grads.append((np.asarray(x.grad), np.asarray(y.grad)))
    np.testing.assert_array_equal(grads[0], grads[1])


def test_floor_divide_has_gradient_zero() -> None:  # not implemented in torch
    x = mt.tensor([7.5, -7.5], requires_grad=True)
    (x // 2 + x).sum().backward()
    assert x.grad is not None
    assert x.grad.tolist() == [1.0, 1.0]


@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize("name", BITWISE)
def test_bitwise_operations_match_torch(name: str, dtype: str) -> None:
    limits = np.iinfo(dtype)
    numbers = [limits.min, -70, -5, -1, 0, 1, 2, 7, 8, 15, 16, 31, 32, 63, 64, 100, limits.max]
    numbers = [number for number in numbers if limits.min <= number <= limits.max]
    columns = zip(*itertools.product(numbers, repeat=2), strict=True)
    ours, theirs = zip(*(both(column, dtype) for column in columns), strict=True)
    assert_same(BITWISE[name](mt, *ours), BITWISE[name](torch, *theirs))
    assert_same(mt.bitwise_not(ours[0]), torch.bitwise_not(theirs[0]))
    assert_same(~ours[0], ~theirs[0])


@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize("name", ["gcd", "lcm"])
def test_gcd_and_lcm_match_torch(name: str, dtype: str) -> None:
    numbers = [0, 1, 2, 6, 9, 10] + ([] if dtype == "uint8" else [-1, -4, -6])
    columns = zip(*itertools.product(numbers, repeat=2), strict=True)
    ours, theirs = zip(*(both(column, dtype) for column in columns), strict=True)
    assert_same(getattr(mt, name)(*ours), getattr(torch, name)(*theirs))
    assert_same(getattr(ours[0], name)(ours[1]), getattr(theirs[0], name)(theirs[1]))


NUMBERS = (2, True, 2.5)


def result_or_none(call: Callable[..., Any], *args: Any) -> Any:
    """Return the result of a call, or None if it raises."""
    try:
        return call(*args)
    except (TypeError, NotImplementedError, RuntimeError):
        return None


@pytest.mark.parametrize("second", [*DTYPES, *NUMBERS])
@pytest.mark.parametrize("first", DTYPES)
def test_each_pair_of_dtypes_promotes_or_raises_as_in_torch(first: str, second: Any) -> None:
    x, y = both([3, 1, 2], first), both([1, 1, 1], second) if isinstance(second, str) else None
    calls = {**DIVISIONS, **BITWISE}
    calls |= {n: lambda library, *args, f=f: f(*args) for n, f in SYMBOLS.items()}
    for name, call in calls.items():
        others = y or (second, second)
        ours, theirs = (
            result_or_none(call, library, left, right)
            for library, left, right in zip((mt, torch), x, others, strict=True)
        )
        assert (ours is None) == (theirs is None), name
        if ours is not None:
            assert_same(ours, theirs)
        if name in SYMBOLS or name in ("//", "%"):  # with swapped operands
            ours, theirs = (
                result_or_none(call, library, right, left)
                for library, left, right in zip((mt, torch), x, others, strict=True)
            )
            assert (ours is None) == (theirs is None), name
            if ours is not None:
                assert_same(ours, theirs)


def test_bitwise_operators_on_bool_are_logical() -> None:
    ours, theirs = both([True, True, False, False], "bool"), both([1, 0, 1, 0], "bool")
    for symbol in ("and_", "or_", "xor"):
        assert_same(*(SYMBOLS[symbol](x, y) for x, y in zip(ours, theirs, strict=True)))
    assert_same(~ours[0], ~ours[1])
    assert (ours[0] & True).dtype is mt.bool_
    assert (1 & ours[0]).dtype is mt.int64


def test_divmod_returns_floored_quotients_and_remainders() -> None:
    x = mt.tensor([7, -7])
    for ours, expected in ((divmod(x, 2), [[3, -4], [1, 1]]), (divmod(9, x), [[1, -2], [2, -5]])):
        assert [part.tolist() for part in ours] == expected


X, F = mt.tensor([3, 4]), mt.tensor([3.0, 4.0])
ERRORS: list[tuple[Callable[[], Any], type[Exception], str]] = [
    (lambda: X // mt.tensor([0]), DivisionByZeroError, "divided by zero"),
    (lambda: X // 0, DivisionByZeroError, "divided by zero"),
    (lambda: X % mt.tensor([1, 0]), ZeroDivisionError, "divided by zero"),
    (lambda: X.to("int8") // 256, DivisionByZeroError, "divided by zero"),
    (lambda: X.to("int8") % mt.tensor(512), DivisionByZeroError, "divided by zero"),
    (lambda: mt.fmod(X, 0), RuntimeError, "divided by zero"),
    (lambda: mt.div(X, 0, rounding_mode="trunc"), DivisionByZeroError, "divided by zero"),
    (lambda: mt.div(X, 2, rounding_mode="up"), ValueError, "'up' was given"),  # type: ignore[arg-type]
    (lambda: (X > 3) // (X > 2), DTypeError, "not defined on bool"),
    (lambda: (X > 3) << (X > 2), DTypeError, "not defined on bool"),
    (lambda: F & 1, DTypeError, r"bitwise_and\(\) works on integers and bool; float32 was given"),
    (lambda: ~F, DTypeError, r"bitwise_not\(\) works on integers"),
    (lambda: X << 1.0, DTypeError, "float32 was given"),
    (lambda: X & "1", TypeError, "unsupported operand"),
    (lambda: "1" // X, TypeError, "unsupported operand"),
    (lambda: mt.bitwise_and(X, "1"), TypeError, "'1' of type str"),
    (lambda: mt.bitwise_not(3), TypeError, "takes tensors"),  # type: ignore[arg-type]
    (lambda: mt.gcd(X, 2), TypeError, "takes tensors"),  # type: ignore[arg-type]
    (lambda: mt.remainder(X, None), TypeError, "None of type NoneType"),
]


@pytest.mark.parametrize(("call", "error", "message"), ERRORS)
def test_division_by_zero_and_bad_operands_raise(
    call: Callable[[], Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        call()


def test_operations_on_empty_tensors_return_empty_tensors() -> None:
    empty = mt.zeros(0, 3, dtype="int64")
    assert (empty // empty).shape == (0, 3)
    assert (empty & 1).shape == (0, 3)
    assert (mt.tensor(7) // mt.tensor(2)).item() == 3


@pytest.mark.parametrize(
    "divisor",
    [lambda: 0, lambda: mt.tensor(0), lambda: mt.tensor([0]), lambda: mt.tensor([[0], [1]])],
)
def test_dividing_an_empty_tensor_by_zero_does_not_raise(divisor):
    empty = mt.zeros(0, dtype="int32")
    for quotient in (empty // divisor(), empty % divisor(), empty.fmod(divisor())):
        assert quotient.numel() == 0

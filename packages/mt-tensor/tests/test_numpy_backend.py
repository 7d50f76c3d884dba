"""The numpy backend: suppressed warnings, formulas of arrays, and large arrays."""

import math
import threading
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import mt_tensor as mt
from mt_operators import OPERATORS, Formula
from mt_operators.core.elementary import where
from mt_tensor.backends import get_backend
from mt_tensor.backends.extending import FUNCTIONS, numpy_source
from mt_tensor.core.dtypes import Array, DType, bool_, float32, float64, int32
from mt_tensor.core.host import no_warnings, run_without_warnings
from mt_tensor.core.layout import row_major
from mt_tensor.core.numpy_functions import function_of, numpy_function
from mt_tensor.core.tensor_data import TensorData
from mt_tensor.large_arrays.choices import MANY, choose, split

LARGE = 2**19
"""The size of an array that does not fit the processor's cache."""


@pytest.fixture(autouse=True)
def _warnings_are_errors() -> Iterator[None]:
    with warnings.catch_warnings(), np.errstate(all="warn"):
        warnings.simplefilter("error")
        yield


def _view(values: object, dtype: DType = float32) -> TensorData:
    return mt.get_backend("numpy").from_host(np.asarray(values, dtype.numpy))


def _divide_by_zero() -> bool:
    return bool(np.isinf(np.float32(1) / np.zeros(1, np.float32)).all())


def test_warnings_are_suppressed_only_within_the_call() -> None:
    assert run_without_warnings(_divide_by_zero)
    assert no_warnings().run(_divide_by_zero)
    with pytest.raises(RuntimeWarning):
        _divide_by_zero()


def test_no_warnings_can_be_nested_and_run_without_warnings_cannot() -> None:
    with pytest.raises(RuntimeError):
        run_without_warnings(run_without_warnings, _divide_by_zero)
    assert run_without_warnings(lambda: no_warnings().run(_divide_by_zero))
    assert no_warnings().run(lambda: no_warnings().run(_divide_by_zero))


def test_no_warnings_works_while_another_thread_suppresses_warnings() -> None:
    entered, leave = threading.Event(), threading.Event()

    def stay() -> None:
        entered.set()
        leave.wait(10)

    other = threading.Thread(target=run_without_warnings, args=(stay,))
    other.start()
    try:
        assert entered.wait(10)
        assert no_warnings().run(_divide_by_zero)
        one, zero = mt.ones(3, requires_grad=True), mt.zeros(3)
        quotient = one / zero
        quotient.sum().backward()
        assert quotient.tolist() == [float("inf")] * 3
        assert str(one.grad) == "tensor([inf, inf, inf])"
    finally:
        leave.set()
        other.join()


def test_no_warnings_propagates_errors() -> None:
    def fail() -> None:
        raise ZeroDivisionError("on purpose")

    with pytest.raises(ZeroDivisionError, match="on purpose"):
        no_warnings().run(fail)


def test_elementwise_result_has_the_given_layout_and_dtype() -> None:
    """This holds even where NumPy returns a scalar, another dtype or another memory order."""
    backend = mt.get_backend("numpy")
    add = backend.elementwise(OPERATORS["add"].value)
    assert add(row_major((), float32), _view(1), _view(2)).array.shape == ()
    assert add(row_major((2,), int32), _view([1, 2]), _view([3, 4])).array.dtype == np.int32
    transposed = _view([[1, 2, 3], [4, 5, 6]]).permute(1, 0)
    total = add(row_major((3, 2), float32), transposed, transposed)
    assert total.array.flags.c_contiguous
    assert total.strides == (2, 1)
    assert total.array.tolist() == [[2, 8], [4, 10], [6, 12]]
    broadcast = add(row_major((2, 2), float32), _view([[1], [2]]), _view([10, 20]))
    assert broadcast.array.tolist() == [[11, 21], [12, 22]]
    isnan = backend.elementwise(OPERATORS["isnan"].value)
    assert isnan(row_major((1,), bool_), _view([1])).dtype is bool_


def test_formula_with_constant_result_fills_the_shape() -> None:
    backend = mt.get_backend("numpy")
    zero = backend.elementwise(OPERATORS["sign"].gradient((True,)))
    view = _view([[1.0, -2.0], [3.0, 0.0]])
    assert zero(view.layout, view, view, view).array.tolist() == [[0, 0], [0, 0]]


def _third_or_a_tenth(condition: float, x: float) -> float:
    return where(condition, x / 3.0, 0.1)


def test_bool_argument_does_not_change_the_dtype_of_a_formula() -> None:
    """The constants of the formula have the dtype of its other arguments."""
    backend = mt.get_backend("numpy")
    chosen = backend.elementwise(Formula("third_or_a_tenth", 2, 1, _third_or_a_tenth))
    for dtype in (float32, float64):
        found = chosen(row_major((2,), dtype), _view([1, 0], bool_), _view([1, 1], dtype)).array
        expected = np.asarray([dtype.numpy.type(1) / dtype.numpy.type(3), 0.1], dtype.numpy)
        assert found.dtype == dtype.numpy
        np.testing.assert_array_equal(found, expected)


# --- Large arrays ---------------------------------------------------------------------------------

SPECIAL = [0.0, -0.0, 1.0, -1.0, math.inf, -math.inf, math.nan, 88.0, -88.0, 1e-30, 0.5]


def _arguments(arity: int, size: int) -> list[Array]:
    rng = np.random.default_rng(arity)
    drawn = [rng.normal(scale=2, size=size).astype(np.float32) for _ in range(arity)]
    for i, row in enumerate(drawn):
        row[:: 7 + i] = rng.choice(np.array(SPECIAL, np.float32), row[:: 7 + i].shape)
    return drawn


def _formulas() -> Iterator[Formula]:
    for name in OPERATORS:
        operator = OPERATORS[name]
        if operator.result != "integer":
            yield operator.value
            yield operator.gradient((True,) * operator.arity)


@pytest.mark.parametrize("formula", [*_formulas()], ids=lambda formula: formula.name)
def test_formula_of_large_array_equals_formula_of_its_parts(formula: Formula) -> None:
    """Large arrays use `choose`, without branches, and small ones `where`."""
    function = _vectorized(formula)
    arrays = _arguments(formula.arity, LARGE + 77)
    with np.errstate(all="ignore"):
        full = function(*arrays)
        parts = [
            function(*[row[start : start + MANY - 1] for row in arrays])
            for start in range(0, LARGE + 77, MANY - 1)
        ]
    several = isinstance(full, tuple)
    for i, result in enumerate(full if several else (full,)):
        pieces = [part[i] if several else part for part in parts]
        if np.ndim(pieces[0]) == 0:  # a constant, such as the derivative of floor
            np.testing.assert_array_equal(result, np.broadcast_to(pieces[0], result.shape))
        else:
            expected = np.concatenate(pieces)
            assert result.dtype == expected.dtype
            # NumPy's functions may round differently at different positions of an array.
            np.testing.assert_allclose(result.astype("f8"), expected.astype("f8"), rtol=3e-7)
            number = ~np.isnan(expected)
            signs = np.signbit(result[number]), np.signbit(expected[number])
            np.testing.assert_array_equal(*signs)


def _vectorized(formula: Formula) -> Callable[..., Any]:
    return numpy_function(formula, FUNCTIONS, np.dtype(np.float32))


def test_from_host_shares_native_arrays_and_copies_others() -> None:
    backend, native = get_backend("numpy"), np.arange(6.0)
    assert np.shares_memory(backend.to_host(backend.from_host(native)), native)
    for array in (native.astype(">f8"), native[::2]):
        data = backend.from_host(array)
        assert data.array.dtype == np.float64
        assert data.array.dtype.isnative
        assert np.array_equal(backend.to_host(data), array)
        assert not np.shares_memory(backend.to_host(data), array)


def test_function_of_a_single_operation_is_the_ufunc() -> None:
    def double_sum(x: float, y: float) -> float:
        return (x + y) + (x + y)

    def difference(x: float, y: float) -> float:
        return y - x

    assert function_of(Formula("add", 2, 1, lambda x, y: x + y), FUNCTIONS) is np.add
    assert function_of(Formula("double_sum", 2, 1, double_sum), FUNCTIONS) is None
    assert function_of(Formula("difference", 2, 1, difference), FUNCTIONS) is None


@pytest.mark.parametrize("size", [1, 5, 1000])
@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "i1", "u1", "i2", "i4", "i8", "?"])
def test_choose_and_split_match_where(dtype: str, size: int) -> None:
    rng = np.random.default_rng(size)
    x, y = (rng.choice(np.array(SPECIAL), (3, size)) for _ in range(2))
    with np.errstate(all="ignore"):
        x, y = (each.astype(dtype) for each in (x, y))
    condition = rng.integers(0, 2, (3, size)).astype(bool)
    bits = {"f2": "i2", "f4": "i4", "f8": "i8"}.get(dtype, dtype)
    for arguments in (
        (condition, x, y),
        (condition[:1], x, y[:, :1]),
        (condition, x[:1], y[0, 0].reshape(())),
        (condition[:, ::-1], x.T.copy().T, y),
    ):
        zero = np.zeros((), dtype)
        mask, first, second = arguments
        for choice in (arguments, (mask, first, zero), (mask, zero, second)):
            chosen = choose(*choice)
            assert chosen.dtype == dtype
            np.testing.assert_array_equal(chosen.view(bits), np.where(*choice).view(bits))
    for actual, mask in zip(split(condition, x), (condition, ~condition), strict=True):
        expected = np.where(mask, x, np.zeros((), dtype))
        np.testing.assert_array_equal(actual.view(bits), expected.view(bits))


def test_choose_promotes_dtypes_as_where_does() -> None:
    condition = np.arange(MANY) % 3 == 0
    chosen = choose(condition, np.ones(MANY, np.int64), np.full((), 0.5))
    np.testing.assert_array_equal(chosen, np.where(condition, 1.0, 0.5))


@pytest.mark.parametrize("size", [11, LARGE])
def test_sigmoid_is_accurate_for_all_magnitudes(size: int) -> None:
    """Small results are accurate as well, unlike those of `1 - sigmoid(-x)`."""
    sigmoid = FUNCTIONS["sigmoid"]
    for dtype, tolerance in (("f8", 1e-15), ("f4", 3e-7), ("f2", 1e-3)):
        least = float(np.finfo(dtype).smallest_subnormal)
        with np.errstate(all="ignore"):
            x = np.linspace(-87, 40, size).astype(dtype)
            found, ends = sigmoid(x), sigmoid(np.array([-np.inf, -1e4, 1e4, np.inf, np.nan], dtype))
        assert found.dtype == dtype
        expected = 1 / (1 + np.exp(-x.astype("f8")))
        np.testing.assert_allclose(found.astype("f8"), expected, rtol=tolerance, atol=least)
        np.testing.assert_array_equal(ends, np.array([0, 0, 1, 1, np.nan], dtype))


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_gradient_of_16_bit_leaf_has_its_dtype(dtype: str) -> None:
    x = mt.tensor([0.5, 1.5, -2.0], dtype=dtype, requires_grad=True)
    x.square().sum().backward()
    assert x.grad.dtype is x.dtype
    assert x.grad.tolist() == [1.0, 3.0, -4.0]


def test_constant_gradient_has_the_shape_of_its_input() -> None:
    zero = mt.fuse(lambda x, y: x)
    x, y = mt.ones(2, 3, requires_grad=True), mt.ones(2, 3, requires_grad=True)
    (gradient,) = mt.autograd.grad(zero(x, y).sum(), y, create_graph=True)
    assert gradient.shape == (2, 3)
    assert not gradient.any()


def test_numpy_source_rejects_a_row_of_the_operator_table() -> None:
    with pytest.raises(TypeError, match="takes a formula, such as row.value"):
        numpy_source(OPERATORS["softsign"])

"""What the `numpy` backend does beside its primitives: quiet calls, and results of its own."""

import threading
import warnings
from collections.abc import Iterator

import numpy as np
import pytest

import mt_tensor as mt
from mt_operators import OPERATORS, Formula
from mt_operators.elementary import where
from mt_tensor.backends.silence import run_quietly, silently
from mt_tensor.dtypes import DType, bool_, float32, float64, int32
from mt_tensor.tensor_data import TensorData


@pytest.fixture(autouse=True)
def _warnings_are_errors() -> Iterator[None]:
    with warnings.catch_warnings(), np.errstate(all="warn"):
        warnings.simplefilter("error")
        yield


def _view(values: object, dtype: DType = float32) -> TensorData:
    return mt.get_backend("numpy").upload(np.asarray(values, dtype.numpy))


def _divide_by_zero() -> bool:
    return bool(np.isinf(np.float32(1) / np.zeros(1, np.float32)).all())


def test_nothing_warns_within_a_quiet_call_and_everything_after_it() -> None:
    assert run_quietly(_divide_by_zero)
    assert silently(_divide_by_zero)
    with pytest.raises(RuntimeWarning):
        _divide_by_zero()


def test_a_quiet_call_within_another() -> None:
    with pytest.raises(RuntimeError):
        run_quietly(run_quietly, _divide_by_zero)
    assert run_quietly(silently, _divide_by_zero)


def test_a_quiet_call_while_another_thread_is_in_one() -> None:
    entered, leave = threading.Event(), threading.Event()

    def stay() -> None:
        entered.set()
        leave.wait(10)

    other = threading.Thread(target=run_quietly, args=(stay,))
    other.start()
    try:
        assert entered.wait(10)
        assert silently(_divide_by_zero)
        one, zero = mt.ones(3, requires_grad=True), mt.zeros(3)
        quotient = one / zero
        quotient.sum().backward()
        assert quotient.tolist() == [float("inf")] * 3
        assert str(one.grad) == "tensor([inf, inf, inf])"
    finally:
        leave.set()
        other.join()


def test_an_error_within_a_quiet_call_is_passed_on() -> None:
    def fail() -> None:
        raise ZeroDivisionError("on purpose")

    with pytest.raises(ZeroDivisionError, match="on purpose"):
        silently(fail)


def test_computing_takes_all_that_functions_of_numpy_return() -> None:
    """Scalars, other element types and orders in memory: what comes out is what was asked for."""
    backend = mt.get_backend("numpy")
    add = backend.computing(OPERATORS["add"].value)
    assert add(_view(1), _view(2), (), float32).array.shape == ()
    assert add(_view([1, 2]), _view([3, 4]), (2,), int32).array.dtype == np.int32
    turned = _view([[1, 2, 3], [4, 5, 6]]).permute(1, 0)
    total = add(turned, turned, (3, 2), float32)
    assert total.array.flags.c_contiguous
    assert total.strides == (2, 1)
    assert total.array.tolist() == [[2, 8], [4, 10], [6, 12]]
    wider = add(_view([[1], [2]]), _view([10, 20]), (2, 2), float32)
    assert wider.array.tolist() == [[11, 21], [12, 22]]
    assert backend.computing(OPERATORS["isnan"].value)(_view([1]), (1,), bool_).dtype is bool_


def test_computing_a_formula_of_numbers_alone_fills_the_shape() -> None:
    backend = mt.get_backend("numpy")
    zero = backend.computing(OPERATORS["sign"].gradient((True,)))
    view = _view([[1.0, -2.0], [3.0, 0.0]])
    assert zero(view, view, view, (2, 2), float32).array.tolist() == [[0, 0], [0, 0]]


def _third_or_a_tenth(condition: float, x: float) -> float:
    return where(condition, x / 3.0, 0.1)


def test_computing_keeps_the_types_of_conditions_apart() -> None:
    """A bool among others is a condition; the numbers of the formula take the type of the rest."""
    backend = mt.get_backend("numpy")
    chosen = backend.computing(Formula("third_or_a_tenth", 2, 1, _third_or_a_tenth))
    for dtype in (float32, float64):
        found = chosen(_view([1, 0], bool_), _view([1, 1], dtype), (2,), dtype).array
        expected = np.asarray([dtype.numpy.type(1) / dtype.numpy.type(3), 0.1], dtype.numpy)
        assert found.dtype == dtype.numpy
        np.testing.assert_array_equal(found, expected)

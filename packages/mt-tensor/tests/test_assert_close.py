"""`assert_close`: tolerances, messages, and agreement with torch."""

from typing import Any

import numpy as np
import pytest

import mt_tensor as mt
from mt_tensor.pointwise.comparing import assert_close

CLOSE: list[tuple[Any, Any, dict[str, Any]]] = [
    ([1.0, 2.0], [1.0, 2.0], {}),
    ([1.0, 2.0], [1.000001, 2.0], {}),
    (1, 1, {}),
    ([], [], {}),
    ([float("nan")], [float("nan")], {"equal_nan": True}),
    ([float("inf")], [float("inf")], {}),
    ([1.0], [1.4], {"rtol": 0.0, "atol": 0.5}),
    (np.array([True]), np.array([True]), {}),
    (np.float64([1.0]), np.float32([1.0]), {"check_dtype": False}),
]

DIFFERENT: list[tuple[Any, Any, dict[str, Any], str]] = [
    ([1.0, 2.0], [1.0, 2.1], {}, "1 of 2 elements differ, by up to 0.09999"),
    ([1, 2], [1, 3], {}, "1 of 2 elements differ, by up to 1"),
    ([float("nan")], [float("nan")], {}, "1 of 1 elements differ, by up to nan"),
    ([1.0], [[1.0]], {}, r"shapes differ: \(1,\) and \(1, 1\)"),
    ([1.0], [1], {}, "dtypes differ: float32 and int64"),
    (
        np.float64([1.0]),
        np.float64([1.00001]),
        {},
        "allowed: 1e-07, and 1e-07 of the expected value",
    ),
    ([1.0], [2.0], {"msg": "mine"}, "^mine$"),
]


TOLERANCES = {np.float16: (1e-3, 1e-5), np.float32: (1.3e-6, 1e-5), np.float64: (1e-7, 1e-7)}
"""The default `rtol` and `atol` of each dtype."""

for dtype, (rtol, atol) in TOLERANCES.items():
    for expected, allowed in ((1000.0, 1000.0 * rtol), (0.0, atol)):
        near, far = (np.array([expected + factor * allowed], dtype) for factor in (0.5, 2.0))
        CLOSE.append((near, np.array([expected], dtype), {}))
        DIFFERENT.append((far, np.array([expected], dtype), {}, "1 of 1 elements differ"))


@pytest.mark.parametrize(("actual", "expected", "settings"), CLOSE)
def test_assert_close_accepts_close_values(
    actual: Any, expected: Any, settings: dict[str, Any]
) -> None:
    assert_close(mt.tensor(actual), mt.tensor(expected), **settings)


@pytest.mark.parametrize(("actual", "expected", "settings", "message"), DIFFERENT)
def test_assert_close_error_states_how_many_elements_differ_and_by_how_much(
    actual: Any, expected: Any, settings: dict[str, Any], message: str
) -> None:
    with pytest.raises(AssertionError, match=message):
        assert_close(mt.tensor(actual), mt.tensor(expected), **settings)


@pytest.mark.parametrize("case", [*CLOSE, *DIFFERENT])
def test_torch_accepts_and_rejects_the_same_values(case: tuple[Any, ...]) -> None:
    torch = pytest.importorskip("torch")
    actual, expected, settings = case[:3]
    settings = {name: value for name, value in settings.items() if name != "msg"}
    outcomes = []
    for library, check in ((mt, assert_close), (torch, torch.testing.assert_close)):
        try:
            check(library.tensor(actual), library.tensor(expected), **settings)
        except AssertionError:
            outcomes.append("different")
        else:
            outcomes.append("close")
    assert outcomes[0] == outcomes[1]


def test_rtol_without_atol_raises() -> None:
    with pytest.raises(TypeError, match="takes both rtol= and atol=, or neither"):
        assert_close(mt.ones(1), mt.ones(1), rtol=0.1)


def test_assert_close_accepts_numbers_and_arrays() -> None:
    assert_close(1.0, 1.0)
    assert_close(np.ones(2, np.float32), mt.ones(2))

"""`erf` and `erfc` of the `numpy` backend, compared with `math`."""

import math
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from mt_tensor.special.erf import BLOCK, erf, erfc


def math_erf(x: npt.NDArray[Any]) -> npt.NDArray[Any]:
    return np.array([math.erf(value) for value in x.ravel().tolist()]).reshape(x.shape)


@pytest.mark.parametrize(("dtype", "tolerance"), [("float64", 1.2e-15), ("float32", 4e-7)])
def test_erf_is_accurate_odd_and_at_most_1(dtype: str, tolerance: float) -> None:
    smallest = 1e-35 if dtype == "float32" else 1e-300
    sizes = np.geomspace(smallest, 1e3, 3000)
    x = np.concatenate([np.linspace(-7, 7, 20_001), sizes, -sizes]).astype(dtype)
    y = erf(x)
    assert y.dtype == dtype
    np.testing.assert_allclose(y.astype("f8"), math_erf(x), rtol=tolerance, atol=0)
    assert np.abs(y).max() == 1
    assert np.array_equal(erf(-x), -y)


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16"])
def test_erf_of_zero_inf_and_nan_is_exact(dtype: str) -> None:
    x = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, np.finfo(dtype).max], dtype)
    y = erf(x)
    assert y.dtype == dtype
    np.testing.assert_array_equal(y, [0.0, -0.0, 1.0, -1.0, np.nan, 1.0])
    assert np.signbit(y[:2]).tolist() == [False, True]


def test_erf_takes_out_and_scalars_like_a_ufunc() -> None:
    x = np.random.default_rng(0).normal(size=(3, BLOCK))
    expected = math_erf(x[:, ::500])
    np.testing.assert_allclose(erf(x)[:, ::500], expected, rtol=1e-14)
    out = np.zeros((3, 2 * BLOCK), "f4")
    returned = erf(x, out=out[:, ::2])
    assert returned.base is out
    np.testing.assert_allclose(out[:, ::1000], expected, rtol=1e-6)
    assert not out[:, 1::2].any()
    x[0, 1] = np.inf
    erf(x, out=x)
    np.testing.assert_allclose(x[:, ::500], expected, rtol=1e-14)
    assert x[0, 1] == 1
    assert erf(np.ones((0, 3))).shape == (0, 3)
    assert type(erf(np.float32(1))) is np.float32
    assert erf(2) == pytest.approx(math.erf(2), rel=1e-15)
    with pytest.raises(TypeError, match="could not be cast"):
        erf(x, out=np.zeros(x.shape, "i8"))


@pytest.mark.parametrize(("dtype", "tolerance"), [("float64", 2.5e-15), ("float32", 6e-7)])
def test_erfc_is_accurate_down_to_smallest_normal_number(dtype: str, tolerance: float) -> None:
    smallest = np.finfo(dtype).smallest_normal
    sizes = np.geomspace(smallest, 1e3, 3000)
    x = np.concatenate([np.linspace(-7, 28, 40_001), sizes, -sizes]).astype(dtype)
    expected = np.array([math.erfc(value) for value in x.tolist()])
    y = erfc(x)
    assert y.dtype == dtype
    np.testing.assert_allclose(y.astype("f8"), expected, tolerance, float(smallest) * 1e-5)
    normal = expected > smallest
    np.testing.assert_allclose(y[normal].astype("f8"), expected[normal], tolerance, 0)
    special = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, np.finfo(dtype).max], dtype)
    np.testing.assert_array_equal(erfc(special), [1, 1, 0, 2, np.nan, 0])


def test_erfc_in_place_and_by_block_matches_math() -> None:
    x = np.random.default_rng(0).normal(size=(3, BLOCK))
    expected = np.array([math.erfc(value) for value in x[:, ::500].ravel().tolist()])
    erfc(x, out=x)
    np.testing.assert_allclose(x[:, ::500].ravel(), expected, rtol=1e-14)
    assert type(erfc(np.float32(1))) is np.float32
    assert erfc(np.ones((0, 3))).shape == (0, 3)

"""The vectorised functions of float32: against NumPy in float64, at every scale."""

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numba import njit

from mt_fast import cache, vector_math
from mt_fast.spelling import VECTORISED

WORST = 1.5
"""Units in the last place by which a result may differ from the exact one."""

NAMES = sorted(VECTORISED)

SPECIAL = [np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0, 1e-45, -1e-45, 1e-40, 1.17549435e-38]
EDGES = [88.72283, 88.72284, 88.8, 89.0, -87.33654, -87.4, -103.97, -103.98, -104.0, -1e30, 1e30]
SEAMS = [0.625, 0.62499994, 9.0, 9.1, 10.0, 0.70710677, 0.7071068, 1.4142135, 1.4142137, 0.99999994]
MORE = [0.5, 0.34657, 0.34658, 127.99999, 128.0, 149.0, 150.0, 1e-8, 1e-20, 16777216.0]


def _loop(name: str) -> Any:
    function = getattr(vector_math, name)

    @njit(error_model="numpy")
    def loop(x: Any, out: Any) -> None:
        for i in range(x.size):
            out[i] = function(x[i])

    return loop


def _applied(loop: Callable[..., None], x: Any) -> Any:
    out = np.empty_like(x)
    loop(x, out)
    return out


def _arguments() -> Any:
    """Return numbers with all exponents and signs, and densely where the functions bend."""
    bits = np.random.default_rng(0).integers(0, 2**32, 500_000, np.uint32)
    parts = [
        bits.view(np.float32),
        np.linspace(-105, 90, 200_001),
        np.linspace(-2, 2, 200_001),
        [*SPECIAL, *EDGES, *SEAMS, *MORE, *(-x for x in (*SEAMS, *MORE))],
    ]
    return np.concatenate([np.asarray(part, np.float32) for part in parts])


@pytest.mark.parametrize("name", NAMES)
def test_results_are_within_rounding_of_the_exact_ones(name: str) -> None:
    x = _arguments()
    found = _applied(_loop(name), x)
    with np.errstate(all="ignore"):
        exact = getattr(np, name)(x.astype(np.float64))
        rounded = exact.astype(np.float32)
        assert np.array_equal(np.isnan(found), np.isnan(rounded))
        assert np.array_equal(found[np.isinf(rounded)], rounded[np.isinf(rounded)])
        finite = np.isfinite(rounded)
        unit = np.spacing(np.abs(rounded[finite])).astype(np.float64)
        errors = np.abs(found[finite] - exact[finite]) / unit
    worst = int(np.argmax(errors))
    assert errors[worst] < WORST, f"{errors[worst]} units at {x[finite][worst]!r}"


def test_zeros_keep_their_sign() -> None:
    zeros = np.array([0.0, -0.0], np.float32)
    for name in ("tanh", "expm1", "log1p"):
        assert np.signbit(_applied(_loop(name), zeros)).tolist() == [False, True]
    assert not np.signbit(_applied(_loop("exp"), np.array([-200.0], np.float32))).any()


@pytest.mark.parametrize("name", NAMES)
def test_llvm_vectorises_them(name: str) -> None:
    loop = _loop(name)
    _applied(loop, np.ones(4, np.float32))
    (code,) = loop.inspect_llvm().values()
    assert re.search(r"fma\.v\d+f32|<\d+ x float>", code)


@pytest.mark.parametrize("name", NAMES)
def test_kernels_use_them_for_float32_only(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    import mt_tensor as mt

    monkeypatch.setenv(cache.VARIABLE, "off")
    x = np.linspace(0.1, 3.0, 50)
    single = getattr(mt.tensor(x, dtype="float32", backend="fast"), name)().numpy()
    assert np.array_equal(single, _applied(_loop(name), x.astype(np.float32)))
    double = getattr(mt.tensor(x, backend="fast"), name)().numpy()
    np.testing.assert_allclose(double, getattr(np, name)(x), rtol=1e-15)

"""Matrix products by tiles, compared with NumPy in float64."""

import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mt_tensor as mt
from mt_fast.core import products
from mt_fast.gemm import gemm
from mt_fast.gemm import products as tiled
from mt_fast.gemm.gemm import multiply

SIZE = st.integers(1, 140)


@pytest.fixture(autouse=True)
def threads():
    before = numba.get_num_threads()
    numba.set_num_threads(min(2, numba.config.NUMBA_NUM_THREADS))
    yield
    numba.set_num_threads(before)


def draw(*shape, dtype="float32"):
    return np.random.default_rng(sum(shape)).standard_normal(shape).astype(dtype)


@settings(max_examples=80, deadline=None)
@given(
    batch=st.sampled_from([(), (3,), (2, 2)]),
    sizes=st.tuples(SIZE, SIZE, SIZE),
    transposed=st.tuples(st.booleans(), st.booleans()),
    strided=st.booleans(),
    dtype=st.sampled_from(["float32", "float64"]),
    panel=st.sampled_from([1, 2**12, gemm.PANEL_BYTES]),
    longest=st.sampled_from([1, 48, gemm.LONGEST]),
)
def test_multiply_matches_numpy_for_any_shape_and_memory_order(
    batch, sizes, transposed, strided, dtype, panel, longest
):
    n, m, k = sizes
    a = draw(*batch, *((m, n) if transposed[0] else (n, m)), dtype=dtype)
    b = draw(*batch, *((k, m) if transposed[1] else (m, k)), dtype=dtype)
    if strided:  # like attention heads, interleaved in every row
        a, b = (np.repeat(x, 2, -1)[..., : x.shape[-1]] for x in (a, b))
    a, b = (x.swapaxes(-1, -2) if t else x for x, t in zip((a, b), transposed, strict=True))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(gemm, "PANEL_BYTES", panel)
        patch.setattr(gemm, "IN_PLACE_BYTES", 4 * panel)
        patch.setattr(gemm, "LONGEST", longest)
        patch.setattr(gemm, "LONGEST_DOWN", longest)
        patch.setattr(gemm, "PARALLEL_FROM", 2**15)
        gemm._plan.cache_clear()
        out = multiply(a, b)
    gemm._plan.cache_clear()
    assert out.dtype == a.dtype
    assert out.flags.c_contiguous
    tolerance = 1e-12 if dtype == "float64" else 1e-4
    exact = a.astype("f8") @ b.astype("f8")
    np.testing.assert_allclose(out, exact, rtol=tolerance, atol=tolerance)


def test_number_of_threads_does_not_change_bits_of_products():
    a, b = draw(130, 150), draw(150, 210)
    two_threads = multiply(a, b)
    numba.set_num_threads(1)
    assert np.array_equal(multiply(a, b), two_threads)


def test_splitting_long_sums_reduces_rounding_errors(monkeypatch):
    a, b = draw(16, 3 * gemm.LONGEST + 1), draw(3 * gemm.LONGEST + 1, 64)
    exact = a.astype("f8") @ b.astype("f8")
    split_error = np.abs(multiply(a, b) - exact).max()
    monkeypatch.setattr(gemm, "LONGEST", a.shape[1])
    gemm._plan.cache_clear()
    assert split_error < np.abs(multiply(a, b) - exact).max()
    gemm._plan.cache_clear()


def test_nan_and_infinity_affect_only_their_rows_and_columns():
    a, b = draw(20, 30), draw(30, 50)
    a[3, 4], b[7, 8] = np.nan, np.inf
    assert np.array_equal(np.isfinite(multiply(a, b)), np.isfinite(a @ b))
    assert not np.isnan(multiply(a, b)[np.arange(20) != 3]).any()


def test_large_tensor_products_use_multiply(monkeypatch):
    calls = []
    monkeypatch.setattr(gemm, "multiply", lambda *args: calls.append(args) or multiply(*args))
    with mt.use_backend("fast"):
        a, b = mt.tensor(draw(150, 160)), mt.tensor(draw(160, 200))
        product = np.asarray(a) @ np.asarray(b)
        left, right = a.T.contiguous().T, b.T.contiguous().T
        for x, y in ((a, b), (left, b), (a, right), (left, right), (a[:, ::2], b[::2])):
            expected = product if x.shape[1] == 160 else np.asarray(x) @ np.asarray(y)
            np.testing.assert_allclose(np.asarray(x @ y), expected, rtol=1e-4, atol=1e-4)
        monkeypatch.setattr(tiled, "TRANSPOSED_BYTES", 2**10)
        tiled._before_tiles.cache_clear()
        np.testing.assert_allclose(np.asarray(left @ b), product, rtol=1e-4, atol=1e-4)
        tiled._before_tiles.cache_clear()
        heads = mt.tensor(draw(4, 60, 3, 80)).permute(0, 2, 1, 3)
        np.testing.assert_allclose(
            np.asarray(heads @ heads.mT),
            np.asarray(heads) @ np.asarray(heads.mT),
            rtol=1e-4,
            atol=1e-4,
        )
    transposed = [tuple(x.strides[-1] != x.itemsize for x in factors) for factors in calls]
    assert transposed[:4] == [(False, False), (True, False), (False, True), (True, True)]
    assert transposed[4:] == [(False, False), (False, True)]


def test_small_and_narrow_products_use_blas():
    assert not gemm.pays(1, 64, 64, 64)
    assert not gemm.pays(1, 4096, 4096, 1)
    assert not gemm.pays(64, 1, 4096, 4096)
    assert gemm.pays(1, 1024, 1024, 1024)
    assert gemm.pays(64, 64, 64, 64)
    assert products.matmul_floats(draw(3, 4), draw(4, 5)).shape == (3, 5)

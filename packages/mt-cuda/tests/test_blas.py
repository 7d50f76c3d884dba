"""Products by cuBLAS: its calls, with NumPy in place of the library; and on a GPU."""

import ctypes

import numpy as np
import pytest

import mt_tensor as mt
from mt_cuda import CudaOps
from mt_cuda.core.errors import KernelError
from mt_cuda.matrices import blas
from mt_cuda.matrices.blas import Cublas
from mt_cuda.matrices.multiply import linear, product_and_sums
from mt_tensor.extending import DTYPES

FLOATS = ("float16", "bfloat16", "float32", "float64")


class Library:
    """The functions of cuBLAS that are called, on host memory."""

    def __init__(self):
        self.status, self.calls = 0, []

    def cublasCreate_v2(self, handle):
        handle._obj.value = 3
        return 0

    def cublasSetStream_v2(self, handle, stream):
        assert (handle.value, stream.value) == (3, 7)
        return 0

    def cublasGemmStridedBatchedEx(self, handle, *given):
        a_turned, b_turned, m, n, k, alpha, *given = given
        a, kind, lda, step_a, b, _, ldb, step_b, beta, c, _, ldc, step_c, batches, way, _ = given
        (name,) = (name for name, number in blas.TYPES.items() if number == kind)
        self.calls.append((name, batches, way))
        for i in range(batches):
            left = matrix(name, a, i * step_a.value, (k, m) if a_turned else (m, k), lda)
            right = matrix(name, b, i * step_b.value, (n, k) if b_turned else (k, n), ldb)
            out = matrix(name, c, i * step_c.value, (m, n), ldc)
            x, y, before = (numbers(name, each) for each in (left, right, out))
            product = (x.T if a_turned else x) @ (y.T if b_turned else y)
            total = alpha._obj.value * product + (
                beta._obj.value * before if beta._obj.value else 0
            )
            out[...] = stored(name, total)
        return self.status


def matrix(name, address, position, shape, leading):
    """Return memory as a column-major matrix."""
    dtype = DTYPES[name].numpy if name != "bfloat16" else np.dtype(np.uint16)
    start = address.value + position * dtype.itemsize
    size = leading * (shape[1] - 1) + shape[0]
    there = (ctypes.c_char * (size * dtype.itemsize)).from_address(start)
    return np.ndarray(shape, dtype, there, strides=(dtype.itemsize, leading * dtype.itemsize))


def numbers(name, values):
    if name == "bfloat16":
        values = (values.astype(np.uint32) << 16).view(np.float32)
    return values.astype(float)


def stored(name, values):
    if name != "bfloat16":
        return values
    return (values.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)


@pytest.fixture
def there(pretend, monkeypatch):
    """The backend on a mock GPU, which uses the library for all sizes, and the library."""
    library = Library()
    monkeypatch.setattr("mt_cuda.matrices.blas.installed", lambda stream: Cublas(library, stream))
    monkeypatch.setattr(blas, "MUCH", 0)
    machine, _ = pretend("cubin")
    return CudaOps(machine), library


def whole(ops, *shape, dtype="float32"):
    values = np.random.default_rng(len(shape)).integers(-3, 4, shape)
    return values, mt.tensor(values.tolist(), dtype=dtype, backend=ops)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("a_turned", [False, True])
@pytest.mark.parametrize("b_turned", [False, True])
def test_row_major_and_column_major_matrices(there, dtype, a_turned, b_turned):
    ops, library = there
    a, x = whole(ops, *((4, 3) if a_turned else (3, 4)), dtype=dtype)
    b, y = whole(ops, *((5, 4) if b_turned else (4, 5)), dtype=dtype)
    product = (x.T if a_turned else x) @ (y.T if b_turned else y)
    assert (
        product.double().tolist() == ((a.T if a_turned else a) @ (b.T if b_turned else b)).tolist()
    )
    assert library.calls == [(dtype, 1, blas.IN_FLOAT64 if dtype == "float64" else blas.IN_FLOAT32)]


def test_parts_of_larger_matrices(there):
    ops, library = there
    a, x = whole(ops, 6, 9)
    b, y = whole(ops, 9, 8)
    assert (x[1:5, 2:7] @ y[3:8, 1:]).tolist() == (a[1:5, 2:7] @ b[3:8, 1:]).tolist()
    assert len(library.calls) == 1


def test_many_matrices(there):
    ops, library = there
    a, x = whole(ops, 2, 3, 4)
    b, y = whole(ops, 2, 4, 5)
    c, z = whole(ops, 4, 5)
    assert (x @ y).tolist() == (a @ b).tolist()
    assert (x @ z).tolist() == (a @ c).tolist()  # one matrix of all rows
    assert (x.permute(2, 0, 1).permute(1, 2, 0) @ y).tolist() == (a @ b).tolist()
    assert [batches for _, batches, _ in library.calls] == [2, 1, 2]


@pytest.mark.parametrize("dtype", FLOATS)
def test_linear_maps_and_the_gradients_of_their_weights_and_biases(there, dtype):
    ops, library = there
    (a, x), (w, weights) = whole(ops, 6, 4, dtype=dtype), whole(ops, 4, 5, dtype=dtype)
    biases = mt.arange(5, backend=ops).to(DTYPES[dtype])
    out = linear(ops, x._tensor, weights._tensor, biases._tensor)
    assert mt.Tensor._make(out, ops).double().tolist() == (a @ w + np.arange(5)).tolist()
    product, sums = product_and_sums(ops, x.T._tensor, x._tensor)
    assert mt.Tensor._make(product, ops).double().tolist() == (a.T @ a).tolist()
    assert mt.Tensor._make(sums, ops).double().tolist() == a.sum(0).tolist()
    assert len(library.calls) == 2


def test_other_layouts_use_our_kernels(there):
    ops, library = there
    a, x = whole(ops, 6, 8)
    b, y = whole(ops, 8, 5)
    assert (x[:, ::2] @ y[::2]).tolist() == (a[:, ::2] @ b[::2]).tolist()
    assert (x.flip(1) @ y).tolist() == (a[:, ::-1] @ b).tolist()
    ints = whole(ops, 3, 3, dtype="int32")[1]
    assert (ints @ ints).dtype is mt.int32
    assert library.calls == [("float32", 1, blas.IN_FLOAT32)]  # flip() copies


def test_factors_are_rounded_if_allowed(there):
    ops, library = there
    _, x = whole(ops, 4, 4)
    mt.set_float32_matmul_precision("high")
    try:
        x @ x
    finally:
        mt.set_float32_matmul_precision("highest")
    x @ x
    assert [way for *_, way in library.calls] == [blas.ROUNDED, blas.IN_FLOAT32]


def test_an_error_of_the_library_is_raised(there):
    ops, library = there
    library.status = 13
    _, x = whole(ops, 4, 4)
    with pytest.raises(KernelError, match="cuBLAS failed to multiply matrices: status 13"):
        x @ x


def test_without_it_our_kernels_multiply(pretend):
    machine, _ = pretend("cubin")
    assert blas.library_of(machine) is None


@pytest.mark.gpu
@pytest.mark.parametrize("dtype", FLOATS)
def test_cublas_on_a_gpu(cubin_ops, dtype):
    if blas.library_of(cubin_ops.machine) is None:
        pytest.skip("needs cuBLAS: pip install 'mt-cuda[cu13,blas]'")
    a, x = whole(cubin_ops, 500, 300, dtype=dtype)
    b, y = whole(cubin_ops, 300, 200, dtype=dtype)
    for left in (x, x.T.contiguous().T):
        for right in (y, y.T.contiguous().T):
            product = mt.tensor((a @ b).tolist(), dtype=dtype)
            assert (left @ right).tolist() == product.tolist()
    ones = mt.ones(200, dtype=x.dtype, backend=cubin_ops)
    biased = mt.Tensor._make(linear(cubin_ops, x._tensor, y._tensor, ones._tensor), cubin_ops)
    assert biased.tolist() == mt.tensor((a @ b + 1).tolist(), dtype=dtype).tolist()

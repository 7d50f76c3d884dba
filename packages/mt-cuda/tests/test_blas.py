"""Matrix products by cuBLAS: calls to a mock library, and results on a GPU."""

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
    """A mock of cuBLAS on host memory."""

    def __init__(self):
        self.status, self.calls = 0, []

    def cublasCreate_v2(self, handle):
        handle._obj.value = 3
        return 0

    def cublasSetStream_v2(self, handle, stream):
        assert (handle.value, stream.value) == (3, 7)
        return 0

    def cublasGemmStridedBatchedEx(self, handle, *arguments):
        a_transposed, b_transposed, m, n, k, alpha, *arguments = arguments
        (
            a,
            type_code,
            lda,
            stride_a,
            b,
            _,
            ldb,
            stride_b,
            beta,
            c,
            _,
            ldc,
            stride_c,
            batches,
            compute_type,
            _,
        ) = arguments
        (name,) = (name for name, number in blas.TYPES.items() if number == type_code)
        self.calls.append((name, batches, compute_type))
        for i in range(batches):
            left = matrix(name, a, i * stride_a.value, (k, m) if a_transposed else (m, k), lda)
            right = matrix(name, b, i * stride_b.value, (n, k) if b_transposed else (k, n), ldb)
            out = matrix(name, c, i * stride_c.value, (m, n), ldc)
            x, y, before = (to_float64(name, each) for each in (left, right, out))
            product = (x.T if a_transposed else x) @ (y.T if b_transposed else y)
            total = alpha._obj.value * product + (
                beta._obj.value * before if beta._obj.value else 0
            )
            out[...] = from_float64(name, total)
        return self.status


def matrix(name, address, position, shape, leading):
    """Return memory as a column-major matrix."""
    dtype = DTYPES[name].numpy if name != "bfloat16" else np.dtype(np.uint16)
    start = address.value + position * dtype.itemsize
    size = leading * (shape[1] - 1) + shape[0]
    memory = (ctypes.c_char * (size * dtype.itemsize)).from_address(start)
    return np.ndarray(shape, dtype, memory, strides=(dtype.itemsize, leading * dtype.itemsize))


def to_float64(name, values):
    if name == "bfloat16":
        values = (values.astype(np.uint32) << 16).view(np.float32)
    return values.astype(float)


def from_float64(name, values):
    if name != "bfloat16":
        return values
    return (values.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)


@pytest.fixture
def mock_cublas(make_mock_gpu, monkeypatch):
    """Return a backend that uses cuBLAS for matrices of all sizes, and the mock library."""
    library = Library()
    monkeypatch.setattr("mt_cuda.matrices.blas.installed", lambda stream: Cublas(library, stream))
    monkeypatch.setattr(blas, "LARGE_PRODUCT", 0)
    machine, _ = make_mock_gpu("cubin")
    return CudaOps(machine), library


def random_integers(ops, *shape, dtype="float32"):
    values = np.random.default_rng(len(shape)).integers(-3, 4, shape)
    return values, mt.tensor(values.tolist(), dtype=dtype, backend=ops)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("a_transposed", [False, True])
@pytest.mark.parametrize("b_transposed", [False, True])
def test_cublas_multiplies_row_and_column_major_matrices(
    mock_cublas, dtype, a_transposed, b_transposed
):
    ops, library = mock_cublas
    a, x = random_integers(ops, *((4, 3) if a_transposed else (3, 4)), dtype=dtype)
    b, y = random_integers(ops, *((5, 4) if b_transposed else (4, 5)), dtype=dtype)
    product = (x.T if a_transposed else x) @ (y.T if b_transposed else y)
    assert (
        product.double().tolist()
        == ((a.T if a_transposed else a) @ (b.T if b_transposed else b)).tolist()
    )
    assert library.calls == [(dtype, 1, blas.IN_FLOAT64 if dtype == "float64" else blas.IN_FLOAT32)]


def test_cublas_multiplies_slices_of_larger_matrices(mock_cublas):
    ops, library = mock_cublas
    a, x = random_integers(ops, 6, 9)
    b, y = random_integers(ops, 9, 8)
    assert (x[1:5, 2:7] @ y[3:8, 1:]).tolist() == (a[1:5, 2:7] @ b[3:8, 1:]).tolist()
    assert len(library.calls) == 1


def test_batched_matmul_is_one_cublas_call(mock_cublas):
    ops, library = mock_cublas
    a, x = random_integers(ops, 2, 3, 4)
    b, y = random_integers(ops, 2, 4, 5)
    c, z = random_integers(ops, 4, 5)
    assert (x @ y).tolist() == (a @ b).tolist()
    assert (x @ z).tolist() == (a @ c).tolist()  # one matrix of all rows
    assert (x.permute(2, 0, 1).permute(1, 2, 0) @ y).tolist() == (a @ b).tolist()
    assert [batches for _, batches, _ in library.calls] == [2, 1, 2]


@pytest.mark.parametrize("dtype", FLOATS)
def test_cublas_computes_linear_and_gradients_of_weight_and_bias(mock_cublas, dtype):
    ops, library = mock_cublas
    (a, x), (w, weights) = (
        random_integers(ops, 6, 4, dtype=dtype),
        random_integers(ops, 4, 5, dtype=dtype),
    )
    biases = mt.arange(5, backend=ops).to(DTYPES[dtype])
    out = linear(ops, x._tensor, weights._tensor, biases._tensor)
    assert mt.Tensor._make(out, ops).double().tolist() == (a @ w + np.arange(5)).tolist()
    product, sums = product_and_sums(ops, x.T._tensor, x._tensor)
    assert mt.Tensor._make(product, ops).double().tolist() == (a.T @ a).tolist()
    assert mt.Tensor._make(sums, ops).double().tolist() == a.sum(0).tolist()
    assert len(library.calls) == 2


def test_matmul_of_strided_or_integer_matrices_uses_own_kernels(mock_cublas):
    ops, library = mock_cublas
    a, x = random_integers(ops, 6, 8)
    b, y = random_integers(ops, 8, 5)
    assert (x[:, ::2] @ y[::2]).tolist() == (a[:, ::2] @ b[::2]).tolist()
    assert (x.flip(1) @ y).tolist() == (a[:, ::-1] @ b).tolist()
    ints = random_integers(ops, 3, 3, dtype="int32")[1]
    assert (ints @ ints).dtype is mt.int32
    assert library.calls == [("float32", 1, blas.IN_FLOAT32)]  # flip() copies


def test_float32_matmul_precision_selects_compute_type(mock_cublas):
    ops, library = mock_cublas
    _, x = random_integers(ops, 4, 4)
    mt.set_float32_matmul_precision("high")
    try:
        x @ x
    finally:
        mt.set_float32_matmul_precision("highest")
    x @ x
    assert [compute_type for *_, compute_type in library.calls] == [blas.ROUNDED, blas.IN_FLOAT32]


def test_cublas_error_status_raises_kernel_error(mock_cublas):
    ops, library = mock_cublas
    library.status = 13
    _, x = random_integers(ops, 4, 4)
    with pytest.raises(KernelError, match="cuBLAS failed: status 13"):
        x @ x


def test_library_of_is_none_without_cublas(make_mock_gpu):
    machine, _ = make_mock_gpu("cubin")
    assert blas.library_of(machine) is None


@pytest.mark.gpu
@pytest.mark.parametrize("dtype", FLOATS)
def test_cublas_on_gpu_matches_numpy(cubin_ops, dtype):
    if blas.library_of(cubin_ops.machine) is None:
        pytest.skip("needs cuBLAS: pip install 'mt-cuda[cu13,blas]'")
    a, x = random_integers(cubin_ops, 500, 300, dtype=dtype)
    b, y = random_integers(cubin_ops, 300, 200, dtype=dtype)
    for left in (x, x.T.contiguous().T):
        for right in (y, y.T.contiguous().T):
            product = mt.tensor((a @ b).tolist(), dtype=dtype)
            assert (left @ right).tolist() == product.tolist()
    ones = mt.ones(200, dtype=x.dtype, backend=cubin_ops)
    biased = mt.Tensor._make(linear(cubin_ops, x._tensor, y._tensor, ones._tensor), cubin_ops)
    assert biased.tolist() == mt.tensor((a @ b + 1).tolist(), dtype=dtype).tolist()

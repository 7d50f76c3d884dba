"""Products by cuBLAS, NVIDIA's own library, if it is installed: `mt-cuda[blas]`.

It uses the newest instructions of each GPU. Large products go to it if it supports their layout: in
one of the two dimensions, elements are contiguous. All other products use our own kernels, which
need no library.

cuBLAS is column-major, as Fortran is: our row-major matrix is its transpose to the library. So it
computes the transpose of the product, `b.T @ a.T`, which is our row-major product.
"""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

from mt_cuda.core.backend import CudaOps
from mt_cuda.core.errors import KernelError
from mt_cuda.core.gpu import Gpu
from mt_cuda.core.layout import NARROW_LIMIT, Layout
from mt_cuda.core.machine import Machine
from mt_cuda.matrices.planning import lengths
from mt_cuda.matrices.tiles import LARGE_PRODUCT
from mt_tensor import DType, TensorData
from mt_tensor.backends.extending import are_products_exact
from mt_tensor.extending import Shape

TYPES = {"float16": 2, "bfloat16": 14, "float32": 0, "float64": 1}
"""The codes of dtypes in cuBLAS, of type `cudaDataType`."""

IN_FLOAT32, IN_FLOAT64, ROUNDED = 68, 70, 77
"""The codes of computation types, `cublasComputeType_t`; the last one rounds factors to TF32."""

DEFAULT = -1
"""The code for an algorithm that the library selects."""


@dataclass(frozen=True, slots=True)
class Side:
    """The layout of a factor for the library.

    Attributes:
        transposed: whether columns are contiguous instead of rows.
        leading: the distance between adjacent rows, or columns if `transposed`.
        step: the distance between matrices.
    """

    transposed: bool
    leading: int
    step: int


@dataclass(frozen=True, slots=True)
class Request:
    """A product as an argument list for the library.

    Attributes:
        dtype: the dtype of the elements.
        batches: the number of matrices.
        rows: the rows of the result.
        inner: the inner dimension.
        columns: the columns of the result.
        a: the left factor.
        b: the right factor.
        compute_type: the computation type.
    """

    dtype: DType
    batches: int
    rows: int
    inner: int
    columns: int
    a: Side
    b: Side
    compute_type: int


def request_of(a: TensorData, b: TensorData) -> Request | None:
    """Return the request for a product; None if it is small, or its layout is not supported.

    Args:
        a: the left factor; its leading dimensions are those of the result.
        b: the right factor; the same.
    """
    dtype, (batch, rows, inner, columns) = a.dtype, lengths(a, b)
    if dtype.name not in TYPES or batch.size * rows * inner * columns <= LARGE_PRODUCT:
        return None
    if batch.rank > 1 or max(rows, inner, columns, batch.size) >= NARROW_LIMIT:
        return None
    left = _side((rows, inner), (a.strides[-2], a.strides[-1]), batch, 0)
    right = _side((inner, columns), (b.strides[-2], b.strides[-1]), batch, 1)
    if left is None or right is None:
        return None
    compute_type = IN_FLOAT64 if dtype.itemsize == 8 else IN_FLOAT32
    if dtype.itemsize == 4 and not are_products_exact():
        compute_type = ROUNDED
    return Request(dtype, batch.size, rows, inner, columns, left, right, compute_type)


def _side(
    shape: tuple[int, int], strides: tuple[int, int], batch: Layout, which: int
) -> Side | None:
    step = batch.strides[which][0] if batch.rank else 0
    for transposed in (False, True):
        (_, along), (leading, near) = (
            (pair[::-1] if transposed else pair) for pair in (shape, strides)
        )
        if near == 1 and along <= leading < NARROW_LIMIT and step >= 0:
            return Side(transposed, leading, step)
    return None


class Cublas:
    """The cuBLAS library on one stream.

    Attributes:
        functions: its C functions.
    """

    def __init__(self, functions: Any, stream: int) -> None:
        """Create a handle.

        Raises:
            KernelError: the library reports an error.
        """
        self.functions = functions
        self._handle = ctypes.c_void_p()
        self._check(functions.cublasCreate_v2(ctypes.byref(self._handle)))
        self._check(functions.cublasSetStream_v2(self._handle, ctypes.c_void_p(stream)))
        # The factors of the product and of the previous content, in the computation type.
        self._numbers = {
            compute_type: (kind(0), kind(1))
            for compute_type, kind in (
                (IN_FLOAT32, ctypes.c_float),
                (ROUNDED, ctypes.c_float),
                (IN_FLOAT64, ctypes.c_double),
            )
        }

    def multiply(self, request: Request, a: int, b: int, out: int, added: bool) -> None:
        """Enqueue a product on the stream.

        Args:
            request: the product.
            a: the address of the left factor.
            b: the address of the right factor.
            out: the address of the result.
            added: whether to add the product to the previous content.

        Raises:
            KernelError: the library reports an error.
        """
        zero, one = self._numbers[request.compute_type]
        kind, result = TYPES[request.dtype.name], request.rows * request.columns
        self._check(
            self.functions.cublasGemmStridedBatchedEx(
                self._handle,
                *(int(request.b.transposed), int(request.a.transposed)),
                *(request.columns, request.rows, request.inner),
                ctypes.byref(one),
                *(ctypes.c_void_p(b), kind, request.b.leading, ctypes.c_longlong(request.b.step)),
                *(ctypes.c_void_p(a), kind, request.a.leading, ctypes.c_longlong(request.a.step)),
                ctypes.byref(one if added else zero),
                *(ctypes.c_void_p(out), kind, request.columns, ctypes.c_longlong(result)),
                *(request.batches, request.compute_type, DEFAULT),
            )
        )

    def _check(self, status: int) -> None:
        if status:
            raise KernelError(f"cuBLAS failed: status {status}; see cublasStatus_t in its manual.")


def installed(stream: int) -> Cublas | None:
    """Return the library on a stream; None if it is not installed."""
    try:
        from cuda.pathfinder import load_nvidia_dynamic_lib

        path = load_nvidia_dynamic_lib("cublas").abs_path
    except (ImportError, RuntimeError):  # RuntimeError if the library is missing
        return None
    return Cublas(ctypes.CDLL(path), stream)


_LIBRARIES: WeakKeyDictionary[Machine, Cublas | None] = WeakKeyDictionary()


def library_of(machine: Machine) -> Cublas | None:
    """Return the library for a machine; None if it is not a GPU, or cuBLAS is not installed."""
    if not isinstance(machine, Gpu):
        return None
    if machine not in _LIBRARIES:
        machine.make_current()
        _LIBRARIES[machine] = installed(int(machine.stream.handle))
    return _LIBRARIES[machine]


def multiplied(
    ops: CudaOps, left: TensorData, right: TensorData, shape: Shape, bias: TensorData | None
) -> TensorData | None:
    """Return a product plus a bias per column; None if the library does not compute it."""
    library, memory = library_of(ops.machine), ops.machine.shared_memory
    if library is None or memory is None:
        return None
    key = ("cuBLAS", left.layout, right.layout, are_products_exact())
    (request,) = ops.remembered(key, lambda: (request_of(left, right),))
    if request is None:
        return None
    result = ops.empty(shape, left.dtype)
    if bias is not None:
        ops.copy(bias.expand(shape), result)
    ops.settle()
    a, b, out = (
        memory.address(each.storage) + each.offset * each.dtype.itemsize
        for each in (left, right, result)
    )
    library.multiply(request, a, b, out, added=bias is not None)
    return result

"""Products by cuBLAS, NVIDIA's own library, where it is installed: `mt-cuda[blas]`.

It knows each GPU's newest instructions. What is large goes to it, if the matrices lie as it wants
them: in one of the two directions, elements follow each other. Whatever else is multiplied by our
own kernels, which need no library.

cuBLAS counts columns first, as Fortran does: our matrix, row after row, is its transpose to it. So
it is asked for the transpose of the product, `b.T @ a.T`, which is our product, row after row.
"""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

from mt_cuda.core.backend import CudaOps
from mt_cuda.core.errors import KernelError
from mt_cuda.core.gpu import Gpu
from mt_cuda.core.layout import Layout
from mt_cuda.core.machine import Machine
from mt_cuda.matrices.planning import LARGEST, lengths
from mt_cuda.matrices.tiles import MUCH
from mt_tensor import DType, TensorData
from mt_tensor.backends.extending import are_products_exact
from mt_tensor.extending import Shape

TYPES = {"float16": 2, "bfloat16": 14, "float32": 0, "float64": 1}
"""What the library calls the element types: `cudaDataType`."""

IN_FLOAT32, IN_FLOAT64, ROUNDED = 68, 70, 77
"""What it calls the ways to compute: `cublasComputeType_t`; the last rounds factors to 10 bits."""

DEFAULT = -1
"""Its own choice of an algorithm."""


@dataclass(frozen=True, slots=True)
class Side:
    """A factor as the library sees it.

    Attributes:
        turned: whether neighbours lie in a column.
        leading: how far neighbours in the other direction are apart.
        step: how far matrices are.
    """

    turned: bool
    leading: int
    step: int


@dataclass(frozen=True, slots=True)
class Request:
    """A product as the library is asked for it.

    Attributes:
        dtype: the element type.
        batches: how many matrices there are.
        rows: those of the result.
        inner: what is added up.
        columns: those of the result.
        a: the left factor.
        b: the right factor.
        way: how it is computed.
    """

    dtype: DType
    batches: int
    rows: int
    inner: int
    columns: int
    a: Side
    b: Side
    way: int


def request_of(a: TensorData, b: TensorData) -> Request | None:
    """Return how the library is asked for a product; None if it is small, or lies otherwise.

    Args:
        a: the left factor; its leading dimensions are those of the result.
        b: the right factor; the same.
    """
    dtype, (batch, rows, inner, columns) = a.dtype, lengths(a, b)
    if dtype.name not in TYPES or batch.size * rows * inner * columns <= MUCH:
        return None
    if batch.rank > 1 or max(rows, inner, columns, batch.size) >= LARGEST:
        return None
    left = _side((rows, inner), (a.strides[-2], a.strides[-1]), batch, 0)
    right = _side((inner, columns), (b.strides[-2], b.strides[-1]), batch, 1)
    if left is None or right is None:
        return None
    way = IN_FLOAT64 if dtype.itemsize == 8 else IN_FLOAT32
    if dtype.itemsize == 4 and not are_products_exact():
        way = ROUNDED
    return Request(dtype, batch.size, rows, inner, columns, left, right, way)


def _side(
    shape: tuple[int, int], strides: tuple[int, int], batch: Layout, which: int
) -> Side | None:
    step = batch.strides[which][0] if batch.rank else 0
    for turned in (False, True):
        (_, along), (leading, near) = (
            (pair[::-1] if turned else pair) for pair in (shape, strides)
        )
        if near == 1 and along <= leading < LARGEST and step >= 0:
            return Side(turned, leading, step)
    return None


class Cublas:
    """The library, on one stream.

    Attributes:
        functions: those of its C interface.
    """

    def __init__(self, functions: Any, stream: int) -> None:
        """Make a handle.

        Raises:
            KernelError: the library says no.
        """
        self.functions = functions
        self._handle = ctypes.c_void_p()
        self._check(functions.cublasCreate_v2(ctypes.byref(self._handle)))
        self._check(functions.cublasSetStream_v2(self._handle, ctypes.c_void_p(stream)))
        # How much of the products and of what was there before, in the type of the computation.
        self._numbers = {
            way: (kind(0), kind(1))
            for way, kind in (
                (IN_FLOAT32, ctypes.c_float),
                (ROUNDED, ctypes.c_float),
                (IN_FLOAT64, ctypes.c_double),
            )
        }

    def multiply(self, request: Request, a: int, b: int, out: int, added: bool) -> None:
        """Put a product on the stream.

        Args:
            request: how.
            a: the address of the left factor.
            b: that of the right one.
            out: that of the result.
            added: whether it is added to what is there.

        Raises:
            KernelError: the library says no.
        """
        zero, one = self._numbers[request.way]
        kind, result = TYPES[request.dtype.name], request.rows * request.columns
        self._check(
            self.functions.cublasGemmStridedBatchedEx(
                self._handle,
                *(int(request.b.turned), int(request.a.turned)),
                *(request.columns, request.rows, request.inner),
                ctypes.byref(one),
                *(ctypes.c_void_p(b), kind, request.b.leading, ctypes.c_longlong(request.b.step)),
                *(ctypes.c_void_p(a), kind, request.a.leading, ctypes.c_longlong(request.a.step)),
                ctypes.byref(one if added else zero),
                *(ctypes.c_void_p(out), kind, request.columns, ctypes.c_longlong(result)),
                *(request.batches, request.way, DEFAULT),
            )
        )

    def _check(self, status: int) -> None:
        if status:
            raise KernelError(f"cuBLAS could not multiply: its status is {status}.")


def installed(stream: int) -> Cublas | None:
    """Return the library on a stream; None if it is not installed."""
    try:
        from cuda.pathfinder import load_nvidia_dynamic_lib

        path = load_nvidia_dynamic_lib("cublas").abs_path
    except (ImportError, RuntimeError):  # the latter is said of a library that is not there
        return None
    return Cublas(ctypes.CDLL(path), stream)


_LIBRARIES: WeakKeyDictionary[Machine, Cublas | None] = WeakKeyDictionary()


def library_of(machine: Machine) -> Cublas | None:
    """Return the library for a machine; None if it is no GPU, or the library is not installed."""
    if not isinstance(machine, Gpu):
        return None
    if machine not in _LIBRARIES:
        machine.make_current()
        _LIBRARIES[machine] = installed(int(machine.stream.handle))
    return _LIBRARIES[machine]


def multiplied(
    ops: CudaOps, left: TensorData, right: TensorData, shape: Shape, bias: TensorData | None
) -> TensorData | None:
    """Return a product, with a bias for each column; None where the library is not for it."""
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

"""The exercises of the course: sums of blocks, and a matrix product within one block.

Read it before the core. The backend generates its kernels; the two here are written by hand, for
reading, and use only the concepts that are new on a GPU: a thread per element, memory that the
threads of a block share, and a barrier at which they wait for each other. `reduction.py` and
`matrix.py` generalize them to all sizes and layouts.
"""

from __future__ import annotations

from mt_cuda.core.backend import CudaOps
from mt_cuda.core.elements import computed, load, operand, store
from mt_cuda.core.kernel import Kernel, define, numbers
from mt_fast.extending import constant, converted
from mt_tensor import DType, Tensor, TensorData, bool_
from mt_tensor.errors import BackendMismatchError, DomainError, DTypeError, ShapeError

MOST_THREADS = 1024
"""The maximum number of threads per block, on every GPU."""


def sum_practice(x: Tensor, block: int = 32) -> Tensor:
    """Return the sum of every `block` consecutive elements, with one thread block for each sum.

    Args:
        x: `(n,)`, of any dtype except bool, on a backend of this package.
        block: the number of elements per sum, and of threads per block.

    Returns:
        `(ceil(n / block),)`, of the dtype of `x`; the last sum may have fewer terms.

    Raises:
        BackendMismatchError: `x` is on another backend.
        DTypeError: `x` is of dtype bool.
        ShapeError: `x` is not one-dimensional.
        DomainError: `block` is not an integer from 1 to 1024.
    """
    ops, data = _on_gpu("sum_practice", x)
    if data.ndim != 1:
        raise ShapeError(f"sum_practice takes a tensor of one dimension; got shape {x.shape}.")
    _check_block("sum_practice", block, MOST_THREADS)
    (n,) = data.shape
    out = ops.empty((-(-n // block),), x.dtype)
    if n:
        kernel = block_sums(x.dtype, block)
        plan = ops.plan(kernel, (out.size, 1), block, (n, data.strides[0]))
        ops.launch(plan, (data, out))
    return Tensor._make(out, ops)


def block_sums(dtype: DType, block: int) -> Kernel:
    """Return the kernel of `sum_practice`.

    Each thread loads one element. Then half of the threads add the elements of the other half to
    their own, repeatedly, until one is left: with 5, elements 3 and 4 are added to 0 and 1.

    Args:
        dtype: the dtype of the elements.
        block: the number of elements of a block, and of its threads.
    """
    total = computed(dtype)
    body = [
        f"totals = cuda.shared.array({block}, {total.name})",
        "thread = cuda.threadIdx.x",
        "i = cuda.grid(1)",
        f"totals[thread] = {constant(0, total)}",
        "if i < n:",
        f"    totals[thread] = {load('x[x_at + i * x_stride]', dtype, total)}",
        "cuda.syncthreads()",
        f"live = {block}",
        "while live > 1:",
        "    kept = (live + 1) // 2",
        "    if thread + kept < live:",
        "        totals[thread] += totals[thread + kept]",
        "    cuda.syncthreads()",
        "    live = kept",
        "if thread == 0:",
        f"    y[y_at + cuda.blockIdx.x] = {store(converted('totals[0]', total, dtype), dtype)}",
    ]
    parameters = [*numbers("n", "x_stride"), *operand("x", dtype), *operand("y", dtype)]
    return define(f"block_sums_{dtype.name}_{block}", parameters, body)


def mm_practice(a: Tensor, b: Tensor, block: int = 32) -> Tensor:
    """Return the product of two matrices that are no larger than a block of threads.

    Args:
        a: `(rows, inner)`, of any dtype except bool, on a backend of this package.
        b: `(inner, columns)`, of the same dtype.
        block: the number of threads along each side of the block; no size may be larger.

    Returns:
        `(rows, columns)`.

    Raises:
        BackendMismatchError: `a` or `b` is on another backend.
        DTypeError: `a` and `b` are of dtype bool, or differ in dtype.
        ShapeError: `a` and `b` are not matrices, do not match or are larger than the block.
        DomainError: `block` is not an integer from 1 to 32.
    """
    ops, left = _on_gpu("mm_practice", a)
    other, right = _on_gpu("mm_practice", b)
    if other is not ops:
        raise BackendMismatchError(
            f"mm_practice takes two tensors on one backend; got {ops.name!r} and {other.name!r}. "
            "Move one of them with to()."
        )
    if a.dtype is not b.dtype:
        raise DTypeError(f"mm_practice takes matrices of one dtype; got {a.dtype} and {b.dtype}.")
    _check_block("mm_practice", block, int(MOST_THREADS**0.5))
    if left.ndim != 2 or right.ndim != 2 or left.shape[1] != right.shape[0]:
        raise ShapeError(
            f"mm_practice: matrices of shapes {a.shape} and {b.shape} cannot be multiplied. Pass "
            "shapes (rows, inner) and (inner, columns)."
        )
    (rows, inner), columns = left.shape, right.shape[1]
    if max(rows, inner, columns) > block:
        raise ShapeError(
            f"mm_practice multiplies within one block of {block} × {block} threads; got shapes "
            f"{a.shape} and {b.shape}. `a @ b` uses as many blocks as needed."
        )
    out = ops.empty((rows, columns), a.dtype)
    if out.size:
        sizes = (rows, inner, columns, *left.strides, *right.strides)
        plan = ops.plan(block_product(a.dtype, block), (1, 1), block * block, sizes)
        ops.launch(plan, (left, right, out))
    return Tensor._make(out, ops)


def block_product(dtype: DType, block: int) -> Kernel:
    """Return the kernel of `mm_practice`.

    Each thread loads one element of each matrix, and computes one of the product. Every element is
    read from global memory once, and from shared memory as often as it is needed.
    """
    total = computed(dtype)
    value = store(converted("total", total, dtype), dtype)
    body = [
        f"a_shared = cuda.shared.array(({block}, {block}), {total.name})",
        f"b_shared = cuda.shared.array(({block}, {block}), {total.name})",
        f"i = cuda.threadIdx.x // {block}",
        f"k = cuda.threadIdx.x % {block}",
        "if (i < rows) & (k < inner):",
        "    at = a_at + i * a_stride0 + k * a_stride1",
        f"    a_shared[i, k] = {load('a[at]', dtype, total)}",
        "if (i < inner) & (k < columns):",
        "    at = b_at + i * b_stride0 + k * b_stride1",
        f"    b_shared[i, k] = {load('b[at]', dtype, total)}",
        "cuda.syncthreads()",
        "if (i < rows) & (k < columns):",
        f"    total = {constant(0, total)}",
        "    for j in range(inner):",
        "        total += a_shared[i, j] * b_shared[j, k]",
        f"    out[out_at + i * columns + k] = {value}",
    ]
    parameters = [
        *numbers("rows", "inner", "columns", "a_stride0", "a_stride1", "b_stride0", "b_stride1"),
        *operand("a", dtype),
        *operand("b", dtype),
        *operand("out", dtype),
    ]
    return define(f"block_product_{dtype.name}_{block}", parameters, body)


def _on_gpu(name: str, x: Tensor) -> tuple[CudaOps, TensorData]:
    """Return the backend of a tensor and its elements; `name` is that of the exercise."""
    if not isinstance(x.backend, CudaOps):
        raise BackendMismatchError(
            f"{name} runs on a GPU or its simulator; got a tensor of backend {x.backend.name!r}. "
            "Move it with x.to('cuda')."
        )
    if x.dtype is bool_:
        raise DTypeError(f"{name} takes numbers; got a bool tensor. Convert it with x.int().")
    return x.backend, x._tensor


def _check_block(name: str, block: int, most: int) -> None:
    """Raise DomainError unless `block` is an integer from 1 to `most`."""
    if type(block) is not int or not 1 <= block <= most:
        raise DomainError(
            f"{name}: block must be an integer from 1 to {most}; {block!r} was given."
        )

"""Kernels that read and write by index: gather and scatter.

They loop over the elements of the index. The indexed operand is described by its strides, with the
stride of the indexed dimension set to zero, and the index times that stride is added to the
position. So one kernel supports any number of dimensions, after merging.

If an index repeats, several threads update one element. For the operators and types in `ATOMIC`
they use *atomic* operations. Their order is undefined, so a sum of floats may differ in its last
digits from run to run. In other cases one thread processes a whole line of the index in order,
which is slower and deterministic.
"""

from __future__ import annotations

from mt_cuda.core.device import combine
from mt_cuda.core.elements import computed, load, operand, store
from mt_cuda.core.kernel import Kernel, Lines, Parameter, define, numbers, over_grid
from mt_cuda.core.layout import position, size_names, stride_names, take_apart, wide_suffix
from mt_fast.core.rendering import converted
from mt_operators.core.graph import Graph
from mt_tensor import DType, int64

ATOMIC = {
    "add": ("int32", "int64", "float32", "float64"),
    "maximum": ("int32", "int64"),
    "minimum": ("int32", "int64"),
}
"""The operators with atomic instructions, and their types. (Those for the maximum of floats ignore
nan, which `maximum` must propagate.)"""

_ATOMIC_CALL = {"add": "add", "maximum": "max", "minimum": "min"}


VIEWS = ("source", "index", "out")
"""The operands of the kernels, in the order of their parameters."""


def gather(dtype: DType, rank: int, index: str) -> Kernel:
    """Generate the kernel of `out[c] = source[c, with index[c] in the indexed dimension]`.

    Args:
        dtype: the dtype.
        rank: the number of dimensions after merging.
        index: the integer type of index arithmetic.
    """
    source, picked, out = _positions(rank)
    lines = [f"picked = index[{picked}]", f"out[{out}] = source[{source} + picked * picked_stride]"]
    name = f"gather_{dtype.name}_{rank}{wide_suffix(index)}"
    return define(name, _parameters(dtype, rank), _over_index(rank, index, lines))


def scatter(dtype: DType, rank: int, index: str, operator: str | None) -> Kernel:
    """Generate the kernel of `out[c, with index[c] in the indexed dimension] = source[c]`.

    Args:
        dtype: the dtype.
        rank: the number of dimensions after merging.
        index: the integer type of index arithmetic.
        operator: a name in `ATOMIC`, to combine old and new elements; None to overwrite.
    """
    source, picked, out = _positions(rank)
    target, value = f"{out} + picked * picked_stride", f"source[{source}]"
    if operator is None:
        write = f"out[{target}] = {value}"
    else:
        write = f"cuda.atomic.{_ATOMIC_CALL[operator]}(out, {target}, {value})"
    body = _over_index(rank, index, [f"picked = index[{picked}]", write])
    name = f"scatter_{operator or 'set'}_{dtype.name}_{rank}{wide_suffix(index)}"
    return define(name, _parameters(dtype, rank, atomic=operator is not None), body)


def scatter_lines(name: str, graph: Graph, dtype: DType, rank: int, index: str) -> Kernel:
    """Generate the kernel in which one thread combines a whole line of the index, in order.

    Args:
        name: the name of the operator.
        graph: the traced operator.
        dtype: the dtype.
        rank: the number of the other dimensions after merging.
        index: the integer type of index arithmetic.
    """
    compute = computed(dtype)
    line = [
        *(f"{view}_start = {start}" for view, start in zip(VIEWS, _positions(rank), strict=True)),
        "for j in range(length):",
        "    at = out_start + index[index_start + j * index_step] * picked_stride",
        f"    a = {load('out[at]', dtype, compute)}",
        f"    b = {load('source[source_start + j * source_step]', dtype, compute)}",
        f"    out[at] = {store(converted('combine(a, b)', compute, dtype), dtype)}",
    ]
    steps = ("length", "source_step", "index_step")
    body = [*combine(graph, compute), *_over_index(rank, index, line)]
    name = f"scatter_lines_{name}_{dtype.name}_{rank}{wide_suffix(index)}"
    return define(name, _parameters(dtype, rank, *steps), body)


def _positions(rank: int) -> list[str]:
    """Return the expressions for the positions of `VIEWS` at the coordinates of an index."""
    return [position(f"{view}_at", stride_names(view, rank)) for view in VIEWS]


def _parameters(dtype: DType, rank: int, *steps: str, atomic: bool = False) -> list[Parameter]:
    """Return the parameters of a kernel; `steps` are additional numbers."""
    return [
        *numbers("n", *steps, "picked_stride", *size_names(rank)),
        *numbers(*(stride for view in VIEWS for stride in stride_names(view, rank))),
        *operand("source", dtype),
        *operand("index", int64),
        *operand("out", dtype, array=atomic),
    ]


def _over_index(rank: int, index: str, lines: Lines) -> Lines:
    """Return a grid-stride loop that computes coordinates and runs `lines` for each."""
    return over_grid([*take_apart("i", size_names(rank), index), *lines])

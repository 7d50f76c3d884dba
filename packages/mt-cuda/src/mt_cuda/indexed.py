"""Kernels that read and write where an index points: gather and scatter.

The last of the files that write kernels. Both visit every element of the index. The operand that is
indexed is described by its strides with that of the indexed dimension set to zero, and the position
that the index names is added: so any number of dimensions, merged as far as possible, needs one
kernel.

Where an index repeats, several threads add to one element. Hardware does that in one *atomic* step
for the types and operators in `ATOMIC`. The order in which they come is open, so a sum of floats
may differ in its last digits from run to run. For everything else one thread takes a whole line of
the index, one element after the other: slower, and in a fixed order.
"""

from __future__ import annotations

from mt_cuda.device import helpers, table
from mt_cuda.kernel import (
    Kernel,
    computed,
    define,
    indented,
    load,
    numbers,
    operand,
    store,
)
from mt_cuda.layout import extent_names, position, stride_names, take_apart
from mt_fast.extending import render
from mt_operators.graph import Graph
from mt_tensor import DType, int64

ATOMIC = {
    "add": ("int32", "int64", "float32", "float64"),
    "maximum": ("int32", "int64"),
    "minimum": ("int32", "int64"),
}
"""Which operators combine elements atomically, for which types. (The hardware's maximum of floats
drops nan, which ours keeps.)"""

_ATOMIC_CALL = {"add": "add", "maximum": "max", "minimum": "min"}


def gather(dtype: DType, rank: int, index: str) -> Kernel:
    """Return the kernel of `out[c] = source[c, with index[c] in the indexed dimension]`.

    Args:
        dtype: the element type.
        rank: the number of dimensions after merging.
        index: the type in which indices are taken apart.
    """
    picked = f"index[{position('index_at', stride_names('index', rank))}]"
    source = position("source_at", stride_names("source", rank))
    out = position("out_at", stride_names("out", rank))
    body = _visit(
        rank,
        index,
        [f"picked = {picked}", f"out[{out}] = source[{source} + picked * picked_stride]"],
    )
    parameters = [
        *numbers("n", "picked_stride", *extent_names(rank)),
        *numbers(*(s for each in ("source", "index", "out") for s in stride_names(each, rank))),
        *operand("source", dtype),
        *operand("index", int64),
        *operand("out", dtype),
    ]
    return define(f"gather_{dtype.name}_{rank}{_suffix(index)}", parameters, body)


def scatter(dtype: DType, rank: int, index: str, operator: str | None) -> Kernel:
    """Return the kernel of `out[c, with index[c] in the indexed dimension] = source[c]`.

    Args:
        dtype: the element type.
        rank: the number of dimensions after merging.
        index: the type in which indices are taken apart.
        operator: a name from `ATOMIC` to combine with what is there; None to replace it.
    """
    picked = f"index[{position('index_at', stride_names('index', rank))}]"
    source = f"source[{position('source_at', stride_names('source', rank))}]"
    out = f"{position('out_at', stride_names('out', rank))} + picked * picked_stride"
    if operator is None:
        write = f"out[{out}] = {source}"
    else:
        write = f"cuda.atomic.{_ATOMIC_CALL[operator]}(out, {out}, {source})"
    body = _visit(rank, index, [f"picked = {picked}", write])
    parameters = [
        *numbers("n", "picked_stride", *extent_names(rank)),
        *numbers(*(s for each in ("source", "index", "out") for s in stride_names(each, rank))),
        *operand("source", dtype),
        *operand("index", int64),
        *operand("out", dtype, array=operator is not None),
    ]
    name = f"scatter_{operator or 'set'}_{dtype.name}_{rank}{_suffix(index)}"
    return define(name, parameters, body)


def scatter_lines(name: str, graph: Graph, dtype: DType, rank: int, index: str) -> Kernel:
    """Return the kernel in which one thread combines a whole line of the index, in order.

    Args:
        name: the name of the operator.
        graph: the traced operator.
        dtype: the element type.
        rank: the number of the other dimensions after merging.
        index: the type in which indices are taken apart.
    """
    compute = computed(dtype)
    rendered = render(graph, ("a", "b"), compute, (dtype,), table(compute))
    starts = [
        f"{each}_start = {position(f'{each}_at', stride_names(each, rank))}"
        for each in ("source", "index", "out")
    ]
    line = [
        *starts,
        "for j in range(length):",
        "    at = out_start + index[index_start + j * index_step] * picked_stride",
        f"    a = {load('out[at]', dtype, compute)}",
        f"    b = {load('source[source_start + j * source_step]', dtype, compute)}",
        *indented(rendered.statements),
        f"    out[at] = {store(rendered.results[0], dtype)}",
    ]
    parameters = [
        *numbers("n", "length", "source_step", "index_step", "picked_stride"),
        *numbers(*extent_names(rank)),
        *numbers(*(s for each in ("source", "index", "out") for s in stride_names(each, rank))),
        *operand("source", dtype),
        *operand("index", int64),
        *operand("out", dtype),
    ]
    body = [*helpers(graph, compute), *_visit(rank, index, line)]
    return define(f"scatter_lines_{name}_{dtype.name}_{rank}{_suffix(index)}", parameters, body)


def _visit(rank: int, index: str, lines: list[str]) -> list[str]:
    """Return a loop over the grid that takes every index apart and runs `lines` on it."""
    return [
        "i = cuda.grid(1)",
        "step = cuda.gridsize(1)",
        "while i < n:",
        *indented(take_apart("i", extent_names(rank), index)),
        *indented(lines),
        "    i += step",
    ]


def _suffix(index: str) -> str:
    return "" if index == "index32" else "_wide"

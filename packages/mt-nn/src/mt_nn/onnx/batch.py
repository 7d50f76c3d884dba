"""Graphs for any batch size.

A recorded graph is valid for one batch size. So the network is recorded with several. The operators
must be the same each time; only shapes and limits of slices may differ. Those that differ are
computed from the batch size n of the argument, as `slope * n + offset`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mt_nn.errors import ExportError
from mt_nn.onnx.graph import Graph, Node
from mt_tensor.extending import Array

SIZES = (7, 11, 13)
"""The batch sizes that a network is recorded with: two to find a line, one to check it."""


def merge(graphs: Sequence[Graph], dynamic: dict[str, str]) -> Graph:
    """Return the graph for any batch size, given those for `SIZES`.

    Args:
        graphs: the graphs.
        dynamic: the arguments whose first dimension is the batch, and the name of this dimension.

    Raises:
        ExportError: the graphs differ in more than sizes.
    """
    first, second, third = graphs
    _check_same(first, [second, third])
    name, symbol = next(iter(dynamic.items()))
    batch = "/batch"
    nodes = [Node("Shape", [name], batch, {"start": 0, "end": 1})]
    for vector, array in list(first.vectors.items()):
        others = second.vectors[vector], third.vectors[vector]
        if all(np.array_equal(array, other) for other in others):
            continue
        slope, offset = _line(array, *others)
        del first.vectors[vector]
        factor = first.constant(slope, f"{vector}_slope")
        product = Node("Mul", [batch, factor], f"{vector}_product", {})
        constant = first.constant(offset, f"{vector}_offset")
        nodes += [product, Node("Add", [product.output, constant], vector, {})]
    first.nodes[:0] = nodes
    for value in first.inputs:
        if value.name in dynamic:
            value.shape = (symbol, *value.shape[1:])
    for values in zip(*(graph.outputs for graph in graphs), strict=True):
        sizes = zip(*(value.shape for value in values), strict=True)
        values[0].shape = [
            symbol if each == SIZES else each[0] if len(set(each)) == 1 else None for each in sizes
        ]
    return first


def _line(a: Array, b: Array, c: Array) -> tuple[Array, Array]:
    """Return the slope and the offset of vectors for three batch sizes."""
    if a.shape == b.shape == c.shape:
        slope = (b - a) // (SIZES[1] - SIZES[0])
        offset = a - slope * SIZES[0]
        if all(
            np.array_equal(slope * n + offset, x) for n, x in zip(SIZES, (a, b, c), strict=True)
        ):
            return slope, offset
    raise ExportError(
        f"a size is not a linear function of the batch size: {a.tolist()}, {b.tolist()} and "
        f"{c.tolist()} for batches of {', '.join(map(str, SIZES))}. Export without dynamic_axes."
    )


def _check_same(graph: Graph, others: Sequence[Graph]) -> None:
    """Raise ExportError unless graphs have the same nodes and constants."""
    for other in others:
        for first_node, second_node in zip(graph.nodes, other.nodes, strict=False):
            if first_node != second_node:
                raise ExportError(
                    _depends(f"{first_node.operation} differs from {second_node.operation}")
                )
        if len(graph.nodes) != len(other.nodes) or len(graph.outputs) != len(other.outputs):
            raise ExportError(_depends("the number of operators differs"))
        for name, array in graph.constants.items():
            other_array = other.constants.get(name)
            if other_array is None or not np.array_equal(
                array, other_array, equal_nan=array.dtype.kind == "f"
            ):
                users = {node.operation for node in graph.nodes if name in node.inputs}
                raise ExportError(_depends(f"a constant of {' and '.join(sorted(users))} differs"))


def _depends(how: str) -> str:
    return (
        f"the network depends on the batch size in more than its shapes: {how} when it is recorded "
        "with another batch size. Export without dynamic_axes."
    )

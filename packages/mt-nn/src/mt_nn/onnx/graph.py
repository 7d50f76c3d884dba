"""Graphs of ONNX operators, before they are written as protocol buffers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mt_nn.errors import ExportError
from mt_tensor import DType
from mt_tensor.extending import Array, Shape

TYPES = {
    "float32": 1, "uint8": 2, "int8": 3, "uint16": 4, "int16": 5, "int32": 6, "int64": 7,
    "bool": 9, "float16": 10, "float64": 11, "uint32": 12, "uint64": 13,
}  # fmt: skip
"""ONNX's numbers of dtypes."""


def type_of(dtype: DType) -> int:
    """Return ONNX's number of a dtype.

    Raises:
        ExportError: the dtype is bfloat16.
    """
    if dtype.name not in TYPES:
        raise ExportError(
            f"tensors of {dtype.name} cannot be exported: convert with model.float()."
        )
    return TYPES[dtype.name]


@dataclass
class Node:
    """One operator.

    Attributes:
        operation: the name of the operator.
        inputs: the names of its arguments; an empty string for an omitted argument.
        output: the name of its result.
        attributes: its settings.
    """

    operation: str
    inputs: list[str]
    output: str
    attributes: dict[str, Any]


@dataclass
class Value:
    """An argument or a result of a graph: its name, dtype and shape."""

    name: str
    dtype: DType
    shape: Sequence[int | str | None]


@dataclass
class Graph:
    """A graph under construction.

    Attributes:
        inputs: the arguments.
        outputs: the results.
        nodes: the operators, in the order of execution.
        constants: arrays by name: parameters, and constants of the network.
        vectors: int64 vectors by name: shapes, and limits of slices.
        varying: the names of the values that depend on an argument.
    """

    inputs: list[Value] = field(default_factory=list)
    outputs: list[Value] = field(default_factory=list)
    nodes: list[Node] = field(default_factory=list)
    constants: dict[str, Array] = field(default_factory=dict)
    vectors: dict[str, Array] = field(default_factory=dict)
    varying: set[str] = field(default_factory=set)

    def add(self, operation: str, *inputs: str, **attributes: Any) -> str:
        """Add an operator with one result, and return the name of the result."""
        output = f"/{operation}_{len(self.nodes)}"
        self.nodes.append(Node(operation, list(inputs), output, attributes))
        if not self.varying.isdisjoint(inputs):
            self.varying.add(output)
        return output

    def constant(self, array: Any, name: str | None = None) -> str:
        """Add a constant, and return its name."""
        name = name or f"/constant_{len(self.constants)}"
        self.constants[name] = np.asarray(array)
        return name

    def vector(self, numbers: Sequence[int]) -> str:
        """Add an int64 vector, and return its name."""
        name = f"/sizes_{len(self.vectors)}"
        self.vectors[name] = np.array(numbers, np.int64)
        return name

    def cast(self, name: str, before: DType, after: DType) -> str:
        """Convert a value to another dtype."""
        return name if before is after else self.add("Cast", name, to=type_of(after))

    def reshape(self, name: str, before: Shape, after: Shape) -> str:
        """Reshape a value."""
        return name if before == after else self.add("Reshape", name, self.vector(after))


def simplify(graph: Graph) -> None:
    """Merge equal constants, vectors and nodes, and remove unused ones."""
    renamed: dict[str, str] = {}
    for table in (graph.constants, graph.vectors):
        first: dict[Any, str] = {}
        for name, array in table.items():
            if name.startswith("/"):  # parameters are not merged
                key = array.dtype.str, array.shape, array.tobytes()
                renamed[name] = first.setdefault(key, name)
    found: dict[str, str] = {}
    for node in graph.nodes:
        node.inputs = [renamed.get(name, name) for name in node.inputs]
        text = repr((node.operation, node.inputs, node.attributes))
        renamed[node.output] = found.setdefault(text, node.output)
    for value in graph.outputs:
        value.name = renamed.get(value.name, value.name)
    used = {value.name for value in graph.outputs}
    kept: list[Node] = []
    for node in reversed(graph.nodes):
        if node.output in used and renamed[node.output] == node.output:
            kept.append(node)
            used.update(node.inputs)
    graph.nodes = kept[::-1]
    for table in (graph.constants, graph.vectors):
        for name in table.keys() - used:
            del table[name]

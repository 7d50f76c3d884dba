"""Higher derivatives of operators.

Under `create_graph` each gradient is a recorded operation: an operator whose partial derivatives
are derived from the graph of the gradient's formula (`core/elementwise_gradients.py`).
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

from mt_operators.core.tracing import drop_unused, graph_of
from mt_tensor.core.elementwise import ElementwiseOperation
from mt_tensor.core.elementwise_gradients import Gradients
from mt_tensor.core.extensions import extends
from mt_tensor.core.graph import Node
from mt_tensor.core.tensor import Tensor
from mt_tensor.core.tensor_data import TensorData


@extends("recorded gradients")
def recorded(
    gradients: Gradients,
    node: Node,
    inputs: Sequence[Any],
    saved: Sequence[TensorData],
    grad: Tensor,
) -> Sequence[Tensor]:
    """Compute gradients with recorded operations.

    Args:
        gradients: the gradient rule.
        node: the node of the result.
        inputs: the arguments that require grad.
        saved: the data that the partial derivatives read.
        grad: the gradient of the result.
    """
    known = (grad, *_as_tensors(gradients, node, inputs, saved))
    return [operation(*[known[i] for i in reads]) for operation, reads in _operations(gradients)]


def _as_tensors(
    gradients: Gradients, node: Node, inputs: Sequence[Any], saved: Sequence[TensorData]
) -> list[Tensor]:
    """Return saved data as tensors that are connected to the graph."""
    remaining = iter(inputs)
    variables = [next(remaining) if need else None for need in gradients.needs]
    variables.append(node)
    operands: list[Tensor] = []
    for position, data in zip(gradients.reads, saved, strict=True):
        variable = variables[position]
        if isinstance(variable, Node) or variable is None:
            tensor = Tensor._make(data, node.backend)
            tensor._node, tensor._requires_grad = variable, variable is not None
            operands.append(tensor)
        else:
            operands.append(variable)
    return operands


@functools.lru_cache(4096)
def _operations(gradients: Gradients) -> list[tuple[ElementwiseOperation, tuple[int, ...]]]:
    """Return, for each computed gradient, an operation and the positions of its arguments.

    Values that it does not read must not be arguments, or they would get gradients of zeros.
    """
    if gradients.plans is None:
        return []
    from mt_operators.core.differentiation import derived  # imported on first use

    formula = gradients.plans.formula
    operations = []
    for output in range(formula.outputs):
        single = derived(formula.name, formula.parameters, graph_of(formula).single_output(output))
        narrow, reads = drop_unused(single.value)
        operator = derived(narrow.name, narrow.parameters, graph_of(narrow))
        operations.append((ElementwiseOperation(operator), reads))
    return operations

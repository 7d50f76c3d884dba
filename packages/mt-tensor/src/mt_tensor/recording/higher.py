"""Gradients of gradients: those of an operator, as operations that are recorded in turn.

Under `create_graph` each gradient is an operation: an operator whose own partial derivatives follow
from the graph of the formula that `core/elementwise_gradients.py` computes it by.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

from mt_operators.core.tracing import graph_of, narrowed
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
    """Return the gradients that are computed, each by an operation that is recorded.

    Args:
        gradients: how they are computed.
        node: that of the result.
        inputs: the arguments that require a gradient.
        saved: the elements that the partial derivatives read.
        grad: the gradient of the result.
    """
    known = (grad, *_as_tensors(gradients, node, inputs, saved))
    return [operation(*[known[i] for i in reads]) for operation, reads in _operations(gradients)]


def _as_tensors(
    gradients: Gradients, node: Node, inputs: Sequence[Any], saved: Sequence[TensorData]
) -> list[Tensor]:
    """Return what was saved as tensors in their places in the graph."""
    places = iter(inputs)
    variables = [next(places) if need else None for need in gradients.needs]
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
    """Return, for each gradient that is computed, an operation and what it reads.

    What it does not read must not be its argument, which would get a gradient of zeros.
    """
    if gradients.plans is None:
        return []
    from mt_operators.core.differentiation import derived  # when first needed only

    formula = gradients.plans.formula
    operations = []
    for output in range(formula.outputs):
        single = derived(formula.name, formula.parameters, graph_of(formula).only(output))
        narrow, reads = narrowed(single.value)
        operator = derived(narrow.name, narrow.parameters, graph_of(narrow))
        operations.append((ElementwiseOperation(operator), reads))
    return operations

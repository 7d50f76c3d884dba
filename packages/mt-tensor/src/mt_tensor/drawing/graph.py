"""What is to be seen of a recorded computation: its tensors, their shapes, and what made each."""

from __future__ import annotations

from typing import Any

from mt_autodiff import GraphFreedError
from mt_autodiff.drawing.expression import SYMBOLS, on_one_line, recorded_graph
from mt_autodiff.drawing.svg import Node as Box
from mt_autodiff.drawing.svg import Svg, render
from mt_tensor.core.graph import Node
from mt_tensor.core.operands import require_tensors
from mt_tensor.core.tensor import Tensor


def draw_graph(result: Tensor, *, max_nodes: int = 300) -> Svg:
    """Draw how `result` was computed, with the operators and the shape of every tensor.

    Write the text to a file, or let a notebook show it. Drawing changes nothing. Only what a
    gradient flows through is recorded, and so is drawn. Edges arrive at an operator in the order of
    its arguments, from top to bottom; leaves whose `name` is set are called by it.

    Args:
        result: the tensor to draw, with all that was recorded of its computation.
        max_nodes: how many tensors to draw at most.

    Returns:
        A standalone SVG document.

    Raises:
        TypeError: `result` is not a tensor, or `max_nodes` no whole number.
        GraphFreedError: an earlier backward freed the graph.
        GraphTooLargeError: there are more than `max_nodes` tensors.
    """
    require_tensors("draw_graph", result)
    called = f"a tensor of shape {result.shape}"
    variables, inputs = recorded_graph(result.variable, _parents, called, max_nodes)
    boxes = [_box(variable) for variable in variables]
    boxes[0].kind += " result"
    return render(boxes, inputs, f"The computation of {called}")


def _parents(variable: Any) -> tuple[Any, ...]:
    """Return the nodes and leaves that a variable of the graph was made from."""
    if isinstance(variable, Node) and variable.last_fn is None:
        raise GraphFreedError(
            f"the graph behind {variable.name!r} cannot be drawn any more, for an earlier "
            "backward() has freed it. Draw it before, or call backward(retain_graph=True)."
        )
    return tuple(variable.parents)


def _box(variable: Any) -> Box:
    """Return what is to be seen of a node or a leaf."""
    shape = f"[{'×'.join(map(str, variable.shape))}]"
    facts = f"shape {variable.shape}\n{variable.dtype.name} on {variable.backend.name}"
    if isinstance(variable, Node):
        operator = SYMBOLS.get(variable.name, on_one_line(variable.name))
        return Box("operation", operator, [shape], f"made by {variable.name}\n{facts}")
    kind, origin = ("input", "leaf") if variable.requires_grad else ("constant", "constant")
    if variable.name:
        shape, origin = f"{on_one_line(variable.name)}: {shape}", f"{variable.name}, {origin}"
    return Box(kind, "", [shape], f"{origin}\n{facts}")

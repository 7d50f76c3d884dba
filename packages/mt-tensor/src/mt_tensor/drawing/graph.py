"""`draw_graph`: a drawing of a recorded computation with its operators and shapes."""

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
    """Draw the graph that computed `result`, with its operators and the shape of every tensor.

    Write the text to a file, or let a notebook display it. Drawing changes nothing. The graph
    contains only operations that a gradient flows through. Edges enter an operator in the order of
    its arguments, from top to bottom. Leaves with a `name` are labeled with it.

    Args:
        result: the tensor whose graph to draw.
        max_nodes: the largest number of tensors to draw.

    Returns:
        A standalone SVG document.

    Raises:
        TypeError: `result` is not a tensor, or `max_nodes` is not an integer.
        GraphFreedError: an earlier `backward` freed the graph.
        GraphTooLargeError: there are more than `max_nodes` tensors.
    """
    require_tensors("draw_graph", result)
    called = f"a tensor of shape {result.shape}"
    variables, inputs = recorded_graph(result.variable, _parents, called, max_nodes)
    boxes = [_box(variable) for variable in variables]
    boxes[0].kind += " result"
    return render(boxes, inputs, f"The computation of {called}")


def _parents(variable: Any) -> tuple[Any, ...]:
    """Return the nodes and leaves from which a variable was computed."""
    if isinstance(variable, Node) and variable.last_fn is None:
        raise GraphFreedError(
            f"the graph of {variable.name!r} cannot be drawn: an earlier backward() has freed it. "
            "Draw it before backward(), or call backward(retain_graph=True)."
        )
    return tuple(variable.parents)


def _box(variable: Any) -> Box:
    """Return the box that shows a node or a leaf."""
    shape = f"[{'×'.join(map(str, variable.shape))}]"
    details = f"shape {variable.shape}\n{variable.dtype.name} on {variable.backend.name}"
    if isinstance(variable, Node):
        operator = SYMBOLS.get(variable.name, on_one_line(variable.name))
        return Box("operation", operator, [shape], f"made by {variable.name}\n{details}")
    kind, origin = ("input", "leaf") if variable.requires_grad else ("constant", "constant")
    if variable.name:
        shape, origin = f"{on_one_line(variable.name)}: {shape}", f"{variable.name}, {origin}"
    return Box(kind, "", [shape], f"{origin}\n{details}")

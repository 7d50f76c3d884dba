"""What is to be seen of a recorded computation: its tensors, their shapes, and what made each."""

from __future__ import annotations

from mt_autodiff import GraphFreedError
from mt_autodiff.drawing.expression import SYMBOLS, on_one_line, recorded_graph
from mt_autodiff.drawing.svg import Node, Svg, render
from mt_tensor.function import require_tensors
from mt_tensor.tensor_base import TensorBase


def draw_graph(result: TensorBase, *, max_nodes: int = 300) -> Svg:
    """Draw how `result` was computed, with the operators and the shape of every tensor.

    Write the text to a file, or let a notebook show it. Drawing changes nothing. Edges arrive at an
    operator in the order of its arguments, from top to bottom; tensors whose `name` is set are
    called by it.

    Args:
        result: the tensor to draw, with all that was recorded of its computation.
        max_nodes: how many tensors to draw at most.

    Returns:
        A standalone SVG document.

    Raises:
        TypeError: `result` is no tensor, or `max_nodes` no whole number.
        GraphFreedError: an earlier backward freed the graph.
        GraphTooLargeError: there are more than `max_nodes` tensors.
    """
    require_tensors("draw_graph", result)
    called = f"a tensor of shape {result.shape}"
    tensors, inputs = recorded_graph(result, _parents, called, max_nodes)
    nodes = [_node(tensor) for tensor in tensors]
    nodes[0].kind += " result"
    return render(nodes, inputs, f"The computation of {called}")


def _parents(tensor: TensorBase) -> tuple[TensorBase, ...]:
    """Return the tensors that one was recorded to be made from, constants too."""
    if tensor.history is None:
        return ()
    if tensor.history.last_fn is None:
        raise GraphFreedError(
            f"the graph behind {tensor.history.name!r} cannot be drawn any more, for an earlier "
            "backward() has freed it. Draw it before, or call backward(retain_graph=True)."
        )
    return tuple(x for x in tensor.history.inputs if isinstance(x, TensorBase))


def _node(tensor: TensorBase) -> Node:
    """Return what is to be seen of one tensor."""
    kind, made_by, operator = "constant", "no gradient is wanted", ""
    if tensor.history is not None:
        kind, made_by = "operation", f"made by {tensor.history.name}"
        operator = SYMBOLS.get(tensor.history.name, on_one_line(tensor.history.name))
    elif tensor.requires_grad:
        kind, made_by = "input", "a leaf that wants a gradient"
    shown = _elements(tensor)
    name = f"{on_one_line(tensor.name)}: " if tensor.name else ""
    details = [
        f"{tensor.name}, {made_by}" if tensor.name else made_by,
        f"shape {tensor.shape}, strides {tensor.stride()}",
        f"{tensor.dtype.name} on {tensor.backend.name}",
    ]
    return Node(kind, operator, [name + shown], "\n".join(details))


def _elements(tensor: TensorBase) -> str:
    """Return a constant number as it is, and of all else the shape, in brackets."""
    if tensor.ndim == 0 and not tensor.requires_grad:
        return f"{tensor._itself().item():.4g}"
    return f"[{'×'.join(map(str, tensor.shape))}]"

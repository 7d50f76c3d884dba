"""Backpropagation towards some of what a result was computed from, and nowhere else.

`backward` wants the gradient of every leaf. Who asks for that by the pixels of an image, or by the
points at which an equation must hold, wants none of the parameters: most of the work of a walk back
would be thrown away, and under `create_graph` it would be recorded before. So this walk goes to
what leads to something wanted, and an operation computes the gradients of those arguments alone.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from copy import copy
from itertools import compress
from typing import Any

from mt_autodiff import topological_sort
from mt_tensor.recording.graph import Node


def derivatives_towards(
    variable: Any,
    derivative: Any,
    wanted: Container[Any],
    retain_graph: bool = False,
    leaves: Container[Any] = (),
) -> Iterator[tuple[Any, Any]]:
    """Yield the wanted variables behind `variable` with their derivatives; see `derivatives`.

    Args:
        variable: what stands for the result (`tensor.variable`).
        derivative: what to start with.
        wanted: the variables to yield.
        retain_graph: whether to keep what was saved.
        leaves: see `derivatives`.
    """
    order = topological_sort(variable, leaves)
    leading: set[Any] = set()
    for each in reversed(order):  # what it was computed from comes before
        if (
            each in wanted
            or any(parent in leading for parent in (() if each in leaves else each.parents))
            or (isinstance(each, Node) and each.last_fn is None)  # freed, which it will say
        ):
            leading.add(each)
    complete = {variable: derivative}
    for current in order:
        total = complete.pop(current, None)
        if total is None or current not in leading:
            continue
        if current in leaves:
            yield current, total
            continue
        total = current.completed(total)
        if current in wanted:
            yield current, total
        for parent, share in _narrowed(current, leading).chain_rule(total):
            if parent in leading:
                complete[parent] = complete[parent] + share if parent in complete else share
        if not retain_graph:
            current.free_graph()


def _narrowed(variable: Any, leading: Container[Any]) -> Any:
    """Return a node as if it wanted the gradients of leading inputs only, where that saves work.

    The node itself may be in other threads' hands, and is not touched.
    """
    kept = [parent in leading for parent in variable.parents]
    if all(kept):
        return variable
    if type(variable) is Node:
        return _narrowed_function(variable, kept)
    narrowed = getattr(variable, "narrowed", None)  # which nodes of kernels have
    return variable if narrowed is None else narrowed(kept)


def _narrowed_function(node: Node, kept: Sequence[bool]) -> Node:
    """Return a node of a `Function`, whose backward asks its context what is wanted."""
    narrow, others = copy(node), iter(kept)
    narrow.ctx = context = copy(node.ctx)
    context.needs_input_grad = tuple([need and next(others) for need in context.needs_input_grad])
    narrow.inputs = [*compress(node.inputs, kept)]
    narrow.last_fn = node.last_fn  # read last, for it is forgotten first
    return narrow

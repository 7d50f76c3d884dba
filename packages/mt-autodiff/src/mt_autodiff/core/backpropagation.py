"""Backpropagation: differentiate a result with respect to everything it was computed from.

A variable must be visited after all variables computed from it, when its derivative is complete.
Visiting it as soon as one part of the derivative is known would be wrong for
`b = a + a; c = b + b`: `b` gets its derivative in two parts, and only one of them would reach `a`.
A depth-first search finishes variables in the reverse of the right order. It uses an explicit
stack, since a chain of a hundred thousand operations would exceed Python's recursion limit.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from typing import Any, TypeVar

from mt_autodiff.core.errors import CyclicGraphError
from mt_autodiff.core.graph import Variable
from mt_autodiff.core.mode import recording

V = TypeVar("V", bound=Variable)


def topological_sort(variable: V, leaves: Container[Any] = ()) -> list[V]:
    """Return `variable` and its non-constant ancestors, each before its parents.

    Args:
        variable: the final result.
        leaves: variables to treat as leaves, whose ancestors are not visited.

    Raises:
        CyclicGraphError: a variable was computed from itself.
    """
    finished: list[V] = []
    on_path: dict[V, bool] = {}  # False for finished variables
    stack = [variable]
    while stack:
        current = stack[-1]
        state = on_path.get(current)
        is_new = state is None and current not in leaves
        parents: tuple[Any, ...] = tuple(current.parents) if is_new else ()
        if state is None and (parents or not current.is_constant()):
            on_path[current] = state = True
            for parent in reversed(parents):  # the last one pushed is visited first
                visited = on_path.get(parent)
                if visited is None:
                    stack.append(parent)
                elif visited:
                    raise CyclicGraphError(
                        f"{parent!r} was computed from itself. A recorded history must not be "
                        "assigned to one of its own inputs."
                    )
            if stack[-1] is not current:  # visit its parents first
                continue
        stack.pop()
        if state:
            on_path[current] = False
            finished.append(current)
    finished.reverse()
    return finished


def derivatives(
    variable: V,
    derivative: Any,
    retain_graph: bool = False,
    leaves: Container[Any] = (),
    inputs: Container[Any] | None = None,
) -> dict[V, Any]:
    """Return the derivatives of `variable` by the variable that they are with respect to.

    Args:
        variable: the final result.
        derivative: the initial derivative, such as 1.
        retain_graph: whether to keep saved values, so that the graph can be differentiated again.
        leaves: variables to treat as leaves: `completed` is not called for them.
        inputs: the variables to differentiate with respect to; only paths to them are followed.
            None for all variables of `topological_sort`.

    Raises:
        CyclicGraphError: a variable was computed from itself.
        GraphFreedError: the graph was freed by an earlier call.
        GradientError: a function's backward returned invalid gradients.
    """
    found: dict[Any, Any] = {}
    walk(variable, derivative, retain_graph, found, leaves, inputs)
    return found


def walk(
    variable: Variable,
    derivative: Any,
    retain_graph: bool,
    found: dict[Any, Any] | None,
    leaves: Container[Any] = (),
    inputs: Container[Any] | None = None,
) -> None:
    """Compute the derivative of each variable, and propagate it to the parents.

    Derivatives are stored in `found`, or in the leaves if that is None. The other arguments are
    those of `derivatives`.
    """
    order = topological_sort(variable, leaves)
    needed = None if inputs is None else _dependent_on(inputs, order, leaves)
    complete: dict[Any, Any] = {variable: derivative}
    for current in order:
        total = complete.pop(current, None)
        if total is None or (needed is not None and current not in needed):
            continue
        if found is None:
            total = current.accumulate_derivative(total)
        elif current in leaves:
            found[current] = total
            continue
        else:
            total = current.completed(total)
            if inputs is None or current in inputs:
                found[current] = total
            if needed is not None and not (_parent_needed(current, needed) or current.is_freed()):
                continue  # its own graph is not visited, and so not freed
        for parent, part in current.chain_rule(total, needed, retain_graph):
            complete[parent] = complete[parent] + part if parent in complete else part


def _dependent_on(inputs: Container[Any], order: Sequence[Any], leaves: Container[Any]) -> set[Any]:
    """Return the variables of a topological order that depend on one of the inputs.

    Variables whose graph has been freed are included, so that visiting them raises an error.
    """
    needed: set[Any] = set()
    for current in reversed(order):  # parents first
        is_dependent = current not in leaves and _parent_needed(current, needed)
        if is_dependent or current in inputs or current.is_freed():
            needed.add(current)
    return needed


def _parent_needed(variable: Any, needed: set[Any]) -> bool:
    """Return whether one of the parents of a variable is needed."""
    return any(parent in needed for parent in variable.parents)


def backpropagate(
    variable: Variable,
    derivative: Any,
    retain_graph: bool | None = None,
    create_graph: bool = False,
) -> None:
    """Add the derivative of `variable` to every leaf that it was computed from.

    Several calls accumulate: derivatives are added to those stored in the leaves.

    Args:
        variable: the final result.
        derivative: the initial derivative, such as 1.
        retain_graph: whether to keep the graph for another call; `create_graph` if None.
        create_graph: whether to record the derivatives, for higher derivatives.

    Raises:
        CyclicGraphError: a variable was computed from itself.
        GraphFreedError: the graph was freed by an earlier call.
        GradientError: a function's backward returned invalid gradients.
    """
    keep = create_graph if retain_graph is None else retain_graph
    before = recording.set(create_graph)
    try:
        walk(variable, derivative, keep, None)
    finally:
        recording.reset(before)

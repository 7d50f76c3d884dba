"""Backpropagation: from one result back to everything it was computed from.

Each variable must be visited after all that were computed from it, when its derivative is complete.
Going on as soon as a first part has arrived is wrong already for `b = a + a; c = b + b`: `b` gets
its derivative in two parts, and only one of them would reach `a`. The right order is the reverse of
that in which a depth-first search *finishes* variables. The search keeps its own stack, as a chain
of a hundred thousand operations would exceed Python's recursion limit.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from typing import Any, TypeVar

from mt_autodiff.core.errors import CyclicGraphError
from mt_autodiff.core.graph import Variable
from mt_autodiff.core.mode import recording

V = TypeVar("V", bound=Variable)


def topological_sort(variable: V, leaves: Container[Any] = ()) -> list[V]:
    """Return `variable` and its non-constant ancestors, each before those it was computed from.

    Args:
        variable: the final result.
        leaves: variables to treat as leaves, whose ancestors are not visited.

    Raises:
        CyclicGraphError: a variable was computed from itself.
    """
    finished: list[V] = []
    on_path: dict[V, bool] = {}  # False once it is finished
    stack = [variable]
    while stack:
        current = stack[-1]
        state = on_path.get(current)
        unmet = state is None and current not in leaves
        parents: tuple[Any, ...] = tuple(current.parents) if unmet else ()
        if state is None and (parents or not current.is_constant()):
            on_path[current] = state = True
            for parent in reversed(parents):  # the last one pushed is the first one visited
                visited = on_path.get(parent)
                if visited is None:
                    stack.append(parent)
                elif visited:
                    raise CyclicGraphError(
                        f"{parent!r} was computed from itself. A recorded history must not be "
                        "assigned to one of its own inputs."
                    )
            if stack[-1] is not current:  # its parents come first
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
    """Return the complete derivative of each variable of `topological_sort`; store none.

    Args:
        variable: the final result.
        derivative: its derivative to start with: 1, or weights of its elements.
        retain_graph: whether to keep saved values, so that the graph can be differentiated again.
        leaves: variables to treat as leaves: `completed` is not called for them.
        inputs: the only variables to differentiate with respect to: the walk follows no path that
            does not lead to one of them. None for all variables.
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
    """Visit each variable with its complete derivative, and pass it on to its parents.

    Derivatives are put into `found`; if that is None, leaves store their own. The other arguments
    are those of `derivatives`.
    """
    order = topological_sort(variable, leaves)
    needed = None if inputs is None else _leading_to(inputs, order, leaves)
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
        for parent, part in current.chain_rule(total, needed, retain_graph):
            complete[parent] = complete[parent] + part if parent in complete else part


def _leading_to(inputs: Container[Any], order: Sequence[Any], leaves: Container[Any]) -> set[Any]:
    """Return the variables of a topological order from which a path leads to one of the inputs.

    A variable whose graph has been freed counts as one, so that the walk reaches it and it can
    raise its error.
    """
    needed: set[Any] = set()
    for current in reversed(order):  # its parents first
        parents = () if current in leaves else current.parents
        if current in inputs or any(parent in needed for parent in parents) or current.is_freed():
            needed.add(current)
    return needed


def backpropagate(
    variable: Variable,
    derivative: Any,
    retain_graph: bool | None = None,
    create_graph: bool = False,
) -> None:
    """Add the derivative of `variable` to every leaf that it was computed from.

    Several calls accumulate: a leaf's stored derivative is added to, never replaced.

    Args:
        variable: the final result.
        derivative: its derivative to start with, as its `chain_rule` takes it.
        retain_graph: whether the graph can be differentiated again; as `create_graph` if None.
        create_graph: whether the derivatives are recorded, to be differentiated in turn.

    Raises:
        CyclicGraphError: a variable was computed from itself.
        GraphFreedError: the graph was freed by an earlier call.
        GradientError: a function's backward returned gradients that do not fit.
    """
    keep = create_graph if retain_graph is None else retain_graph
    before = recording.set(create_graph)
    try:
        walk(variable, derivative, keep, None)
    finally:
        recording.reset(before)

"""Backpropagation: from one result back to everything it was computed from.

Each variable must be visited after all that were computed from it, when its derivative is
complete. A depth-first walk that visits on the way in gets this wrong already for
`b = a + a; c = b + b`; the reverse of the order in which it *finishes* is right. The walk keeps
its own stack, so that a chain of a hundred thousand operations does not exhaust Python's.
"""

from __future__ import annotations

from collections.abc import Container, Iterator
from typing import Any, TypeVar

from mt_autodiff.errors import CyclicGraphError
from mt_autodiff.graph import Variable
from mt_autodiff.mode import set_grad_enabled

V = TypeVar("V", bound=Variable)


def topological_sort(variable: V, leaves: Container[int] = ()) -> list[V]:
    """Return the non-constant variables behind `variable`, each before those it came from.

    Args:
        variable: the final result.
        leaves: the `unique_id` of variables to take for leaves, and not to look behind.

    Raises:
        CyclicGraphError: a variable was computed from itself.
    """
    if variable.is_constant():
        return []
    finished: list[V] = []
    on_path = {variable.unique_id: True}  # whether the walk is still behind it; False once finished
    stack: list[tuple[V, Iterator[Any]]] = [(variable, iter(variable.parents))]
    while stack:
        current, parents = stack[-1]
        for parent in parents:
            state = on_path.get(parent.unique_id)
            if state is None:
                if parent.is_constant():
                    continue
                on_path[parent.unique_id] = True
                behind = () if parent.unique_id in leaves else parent.parents
                stack.append((parent, iter(behind)))
                break
            if state:
                raise CyclicGraphError(
                    f"{parent!r} was computed from itself. A recorded history must not be "
                    "assigned to one of its own inputs."
                )
        else:
            finished.append(current)
            on_path[current.unique_id] = False
            stack.pop()
    finished.reverse()
    return finished


def derivatives(
    variable: V, derivative: Any, retain_graph: bool = False, leaves: Container[int] = ()
) -> Iterator[tuple[V, Any]]:
    """Yield every variable behind `variable` with its complete derivative, each before its inputs.

    Args:
        variable: the final result.
        derivative: what to start with: the derivative of the final result by itself, or the
            weights of its elements.
        retain_graph: whether to keep what was saved, so that it can be differentiated again.
        leaves: the `unique_id` of variables to take for leaves. Their derivatives are yielded as
            they are, and not followed further.
    """
    complete: dict[int, Any] = {variable.unique_id: derivative}
    for current in topological_sort(variable, leaves):
        total = complete.pop(current.unique_id, None)
        if total is None:  # no path carried a derivative here
            continue
        if current.unique_id in leaves:
            yield current, total
            continue
        total = current.completed(total)
        yield current, total
        for parent, share in current.chain_rule(total):
            key = parent.unique_id
            complete[key] = complete[key] + share if key in complete else share
        if not retain_graph:
            current.free_graph()


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
        derivative: what to start with, of the kind that the variable's `chain_rule` takes.
        retain_graph: whether the graph can be differentiated again; as `create_graph` if None.
        create_graph: whether the derivatives are recorded, to be differentiated in turn.

    Raises:
        CyclicGraphError: a variable was computed from itself.
        GraphFreedError: the graph was freed by an earlier call.
        GradientError: a function's backward returned something that does not fit.
    """
    keep = create_graph if retain_graph is None else retain_graph
    with set_grad_enabled(create_graph):
        for current, total in derivatives(variable, derivative, keep):
            current.accumulate_derivative(total)

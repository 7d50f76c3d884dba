"""Backpropagation: from one result back to everything it was computed from.

The second idea: what was remembered is followed back. Each variable must be visited after all that
were computed from it, when its derivative is complete. A walk that goes on as soon as a first share
has come gets this wrong already for `b = a + a; c = b + b`: of the two shares of `b` only one would
reach `a`. The reverse of the order in which a depth-first walk *finishes* is right. The walk keeps
its own stack, so that a chain of a hundred thousand operations does not exhaust Python's.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator
from typing import Any, TypeVar

from mt_autodiff.core.errors import CyclicGraphError
from mt_autodiff.core.graph import Variable
from mt_autodiff.core.mode import recording

V = TypeVar("V", bound=Variable)


def topological_sort(variable: V, leaves: Container[Any] = ()) -> list[V]:
    """Return the non-constant variables behind `variable`, each before those it came from.

    Args:
        variable: the final result.
        leaves: variables to take for leaves, and not to look behind.

    Raises:
        CyclicGraphError: a variable was computed from itself.
    """
    finished: list[V] = []
    on_path: dict[V, bool] = {}  # whether the walk is still behind it; False once it has finished
    stack = [variable]
    while stack:
        current = stack[-1]
        state = on_path.get(current)
        if state is None and not current.is_constant():
            on_path[current] = state = True
            behind: Iterable[Any] = () if current in leaves else current.parents
            for parent in reversed(tuple(behind)):  # the last one pushed is the first one walked to
                walked = on_path.get(parent)
                if walked is None:
                    stack.append(parent)
                elif walked:
                    raise CyclicGraphError(
                        f"{parent!r} was computed from itself. A recorded history must not be "
                        "assigned to one of its own inputs."
                    )
            if stack[-1] is not current:  # first what lies behind it
                continue
        stack.pop()
        if state:
            on_path[current] = False
            finished.append(current)
    finished.reverse()
    return finished


def derivatives(
    variable: V, derivative: Any, retain_graph: bool = False, leaves: Container[Any] = ()
) -> Iterator[tuple[V, Any]]:
    """Yield every variable behind `variable` with its complete derivative, each before its inputs.

    Args:
        variable: the final result.
        derivative: what to start with: the derivative of the final result by itself, or the
            weights of its elements.
        retain_graph: whether to keep what was saved, so that it can be differentiated again.
        leaves: variables to take for leaves. Their derivatives are yielded without asking
            `completed`, and not followed further.
    """
    complete: dict[Any, Any] = {variable: derivative}
    for current in topological_sort(variable, leaves):
        total = complete.pop(current, None)
        if total is None:  # no path carried a derivative here
            continue
        if current in leaves:
            yield current, total
            continue
        total = current.completed(total)
        yield current, total
        for parent, share in current.chain_rule(total):
            complete[parent] = complete[parent] + share if parent in complete else share
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
    before = recording.set(create_graph)
    try:
        for current, total in derivatives(variable, derivative, keep):
            current.accumulate_derivative(total)
    finally:
        recording.reset(before)

"""Functions with several results.

A Function with one result has one node, as every operation has. One with several results has a
node for each of them, whose gradients meet in the node of the call: there they are added up like
any gradients, as `PartialGradients`, and `backward` gets all of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mt_tensor.core.contract import TensorBackend
from mt_tensor.core.extensions import extends
from mt_tensor.core.function import (
    Function,
    TensorContext,
    is_constant,
    unaliased,
    variables_of,
    with_base,
)
from mt_tensor.core.graph import Node, new_node, record
from mt_tensor.core.tensor import Tensor


@extends("several results")
def record_several(
    function: type[Function],
    ctx: TensorContext,
    returned: Any,
    args: tuple[Any, ...],
    needs: tuple[bool, ...],
) -> tuple[Any, ...]:
    """Return several results of a Function, each recorded if it can have a gradient.

    Raises:
        TypeError: `returned` is no tuple of tensors.
    """
    if not isinstance(returned, tuple) or not all(isinstance(x, Tensor) for x in returned):
        raise TypeError(
            f"forward of {function.__name__} returned {returned!r}; return a tensor, or a tuple of "
            "tensors."
        )
    if True not in needs:
        return tuple([with_base(each, args) for each in returned])
    results = tuple([unaliased(each, args) for each in returned])
    first = results[0]
    call = new_node(
        function,
        function.__name__,
        variables_of(args, needs),
        ctx,
        first._tensor.layout,
        first.backend,
    )
    ctx._results = [each._tensor.layout for each in results]
    for place, (result, own) in enumerate(zip(results, returned, strict=True)):
        if result.dtype.is_floating_point and not is_constant(ctx, own):
            record(result, _RESULT, function.__name__, (call,), place)
        with_base(result, args)
    return results


class PartialGradients:
    """The gradients of some results of one call, on their way to its node.

    Attributes:
        by_place: for the position of a result, its gradient.
    """

    __slots__ = ("_fresh", "by_place")

    def __init__(self, by_place: dict[int, Any]) -> None:
        self.by_place = by_place
        self._fresh: bool | None = None  # what a node looks at, see `Node.completed`

    def __add__(self, other: PartialGradients) -> PartialGradients:
        """Return the gradients of both."""
        both = dict(self.by_place)
        for place, gradient in other.by_place.items():
            both[place] = both[place] + gradient if place in both else gradient
        return PartialGradients(both)

    def _whole(self) -> PartialGradients:
        return self

    def of(self, ctx: Any, backend: TensorBackend) -> list[Any]:
        """Return a gradient for each result of a call: zeros or None where none arrived."""
        zeros = getattr(ctx, "_materialize", True)
        return [
            self.by_place[place]
            if place in self.by_place
            else Tensor._make(backend.full(layout.shape, layout.dtype, 0), backend)
            if zeros
            else None
            for place, layout in enumerate(ctx._results)
        ]


class _Result:
    """The rule of one of several results: its gradient goes to its place in the call."""

    def vjp(self, node: Node, inputs: Any, ctx: Any, grad: Any, needed: Any) -> Sequence[Any]:
        """Return the gradient of the call."""
        return (PartialGradients({ctx: grad}),)


_RESULT = _Result()

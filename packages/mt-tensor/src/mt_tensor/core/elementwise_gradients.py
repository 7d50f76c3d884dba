"""Gradients of the operators of the table.

Operators need no handwritten backward: their rows hold the partial derivatives. The needed ones are
combined into one formula, which the backend runs in one pass over the upstream gradient and the
saved arguments. Under `create_graph` each gradient is a recorded operation instead
(`recording/higher.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import attrgetter, itemgetter
from typing import Any

from mt_autodiff.core.mode import recording
from mt_operators import Operator
from mt_operators.core.row import one
from mt_operators.core.tracing import drop_unused
from mt_tensor.core.extensions import EXTENSIONS
from mt_tensor.core.graph import Node
from mt_tensor.core.graph import record as add_to_graph
from mt_tensor.core.plans import Plans
from mt_tensor.core.tensor import Tensor
from mt_tensor.core.tensor_data import TensorData

_make = Tensor._make
_layout_of = attrgetter("layout")


class Gradients:
    """The gradient rule of an operator, for one combination of arguments that require grad.

    Attributes:
        needs: for each argument, whether its gradient is needed.
        reads: the positions, among the arguments and the output, of the values that the partial
            derivatives read; empty for `add`, whose partial derivatives are 1.
        select_reads: selects these from a tuple of all values; unset if there are none.
        plans: the plans of the gradients; None if all partial derivatives are 1.
    """

    def __init__(self, operator: Operator, needs: tuple[bool, ...]) -> None:
        self.needs = needs
        partials = [p for p, need in zip(operator.partials, needs, strict=True) if need]
        self._is_upstream = [partial is one for partial in partials]
        self.reads: tuple[int, ...] = ()
        self.plans: Plans | None = None
        if not all(self._is_upstream):
            computed = [p is not one for p in operator.partials]
            selected = tuple(need and each for need, each in zip(needs, computed, strict=True))
            formula, reads = drop_unused(operator.gradient(selected))
            self.plans = Plans(formula)
            self.reads = tuple(i - 1 for i in reads[1:])  # the first is the upstream gradient
        if self.reads:  # an itemgetter of one position returns a tuple only for a slice
            first, *others = self.reads
            at = self.reads if others else (slice(first, first + 1),)
            self.select_reads: Callable[[tuple[Any, ...]], Sequence[TensorData]] = itemgetter(*at)

    def vjp(self, node: Node, inputs: Any, ctx: Any, grad: Tensor, needed: Any) -> Sequence[Tensor]:
        """Return the gradients of the inputs, summed over broadcast dimensions; see `Rule`.

        If a partial derivative is 1, the gradient is the upstream gradient itself.
        """
        if recording.get():
            computed = EXTENSIONS["recorded gradients"](self, node, inputs, ctx, grad)
        elif self.plans is None:
            computed = ()
        else:
            data, backend = grad._tensor, grad.backend
            layout = data.layout
            results = self.plans[backend, layout.contiguous, layout, *map(_layout_of, ctx)](
                data, *ctx
            )
            computed = []
            for result in results if results.__class__ is list else (results,):
                gradient = _make(result, backend)
                gradient._owned = True
                computed.append(gradient)
        shape, others, gradients = node.shape, iter(computed), []
        for parent, is_upstream in zip(inputs, self._is_upstream):  # noqa: B905 - one for each
            gradient = grad if is_upstream else next(others)
            if parent.shape != shape and (needed is None or parent in needed):
                gradient = gradient.sum_to_size(parent.shape)  # defined in sums.py
            gradients.append(gradient)
        return gradients


def recorder(
    operator: Operator,
) -> Callable[[Sequence[Tensor], tuple[TensorData, ...], Tensor], None]:
    """Return the function that records results of an operator in the graph.

    It caches one gradient rule per combination of arguments that require grad. A combination is a
    bit mask; the last argument is the lowest bit.
    """
    name, arity = operator.name, operator.arity
    rules: dict[int, Gradients] = {}

    def create_rule(mask: int) -> Gradients:
        needs = tuple([bit == "1" for bit in f"{mask:0{arity}b}"])
        rule = rules[mask] = Gradients(operator, needs)
        return rule

    def record(operands: Sequence[Tensor], values: tuple[TensorData, ...], result: Tensor) -> None:
        """Record how a result was computed, if an operand requires grad.

        Args:
            operands: all arguments.
            values: the data of all arguments, followed by that of `result`.
            result: a floating-point tensor that is not in the graph yet.
        """
        mask = 0
        parents = []
        for x in operands:
            mask += mask
            flag = x._requires_grad
            if flag and (flag is True or x.requires_grad):  # for a view, updates `_node`
                mask += 1
                parents.append(x._node or x)
        if not parents:
            return
        try:
            rule = rules[mask]
        except KeyError:
            rule = create_rule(mask)
        saved = rule.select_reads(values) if rule.reads else ()
        add_to_graph(result, rule, name, parents, saved, saved)

    return record

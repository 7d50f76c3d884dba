"""How gradients flow through an operator of the table.

A `Function` is written with its backward; an operator of the table has its partial derivatives, and
so needs none. Those that are wanted become one formula, which the backend runs in one pass over the
upstream gradient and what was saved. Under `create_graph` each of them is an operation that is
recorded in turn: an operator whose own partial derivatives follow from the graph of the formula.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from operator import attrgetter, itemgetter
from typing import Any

from mt_autodiff.core.mode import recording
from mt_operators import Operator
from mt_operators.core.row import one
from mt_operators.core.tracing import graph_of, narrowed
from mt_tensor.core.graph import Node
from mt_tensor.core.graph import record as enter
from mt_tensor.core.plans import Plans
from mt_tensor.core.tensor import Tensor
from mt_tensor.core.tensor_data import TensorData

Operation = Callable[..., Tensor]
"""An operator on tensors, whose results are recorded."""

_make = Tensor._make
_layout_of = attrgetter("layout")


class Gradients:
    """How the gradients of an operator are computed, for one choice of arguments that want one.

    Attributes:
        needs: for each argument, whether its gradient is wanted.
        reads: which of the arguments and, last, the output the partial derivatives read. That of a
            sum, for example, reads nothing: it is 1 everywhere.
        read_of: returns these of a tuple of all; missing if there are none.
    """

    def __init__(
        self,
        operator: Operator,
        needs: tuple[bool, ...],
        operation: Callable[[Operator], Operation],
    ) -> None:
        self.needs = needs
        self._operation = operation
        partials = [p for p, need in zip(operator.partials, needs, strict=True) if need]
        self._passes = [partial is one for partial in partials]
        self.reads: tuple[int, ...] = ()
        self._plans: Plans | None = None
        if not all(self._passes):
            computed = [p is not one for p in operator.partials]
            wanted = tuple(need and each for need, each in zip(needs, computed, strict=True))
            formula, reads = narrowed(operator.gradient(wanted))
            self._plans = Plans(formula)
            self.reads = tuple(i - 1 for i in reads[1:])  # the first is the upstream gradient
        if self.reads:  # of one place, an itemgetter returns a tuple only for a slice
            first, *others = self.reads
            places = self.reads if others else (slice(first, first + 1),)
            self.read_of: Callable[[tuple[Any, ...]], Sequence[TensorData]] = itemgetter(*places)

    def vjp(self, node: Node, inputs: Any, ctx: Any, grad: Tensor, needed: Any) -> Sequence[Tensor]:
        """Return the gradients of the inputs, summed over what was broadcast; see `Rule`.

        All are computed in one pass over the upstream gradient and what was saved. Where the
        partial derivative is 1, the gradient is the upstream gradient itself.
        """
        if recording.get():
            computed = self._recorded(grad, self._as_tensors(node, inputs, ctx))
        elif self._plans is None:
            computed = ()
        else:
            data, backend = grad._tensor, grad.backend
            layout = data.layout
            results = self._plans[backend, layout.contiguous, layout, *map(_layout_of, ctx)](
                data, *ctx
            )
            computed = []
            for result in results if results.__class__ is list else (results,):
                gradient = _make(result, backend)
                gradient._fresh = True
                computed.append(gradient)
        shape, others, gradients = node.shape, iter(computed), []
        for parent, passes in zip(inputs, self._passes):  # noqa: B905 - one for each
            gradient = grad if passes else next(others)
            if parent.shape != shape:
                gradient = gradient.sum_to_size(parent.shape)  # which follows in sums.py
            gradients.append(gradient)
        return gradients

    def _as_tensors(
        self, node: Node, inputs: Sequence[Any], saved: Sequence[TensorData]
    ) -> list[Tensor]:
        """Return what was saved as tensors in their places in the graph."""
        places = iter(inputs)
        variables = [next(places) if need else None for need in self.needs]
        variables.append(node)
        operands: list[Tensor] = []
        for position, data in zip(self.reads, saved, strict=True):
            variable = variables[position]
            if isinstance(variable, Node) or variable is None:
                tensor = _make(data, node.backend)
                tensor._node, tensor._requires_grad = variable, variable is not None
                operands.append(tensor)
            else:
                operands.append(variable)
        return operands

    def _recorded(self, grad: Tensor, saved: Sequence[Tensor]) -> Sequence[Tensor]:
        """Return the gradients that are computed, each by an operation that is recorded."""
        known = (grad, *saved)
        return [operation(*[known[i] for i in reads]) for operation, reads in self._operations]

    @functools.cached_property
    def _operations(self) -> list[tuple[Operation, tuple[int, ...]]]:
        """For each gradient that is computed: an operation, and what it reads.

        What it does not read must not be its argument, which would get a gradient of zeros.
        """
        if self._plans is None:
            return []
        from mt_operators.core.differentiation import derived  # when first needed only

        formula = self._plans.formula
        operations = []
        for output in range(formula.outputs):
            single = derived(formula.name, formula.parameters, graph_of(formula).only(output))
            narrow, reads = narrowed(single.value)
            operator = derived(narrow.name, narrow.parameters, graph_of(narrow))
            operations.append((self._operation(operator), reads))
        return operations


def recorder(
    operator: Operator, operation: Callable[[Operator], Operation]
) -> Callable[[tuple[Tensor, ...], tuple[TensorData, ...], Tensor], None]:
    """Return the function that enters results of an operator into the graph.

    It holds the `Gradients` for each choice of arguments that has occurred. A choice is a number
    with a bit for each argument, the lowest for the last.

    Args:
        operator: of the table, or made of others.
        operation: what makes an operator one on tensors.
    """
    name, arity = operator.name, operator.arity
    of_choice: dict[int, Gradients] = {}

    def work_out(choice: int) -> Gradients:
        needs = tuple([bit == "1" for bit in f"{choice:0{arity}b}"])
        gradients = of_choice[choice] = Gradients(operator, needs, operation)
        return gradients

    def record(operands: tuple[Tensor, ...], known: tuple[TensorData, ...], result: Tensor) -> None:
        """Take note of how a result was computed, if a gradient is wanted.

        Args:
            operands: all arguments.
            known: their elements and, last, those of `result`.
            result: a floating-point tensor that is not in the graph yet.
        """
        choice = 0
        parents = []
        for x in operands:
            choice += choice
            wanted = x._requires_grad
            if wanted and (wanted is True or x.requires_grad):  # which refreshes a view's node
                choice += 1
                parents.append(x._node or x)
        if not parents:
            return
        try:
            gradients = of_choice[choice]
        except KeyError:
            gradients = work_out(choice)
        saved = gradients.read_of(known) if gradients.reads else ()
        enter(result, gradients, name, parents, saved, saved)

    return record

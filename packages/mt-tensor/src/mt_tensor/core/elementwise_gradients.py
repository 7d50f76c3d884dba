"""How gradients flow through an operator of the table.

A `Function` is written with its backward; an operator of the table has its partial derivatives, and
so needs none. Those that are wanted become one formula, which the backend runs in one pass over the
upstream gradient and what was saved. (Under `create_graph` each of them is an operation that is
recorded in turn: `recording/higher.py`.)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import attrgetter, itemgetter
from typing import Any

from mt_autodiff.core.mode import recording
from mt_operators import Operator
from mt_operators.core.row import one
from mt_operators.core.tracing import narrowed
from mt_tensor.core.extensions import EXTENSIONS
from mt_tensor.core.graph import Node
from mt_tensor.core.graph import record as enter
from mt_tensor.core.plans import Plans
from mt_tensor.core.tensor import Tensor
from mt_tensor.core.tensor_data import TensorData

_make = Tensor._make
_layout_of = attrgetter("layout")


class Gradients:
    """How the gradients of an operator are computed, for one choice of arguments that want one.

    Attributes:
        needs: for each argument, whether its gradient is wanted.
        reads: which of the arguments and, last, the output the partial derivatives read. That of a
            sum, for example, reads nothing: it is 1 everywhere.
        read_of: returns these of a tuple of all; missing if there are none.
        plans: how each backend computes the gradients; None if all partial derivatives are 1.
    """

    def __init__(self, operator: Operator, needs: tuple[bool, ...]) -> None:
        self.needs = needs
        partials = [p for p, need in zip(operator.partials, needs, strict=True) if need]
        self._passes = [partial is one for partial in partials]
        self.reads: tuple[int, ...] = ()
        self.plans: Plans | None = None
        if not all(self._passes):
            computed = [p is not one for p in operator.partials]
            wanted = tuple(need and each for need, each in zip(needs, computed, strict=True))
            formula, reads = narrowed(operator.gradient(wanted))
            self.plans = Plans(formula)
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
                gradient._fresh = True
                computed.append(gradient)
        shape, others, gradients = node.shape, iter(computed), []
        for parent, passes in zip(inputs, self._passes):  # noqa: B905 - one for each
            gradient = grad if passes else next(others)
            if parent.shape != shape:
                gradient = gradient.sum_to_size(parent.shape)  # which follows in sums.py
            gradients.append(gradient)
        return gradients


def recorder(
    operator: Operator,
) -> Callable[[Sequence[Tensor], tuple[TensorData, ...], Tensor], None]:
    """Return the function that enters results of an operator into the graph.

    It caches the `Gradients` for each choice of arguments that require grad. A choice is a number
    with a bit for each argument, the lowest for the last.
    """
    name, arity = operator.name, operator.arity
    of_choice: dict[int, Gradients] = {}

    def work_out(choice: int) -> Gradients:
        needs = tuple([bit == "1" for bit in f"{choice:0{arity}b}"])
        gradients = of_choice[choice] = Gradients(operator, needs)
        return gradients

    def record(operands: Sequence[Tensor], known: tuple[TensorData, ...], result: Tensor) -> None:
        """Record how a result was computed, if an operand requires grad.

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
            if wanted and (wanted is True or x.requires_grad):  # of a view this updates `_node`
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

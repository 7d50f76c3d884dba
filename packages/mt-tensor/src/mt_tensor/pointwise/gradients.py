"""How gradients flow through an operator of the table.

A `Function` is written with its backward; an operator of the table has its partial derivatives, and
so needs none. Those that are wanted become one formula, which the backend runs in one pass over the
upstream gradient and what was saved. Under `create_graph` each of them is an operation that is
recorded in turn: an operator whose own partial derivatives follow from the graph of the formula.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from operator import itemgetter
from typing import Any

from mt_autodiff.core.mode import recording
from mt_operators import Operator
from mt_operators.core.row import one
from mt_operators.core.tracing import graph_of, narrowed
from mt_tensor.backends.computing import Computing
from mt_tensor.recording.function import changed_in_place
from mt_tensor.recording.graph import Node, connect
from mt_tensor.tensor import VIEW, Tensor
from mt_tensor.tensor_data import TensorData

Operation = Callable[..., Tensor]
"""An operator on tensors, whose results are recorded."""

_make = Tensor._make
_new = object.__new__


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
        self._passing = True in self._passes
        self.reads: tuple[int, ...] = ()
        self._computing: Computing | None = None
        if not all(self._passes):
            computed = [p is not one for p in operator.partials]
            wanted = tuple(need and each for need, each in zip(needs, computed, strict=True))
            formula, reads = narrowed(operator.gradient(wanted))
            self._computing = Computing(formula)
            self.reads = tuple(i - 1 for i in reads[1:])  # the first is the upstream gradient
        if self.reads:  # of one place, an itemgetter returns a tuple only for a slice
            first, *others = self.reads
            places = self.reads if others else (slice(first, first + 1),)
            self.read_of: Callable[[tuple[Any, ...]], Sequence[TensorData]] = itemgetter(*places)

    def compute(self, grad: Tensor, saved: Sequence[TensorData]) -> Sequence[Tensor]:
        """Return the gradients, in one pass over upstream gradient and what was saved.

        Where the derivative is 1, the gradient is the upstream gradient itself.
        """
        if self._computing is None:
            return [grad] * len(self._passes)
        data, backend = grad._tensor, grad.backend
        results = self._computing[backend](data.layout.contiguous, data, *saved)
        gradients = []
        for result in results if results.__class__ is list else (results,):
            gradient = _make(result, backend)
            gradient._fresh = True
            gradients.append(gradient)
        return self._with_passed(grad, gradients) if self._passing else gradients

    def compute_recorded(self, grad: Tensor, saved: Sequence[Tensor]) -> Sequence[Tensor]:
        """Return the gradients, each by an operation that is recorded."""
        known = (grad, *saved)
        gradients = [operation(*[known[i] for i in reads]) for operation, reads in self._operations]
        return self._with_passed(grad, gradients)

    def _with_passed(self, grad: Tensor, gradients: Sequence[Tensor]) -> Sequence[Tensor]:
        """Return the gradients with the upstream gradient in each place where it is passed on."""
        others = iter(gradients)
        return [grad if passes else next(others) for passes in self._passes]

    @functools.cached_property
    def _operations(self) -> list[tuple[Operation, tuple[int, ...]]]:
        """For each gradient that is computed: an operation, and what it reads.

        What it does not read must not be its argument, which would get a gradient of zeros.
        """
        if self._computing is None:
            return []
        from mt_operators.core.differentiation import derived  # when first needed only

        formula = self._computing.formula
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
            if wanted and (wanted is not VIEW or x.requires_grad):  # asking refreshes a view's node
                choice += 1
                parents.append(x._node or x)
        if not parents:
            return
        try:
            gradients = of_choice[choice]
        except KeyError:
            gradients = work_out(choice)
        node = _new(OperatorNode)
        node.last_fn, node.name = gradients, name
        changes = 0
        if gradients.reads:
            node.ctx = saved = gradients.read_of(known)
            for data in saved:
                if data._version is not None:
                    changes += data._version[0]
        else:
            node.ctx = ()
        node.changes = changes
        connect(result, node, parents)

    return record


class OperatorNode(Node):
    """The node of an operator's result.

    Attributes:
        last_fn: how the gradients are computed; None once the graph has been freed.
        ctx: what they will read of the arguments and the output.
        changes: how often that had been changed in place when it was saved.
    """

    __slots__ = ("changes",)

    changes: int
    ctx: Any
    last_fn: Any

    def chain_rule(self, derivative: Tensor) -> list[tuple[Any, Any]]:
        """Return each input with its share, summed over what was broadcast."""
        parents, saved = self.inputs, self.ctx
        gradients = self.last_fn  # read last, for it is forgotten first
        if gradients is None:
            raise self.freed()
        changes = 0  # as `recording.function.changes` counts, which may be asked of any values
        for data in saved:
            if data._version is not None:
                changes += data._version[0]
        if changes != self.changes:
            raise changed_in_place(repr(self.name))
        if recording.get():
            tensors = self._as_tensors(gradients, parents, saved)
            shares = gradients.compute_recorded(derivative, tensors)
        else:
            shares = gradients.compute(derivative, saved)
        shape = self.shape  # that of all shares
        passed = []
        for parent, share in zip(parents, shares):  # noqa: B905 - one for each
            wanted = parent.shape  # `sum_to_size` follows in reductions/sums.py
            passed.append((parent, share if wanted == shape else share.sum_to_size(wanted)))
        return passed

    def _as_tensors(
        self, gradients: Gradients, parents: Sequence[Any], saved: Sequence[TensorData]
    ) -> list[Tensor]:
        """Return what was saved as tensors in their places in the graph."""
        places = iter(parents)
        variables = [next(places) if need else None for need in gradients.needs]
        variables.append(self)
        operands: list[Tensor] = []
        for position, data in zip(gradients.reads, saved, strict=True):
            variable = variables[position]
            if isinstance(variable, Node) or variable is None:
                tensor = _make(data, self.backend)
                tensor._node, tensor._requires_grad = variable, variable is not None
                operands.append(tensor)
            else:
                operands.append(variable)
        return operands

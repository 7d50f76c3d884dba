"""How gradients flow through an operator of the table.

The partial derivatives that are wanted become one formula, which the backend runs in one pass over
the upstream gradient and what was saved. Under `create_graph` each of them is an operation that is
recorded: an operator whose own partial derivatives follow from the graph of the formula.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import itemgetter
from typing import Any

from mt_autodiff.extending import recording
from mt_operators import Operator
from mt_operators.extending import one
from mt_tensor.backends.computing import Computing
from mt_tensor.recording.function import changed_in_place
from mt_tensor.recording.graph import Node
from mt_tensor.tensor import VIEW, Tensor
from mt_tensor.tensor_data import TensorData

Operation = Callable[..., Tensor]
"""An operator on tensors, whose results are recorded."""

_make = Tensor._make
_new = object.__new__


class Gradients:
    """How the gradients of an operator come about, for one choice of arguments that want one.

    Attributes:
        name: the operator's name.
        needs: for each argument, whether its gradient is wanted.
        reads: which of the arguments and, last, the output the partial derivatives read. That of a
            sum, for example, reads nothing: it is 1 everywhere.
    """

    def __init__(
        self,
        operator: Operator,
        needs: tuple[bool, ...],
        operation: Callable[[Operator], Operation],
    ) -> None:
        self.needs = needs
        self.name = operator.name
        self._operation = operation
        self._partials = [p for p, need in zip(operator.partials, needs, strict=True) if need]
        computed = tuple(
            need and partial is not one
            for need, partial in zip(needs, operator.partials, strict=True)
        )
        self.reads: tuple[int, ...] = ()
        self._computing: Computing | None = None
        if any(computed):
            formula, reads = operator.gradient(computed).narrowed()
            self._computing = Computing(formula)
            self.reads = tuple(i - 1 for i in reads[1:])  # the first is the upstream gradient
        self._read_of = _picking(self.reads) if self.reads else None
        self._passed = any(partial is one for partial in self._partials)
        self._recorded: list[Operation] | None = None  # until they are first needed

    def record(
        self, inputs: tuple[Any, ...], known: tuple[TensorData, ...], result: Tensor
    ) -> None:
        """Enter a result into the graph, with what its gradients will read.

        Args:
            inputs: what stands for each argument whose gradient is wanted (`tensor.variable`).
            known: all arguments and, last, the output.
            result: the output, floating-point and not in the graph yet.
        """
        node: OperatorNode = _new(OperatorNode)
        node.last_fn = self
        node.name = self.name
        changes = 0
        if self._read_of is None:
            node.saved = ()
        else:
            node.saved = saved = self._read_of(known)
            for read in saved:
                if read._version is not None:
                    changes += read._version[0]
        node.changes = changes
        node.inputs = inputs  # from here on as `connect` does
        data = known[-1]
        node.shape = data.shape
        node.dtype = data.dtype
        node.backend = result.backend
        node.hooks = node.retained = None
        result._node = node
        result._requires_grad = True

    def computed(self, grad: Tensor, saved: Sequence[TensorData]) -> Sequence[Tensor]:
        """Return the gradients, in one pass over upstream gradient and what was saved.

        Where the derivative is 1, the gradient is the upstream gradient itself.
        """
        computing = self._computing
        if computing is None:
            return [grad] * len(self._partials)
        data, backend = grad._tensor, grad.backend
        results = computing[backend](data.layout.contiguous, data, *saved)
        made = []
        for result in results if results.__class__ is list else (results,):
            gradient = _make(result, backend)
            gradient._fresh = True
            made.append(gradient)
        if self._passed:
            rest = iter(made)
            return [grad if partial is one else next(rest) for partial in self._partials]
        return made

    def recorded(self, grad: Tensor, saved: Sequence[Tensor]) -> Sequence[Tensor]:
        """Return the gradients, each by an operation that is recorded."""
        if self._recorded is None:
            self._recorded = self._operations()
        made = iter([operation(grad, *saved) for operation in self._recorded])
        return [grad if partial is one else next(made) for partial in self._partials]

    def _operations(self) -> list[Operation]:
        """Return an operation for each gradient that is computed."""
        if self._computing is None:
            return []
        from mt_operators.differentiation import derived  # when first needed only

        formula = self._computing.formula
        graphs = [formula.graph.only(output) for output in range(formula.outputs)]
        operators = [derived(formula.name, formula.parameters, graph) for graph in graphs]
        return [self._operation(operator) for operator in operators]


def _picking(places: tuple[int, ...]) -> Callable[[tuple[Any, ...]], tuple[Any, ...]]:
    """Return a function that picks what is at some places of a tuple."""
    if len(places) > 1:
        return itemgetter(*places)
    (place,) = places
    return lambda known: (known[place],)


class Recorder:
    """Enters the floating-point results of one operator into the graph, if a gradient is wanted."""

    def __init__(self, operator: Operator, operation: Callable[[Operator], Operation]) -> None:
        self._operator = operator
        self._operation = operation  # what makes an operator one on tensors
        self._gradients: dict[tuple[bool, ...], Gradients] = {}
        self._of_first: Gradients | None = None  # for which of one or two operands
        self._of_second: Gradients | None = None
        self._of_both: Gradients | None = None

    def __call__(self, operands: Sequence[Tensor], result: Tensor) -> None:
        """Take note of how a result was computed."""
        needs = tuple([operand.requires_grad for operand in operands])
        if True in needs:
            known = (*[operand._tensor for operand in operands], result._tensor)
            inputs = [x.variable for x, need in zip(operands, needs, strict=True) if need]
            self._choice(needs).record(tuple(inputs), known, result)

    # The same for one and two operands, in half the time: a part of every step of a training.

    def of_one(self, x: Any, result: Tensor) -> None:
        """Take note of how a result was computed from one operand."""
        if x._requires_grad is VIEW and not x.requires_grad:  # asking refreshes the view's node
            return
        node = x._node
        gradients = self._of_first or self._chosen(True)
        gradients.record((x if node is None else node,), (x._tensor, result._tensor), result)

    def of_two(self, x: Any, y: Any, result: Tensor) -> None:
        """Take note of how a result was computed from two operands."""
        first, second = x._requires_grad, y._requires_grad
        if first is VIEW or second is VIEW:  # asking refreshes the views' nodes
            first, second = x.requires_grad, y.requires_grad
        inputs: tuple[Any, ...]
        if first and second:
            gradients = self._of_both or self._chosen(True, True)
            node, other = x._node, y._node
            inputs = (x if node is None else node, y if other is None else other)
        elif first:
            gradients = self._of_first or self._chosen(True, False)
            node = x._node
            inputs = (x if node is None else node,)
        elif second:
            gradients = self._of_second or self._chosen(False, True)
            node = y._node
            inputs = (y if node is None else node,)
        else:
            return
        gradients.record(inputs, (x._tensor, y._tensor, result._tensor), result)

    def _chosen(self, *needs: bool) -> Gradients:
        """Return the gradients for one choice of one or two arguments, and keep them at hand."""
        gradients = self._choice(needs)
        if needs == (True, True):
            self._of_both = gradients
        elif needs[0]:
            self._of_first = gradients
        else:
            self._of_second = gradients
        return gradients

    def _choice(self, needs: tuple[bool, ...]) -> Gradients:
        """Return the gradients for one choice of arguments."""
        if needs not in self._gradients:
            self._gradients[needs] = Gradients(self._operator, needs, self._operation)
        return self._gradients[needs]


class OperatorNode(Node):
    """The node of an operator's result.

    Attributes:
        last_fn: how the gradients are computed; None once the graph has been freed.
        saved: what they will read of the arguments and the output.
        changes: how often that had been changed in place when it was saved.
    """

    __slots__ = ("changes", "saved")

    changes: int
    last_fn: Any
    saved: Sequence[TensorData]

    def chain_rule(self, derivative: Tensor) -> list[tuple[Any, Any]]:
        """Return each input with its share, summed over what was broadcast."""
        inputs, saved = self.inputs, self.saved
        gradients = self.last_fn  # read last, for it is forgotten first
        if gradients is None:
            raise self.freed()
        changes = 0
        for data in saved:
            if data._version is not None:
                changes += data._version[0]
        if changes != self.changes:
            raise changed_in_place(repr(self.name))
        if not recording.get():
            shares = gradients.computed(derivative, saved)
        else:
            shares = gradients.recorded(derivative, self._as_tensors(gradients, inputs, saved))
        shape = self.shape  # that of all shares
        passed = []
        for parent, share in zip(inputs, shares):  # noqa: B905 - one for each
            wanted = parent.shape
            passed.append((parent, share if wanted == shape else share.sum_to_size(wanted)))
        return passed

    def _as_tensors(
        self, gradients: Gradients, inputs: Sequence[Any], saved: Sequence[TensorData]
    ) -> list[Tensor]:
        """Return what was saved as tensors in their places in the graph."""
        places = iter(inputs)
        variables = [next(places) if need else None for need in gradients.needs]
        variables.append(self)
        tensors = []
        for position, data in zip(gradients.reads, saved, strict=True):
            variable = variables[position]
            if isinstance(variable, Node) or variable is None:
                tensor = _make(data, self.backend)
                tensor._node, tensor._requires_grad = variable, variable is not None
            else:
                tensor = variable
            tensors.append(tensor)
        return tensors

    def free_graph(self) -> None:
        """Forget what the gradients would read."""
        self.last_fn = None
        self.inputs = ()
        self.saved = ()

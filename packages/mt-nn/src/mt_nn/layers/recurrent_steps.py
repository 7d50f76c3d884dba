"""Recurrent networks over time: what each step makes of its input and of the step before.

The products of inputs and weights need no earlier step, and are made for all steps at once before;
the functions here begin with these. Each is defined by its steps, one after the other. Recorded
operation by operation, sequences would spend most of their time on the records, so that there is a
kernel for each kind of network, written with tensor operations and hence for every backend that has
none of its own. Its gradient goes back through time with a few operations a step: all steps are
differentiated at once, as functions of the states before, and so is the gradient of the weights.

The layers around them are in `mt_nn.layers.recurrent`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, TypeVar, cast

from mt_nn.core.linear import linear
from mt_tensor import (
    Tensor,
    arange,
    cat,
    enable_grad,
    fuse,
    ones_like,
    relu,
    stack,
    tanh,
    zeros_like,
)
from mt_tensor.autograd import grad
from mt_tensor.extending import FUSED, FusedKernel, by_kernel, common_backend

F = TypeVar("F", bound=Callable[..., Any])

# --- One step -----------------------------------------------------------------------------------


@fuse
def opened(gate: Tensor) -> Tensor:
    """Return how far a gate is open: `sigmoid(gate)`, by way of tanh, which NumPy has faster."""
    return 0.5 + 0.5 * tanh(0.5 * gate)


@fuse
def next_cell(input: Tensor, forget: Tensor, new: Tensor, cell: Tensor) -> Tensor:
    """Return what an LSTM remembers, from its gates before their activations."""
    return opened(forget) * cell + opened(input) * tanh(new)


@fuse
def shown(output: Tensor, cell: Tensor) -> Tensor:
    """Return what an LSTM shows of its memory, from the gate before its activation."""
    return opened(output) * tanh(cell)


@fuse
def new_state(reset: Tensor, input: Tensor, recurrent: Tensor) -> Tensor:
    """Return what a GRU proposes, from its gate before the activation and two products."""
    return tanh(input + opened(reset) * recurrent)


@fuse
def mixed(update: Tensor, new: Tensor, hidden: Tensor) -> Tensor:
    """Return the state of a GRU between what it proposes and the state before."""
    return new + opened(update) * (hidden - new)


def lstm_step(gates: Tensor, cell: Tensor) -> tuple[Tensor, Tensor]:
    """Return what an LSTM shows and remembers after a step (Hochreiter and Schmidhuber, 1997).

    Args:
        gates: input, forget, new and output before their activations, shape (*batch, 4 width).
        cell: what it remembered, shape (*batch, width).
    """
    i, f, g, o = gates.chunk(4, -1)
    cell = next_cell(i, f, g, cell)
    return shown(o, cell), cell


def gru_step(projected: Tensor, recurrent: Tensor, hidden: Tensor) -> Tensor:
    """Return the state of a GRU after a step (Cho et al., 2014).

    The reset gate acts on the product of the weights with the state, not on the state itself.

    Args:
        projected: the products with the input for reset, update and new, shape (*batch, 3 width).
        recurrent: those with the state before, of the same shape.
        hidden: the state before, shape (*batch, width).
    """
    r, z, n = projected.chunk(3, -1)
    hr, hz, hn = recurrent.chunk(3, -1)
    return mixed(z + hz, new_state(r + hr, n, hn), hidden)


def activated(values: Tensor, is_relu: bool) -> Tensor:
    """Return the positive part of values, or their hyperbolic tangent."""
    return relu(values) if is_relu else tanh(values)


# --- Operations that backends may have kernels for ------------------------------------------------

_KERNELS: dict[str, FusedKernel] = {}
"""What computes operations on backends that have no kernels of their own for them; see below. A
single step is composed: a kernel for it would save less in records than its gradient costs."""


def _operation(
    name: str,
    join: Callable[[Any], Tensor] | None = None,
    split: Callable[..., Any] | None = None,
) -> Callable[[F], F]:
    """Declare the decorated function to be the composed form of an operation that has kernels.

    Args:
        name: the operation.
        join: makes one tensor of several results, as kernels return them.
        split: takes it apart again, given the arguments, too.
    """

    def decorate(function: F) -> F:
        FUSED[name] = function if join is None else lambda *arguments: join(function(*arguments))

        @functools.wraps(function)
        def operation(*arguments: Any) -> Any:
            common_backend(*arguments)
            kernel = _KERNELS.get(name)
            offered = arguments[0].backend.kernel(name) or kernel
            if offered is None:
                return function(*arguments)
            result = by_kernel(name, offered, *arguments, fallback=kernel)
            return result if split is None else split(result, *arguments)

        return cast("F", operation)

    return decorate


def _offered(name: str, *arguments: Any) -> Any:
    """Return the backend's kernel for an operation on these arguments, or None."""
    kernel = arguments[0].backend.kernel(name)
    return None if isinstance(kernel, FusedKernel) and not kernel.fits(*arguments) else kernel


# --- One step, of a cell ------------------------------------------------------------------------
# A backend's kernel for all steps has few records for one, of which a cell would have many.


def gru_cell(projected: Tensor, hidden: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    """Return the state of a GRU after a step.

    Args:
        projected: the products of input and weight, shape (batch, 3 width) or (3 width,); see
            `gru_step`.
        hidden: the state before, shape (batch, width) or (width,).
        weight: what it is multiplied with, shape (3 width, width).
        bias: what is added to this product, shape (3 width,), or None.
    """
    if projected.ndim == 2:
        steps = (projected.unsqueeze(0), hidden, weight, bias, None, False)
        if _offered("gru", *steps) is not None:
            return gru(*steps).squeeze(0)
    return gru_step(projected, linear(hidden, weight, bias), hidden)


@_operation("lstm_cell", stack, lambda both, *_: both.unbind())
def lstm_cell(
    input: Tensor,
    hidden: Tensor,
    cell: Tensor,
    weight_ih: Tensor,
    weight_hh: Tensor,
    bias_ih: Tensor | None,
    bias_hh: Tensor | None,
) -> tuple[Tensor, Tensor]:
    """Return what an LSTM shows and remembers after a step.

    Args:
        input: shape (batch, features) or (features,).
        hidden: what it showed before, shape (batch, width) or (width,).
        cell: what it remembered, of the same shape.
        weight_ih: what the input is multiplied with, shape (4 width, features); see `lstm_step`.
        weight_hh: what the shown is multiplied with, shape (4 width, width).
        bias_ih: what is added to the one product, shape (4 width,), or None.
        bias_hh: what is added to the other, likewise; both are None, or none.

    Raises:
        BackendMismatchError: they are in different places.
    """
    gates = linear(input, weight_ih, bias_ih) + linear(hidden, weight_hh, bias_hh)
    return lstm_step(gates, cell)


# --- All steps ----------------------------------------------------------------------------------


@_operation("rnn")
def rnn(
    projected: Tensor,
    hidden: Tensor,
    weight: Tensor,
    lengths: Tensor | None,
    backwards: bool,
    is_relu: bool,
) -> Tensor:
    """Return the states of a plain recurrent network after each step.

    Args:
        projected: the products of inputs and weights with all biases, shape (steps, batch, width).
        hidden: the first state, shape (batch, width).
        weight: what states are multiplied with, shape (width, width).
        lengths: how many steps each sequence has, shape (batch,), int64; all that there are if
            None. In those that it lacks, a sequence keeps its state.
        backwards: whether to begin with the last step.
        is_relu: whether the activation is relu instead of tanh.

    Returns:
        Shape (steps, batch, width).
    """
    states = []
    for now, goes_on in _in_order(backwards, projected, _going_on(projected, lengths)):
        hidden = _kept(goes_on, activated(now + hidden @ weight.T, is_relu), hidden)
        states.append(hidden)
    return _stacked(states, backwards)


@_operation("gru")
def gru(
    projected: Tensor,
    hidden: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    lengths: Tensor | None,
    backwards: bool,
) -> Tensor:
    """Return the states of a GRU after each step.

    Args:
        projected: the products of inputs and weights, shape (steps, batch, 3 width); see
            `gru_step`.
        hidden: the first state, shape (batch, width).
        weight: what states are multiplied with, shape (3 width, width).
        bias: what is added to these products, shape (3 width,), or None.
        lengths: see `rnn`.
        backwards: see there.

    Returns:
        Shape (steps, batch, width).
    """
    states = []
    for now, goes_on in _in_order(backwards, projected, _going_on(projected, lengths)):
        recurrent = hidden @ weight.T
        after = gru_step(now, recurrent if bias is None else recurrent + bias, hidden)
        hidden = _kept(goes_on, after, hidden)
        states.append(hidden)
    return _stacked(states, backwards)


def _in_a_row(parts: Sequence[Tensor]) -> Tensor:
    return cat([part.flatten() for part in parts])


def _states_and_memory(
    both: Tensor, projected: Tensor, hidden: Tensor, cell: Tensor, *_: Any
) -> Any:
    """Return what is shown after each step and the memory, which follow each other in a row."""
    shown, remembered = both.split([both.numel() - cell.numel(), cell.numel()])
    return shown.view(len(projected), *hidden.shape), remembered.view(*cell.shape)


@_operation("lstm", _in_a_row, _states_and_memory)
def lstm(
    projected: Tensor,
    hidden: Tensor,
    cell: Tensor,
    weight: Tensor,
    shrink: Tensor | None,
    lengths: Tensor | None,
    backwards: bool,
) -> tuple[Tensor, Tensor]:
    """Return what an LSTM shows after each step, and what it remembers after the last.

    Args:
        projected: the products of inputs and weights with all biases, shape (steps, batch,
            4 width); see `lstm_step`.
        hidden: what it shows at first, shape (batch, outputs).
        cell: what it remembers at first, shape (batch, width).
        weight: what the shown is multiplied with, shape (4 width, outputs).
        shrink: what turns each step's result into what is shown, shape (outputs, width), or None;
            outputs and width are the same then.
        lengths: see `rnn`.
        backwards: see there.

    Returns:
        Shapes (steps, batch, outputs) and (batch, width).
    """
    arguments = (projected, hidden, cell, weight, shrink, lengths, backwards)
    states, cells = _lstm_states(*arguments)
    return states, cells[0 if backwards else -1]


def _lstm_states(
    projected: Tensor,
    hidden: Tensor,
    cell: Tensor,
    weight: Tensor,
    shrink: Tensor | None,
    lengths: Tensor | None,
    backwards: bool,
) -> tuple[Tensor, Tensor]:
    """Return what an LSTM shows and what it remembers after each step; see `lstm`."""
    states, cells, turned = [], [], weight.T.contiguous()
    for now, goes_on in _in_order(backwards, projected, _going_on(projected, lengths)):
        shown, remembered = lstm_step(now + hidden @ turned, cell)
        if shrink is not None:
            shown = shown @ shrink.T
        hidden, cell = _kept(goes_on, shown, hidden), _kept(goes_on, remembered, cell)
        states.append(hidden)
        cells.append(cell)
    return _stacked(states, backwards), _stacked(cells, backwards)


def _going_on(projected: Tensor, lengths: Tensor | None) -> Tensor | None:
    """Return which sequences have which steps, shape (steps, batch, 1); None if all have all."""
    if lengths is None:
        return None
    steps = arange(len(projected), backend=projected.backend)
    return (steps.unsqueeze(1) < lengths).unsqueeze(-1)


def _kept(goes_on: Tensor | None, after: Tensor, before: Tensor) -> Tensor:
    """Return the state after a step: that before it for sequences that do not have the step."""
    return after if goes_on is None else after.where(goes_on, before)


def _in_order(backwards: bool, *tensors: Tensor | None) -> Any:
    """Return an iterator over the steps of tensors, backwards or not; None has None at each."""
    first: Any = tensors[0]
    way = slice(None, None, -1 if backwards else 1)
    return zip(
        *[[None] * len(first) if x is None else x.unbind()[way] for x in tensors], strict=True
    )


def _stacked(states: list[Tensor], backwards: bool) -> Tensor:
    """Return states in the order of the steps."""
    return stack(states[::-1] if backwards else states)


# --- Kernels for every backend ------------------------------------------------------------------


Needs = Sequence[bool]
Saved = tuple[Any, ...]
Gradients = Sequence[Tensor | None]


class _PlainKernel(FusedKernel):
    """A plain recurrent network, whose steps lead from one state to the next."""

    def value(self, needs: Needs, *arguments: Any) -> tuple[Tensor, Saved]:
        """Return all states, which are all that the gradient reads."""
        states = FUSED["rnn"](*arguments)
        return states, (states,)

    def gradient(self, upstream: Tensor, saved: Saved, needs: Needs, *arguments: Any) -> Gradients:
        """Return the gradients of inputs, first state and weight."""
        (states,), (projected, hidden, weight, lengths, backwards, is_relu) = saved, arguments
        before = _before(hidden, states, backwards)
        sums, first = _leaves(projected + linear(before, weight), before)
        with enable_grad():
            after = _kept(_going_on(projected, lengths), activated(sums, is_relu), first)
        slopes, direct = _slopes(after, [sums, first])
        _, of_hidden = _back_through_time(upstream, slopes, direct, weight, backwards)
        return slopes, of_hidden, _of_weight(slopes, before), None, None, None


class _GRUKernel(FusedKernel):
    """A GRU."""

    def value(self, needs: Needs, *arguments: Any) -> tuple[Tensor, Saved]:
        """Return all states, which are all that the gradient reads."""
        states = FUSED["gru"](*arguments)
        return states, (states,)

    def gradient(self, upstream: Tensor, saved: Saved, needs: Needs, *arguments: Any) -> Gradients:
        """Return the gradients of inputs, first state, weight and bias."""
        (states,), (projected, hidden, weight, bias, lengths, backwards) = saved, arguments
        before = _before(hidden, states, backwards)
        (r, z, n), (hr, hz, hn) = projected.chunk(3, -1), linear(before, weight, bias).chunk(3, -1)
        leaves = reset, update, input, recurrent, first = _leaves(r + hr, z + hz, n, hn, before)
        with enable_grad():
            after = mixed(update, new_state(reset, input, recurrent), first)
            after = _kept(_going_on(projected, lengths), after, first)
        by_reset, by_update, by_input, by_recurrent, direct = _slopes(after, leaves)
        slopes = cat([by_reset, by_update, by_recurrent], -1)
        of_states, of_hidden = _back_through_time(upstream, slopes, direct, weight, backwards)
        of_gates = slopes.narrow(-1, 0, 2 * hidden.shape[-1])
        of_projected = cat([of_gates, of_states * by_input], -1)
        of_bias = None if bias is None else slopes.sum((0, 1))
        return of_projected, of_hidden, _of_weight(slopes, before), of_bias, None, None


class _LSTMKernel(FusedKernel):
    """An LSTM."""

    def fits(self, *arguments: Any) -> bool:
        """Leave outputs of another width than the cell to the composition."""
        return arguments[4] is None

    def value(self, needs: Needs, *arguments: Any) -> tuple[Tensor, Saved]:
        """Return all states and the last cell; the gradient reads these and all cells."""
        states, cells = _lstm_states(*arguments)
        result = _in_a_row([states, cells[0 if arguments[-1] else -1]])
        return result, (result, cells)

    def gradient(self, upstream: Tensor, saved: Saved, needs: Needs, *arguments: Any) -> Gradients:
        """Return the gradients of inputs, first state, first cell and weight."""
        (result, cells), (projected, hidden, cell, weight, _, lengths, backwards) = saved, arguments
        states, _ = _states_and_memory(result, projected, hidden, cell)
        of_states, of_cell = _states_and_memory(upstream, projected, hidden, cell)
        before, goes_on = _before(hidden, states, backwards), _going_on(projected, lengths)
        i, f, g, o = _leaves(*(projected + linear(before, weight)).chunk(4, -1))
        first, first_cell, now = _leaves(before, _before(cell, cells, backwards), cells)
        with enable_grad():
            remembered = _kept(goes_on, next_cell(i, f, g, first_cell), first_cell)
            seen = _kept(goes_on, shown(o, now), first)
        *by_gates, kept = _slopes(remembered, [i, f, g, first_cell])
        by_output, slopes, direct = _slopes(seen, [o, now, first])
        of_gates, later = cat([*by_gates, by_output], -1), zeros_like(hidden)
        per_step = (of_states, of_gates, slopes, kept, direct)
        for given, gate, slope, keep, passes in _in_order(not backwards, *per_step):
            total = given + later
            of_cell = of_cell + total * slope
            later = gate.mul_(cat([of_cell, of_cell, of_cell, total], -1)) @ weight
            of_cell = of_cell * keep
            if passes is not None:
                later = later + total * passes
        return of_gates, later, of_cell, _of_weight(of_gates, before), None, None, None


_KERNELS.update(rnn=_PlainKernel(), gru=_GRUKernel(), lstm=_LSTMKernel())


def _back_through_time(
    upstream: Tensor, slopes: Tensor, direct: Tensor | None, weight: Tensor, backwards: bool
) -> tuple[Tensor, Tensor]:
    """Return the complete gradients of all states, and that of the first.

    Args:
        upstream: the gradients that come from outside, shape (steps, batch, width).
        slopes: derivatives of each state with respect to its products, shape (steps, batch,
            gates * width). In place they become the gradients of the products.
        direct: derivatives of each state with respect to the one before, beside those by way of
            the products; None for zeros.
        weight: what the state before is multiplied with, shape (gates * width, width).
        backwards: whether the first state is that before the last step.
    """
    totals, later = [], zeros_like(upstream[0])
    gates = slopes.shape[-1] // upstream.shape[-1]
    for given, now, passes in _in_order(not backwards, upstream, slopes, direct):
        total = given + later
        totals.append(total)
        later = now.mul_(total if gates == 1 else cat([total] * gates, -1)) @ weight
        if passes is not None:
            later = later + total * passes
    return _stacked(totals, not backwards), later


def _leaves(*tensors: Tensor) -> list[Tensor]:
    """Return tensors with the same elements, to differentiate with respect to."""
    return [tensor.detach().requires_grad_() for tensor in tensors]


def _slopes(result: Tensor, leaves: Sequence[Tensor]) -> Sequence[Any]:
    """Return the derivatives of each element with respect to those of leaves at its place."""
    return grad(result, leaves, ones_like(result), allow_unused=True)


def _before(first: Tensor, states: Tensor, backwards: bool) -> Tensor:
    """Return the state before each step."""
    if backwards:
        return cat([states[1:], first.unsqueeze(0)])
    return cat([first.unsqueeze(0), states[:-1]])


def _of_weight(of_products: Tensor, factors: Tensor) -> Tensor:
    """Return the gradient of a weight from those of its products at all steps."""
    return of_products.flatten(0, 1).T @ factors.flatten(0, 1)

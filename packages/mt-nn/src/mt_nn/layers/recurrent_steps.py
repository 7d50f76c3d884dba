"""Recurrent networks over time: the step functions, and kernels that run all steps.

The products of the inputs with their weights do not depend on earlier steps. The layers in
`mt_nn.layers.recurrent` compute them for all steps at once; the functions here start with them.

Each network is defined by its steps, one after the other. If every operation of every step were
recorded, most of the time would be spent on the graph. So there is one fused kernel per
kind of network, composed of tensor operations, for backends that have no kernel of their own. Its
gradient first computes the derivatives of all steps at once, as functions of the previous states,
then goes back through time with a few operations per step, and computes the gradient of the weights
as one matrix product.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, TypeVar, cast

import mt_tensor as mt
from mt_nn.core.linear import linear
from mt_tensor import Tensor, cat, fuse, stack, tanh
from mt_tensor.autograd import grad
from mt_tensor.extending import FUSED, FusedKernel, by_kernel, common_backend

F = TypeVar("F", bound=Callable[..., Any])

# --- One step -----------------------------------------------------------------------------------


@fuse
def sigmoid_gate(gate: Tensor) -> Tensor:
    """Return `sigmoid(gate)`, computed with tanh, which is faster in NumPy than exp."""
    return 0.5 + 0.5 * tanh(0.5 * gate)


@fuse
def lstm_cell_state(input: Tensor, forget: Tensor, new: Tensor, cell: Tensor) -> Tensor:
    """Return the next cell state of an LSTM, given gates before their activations."""
    return sigmoid_gate(forget) * cell + sigmoid_gate(input) * tanh(new)


@fuse
def lstm_hidden_state(output: Tensor, cell: Tensor) -> Tensor:
    """Return the hidden state of an LSTM, given the output gate before its activation."""
    return sigmoid_gate(output) * tanh(cell)


@fuse
def gru_candidate(reset: Tensor, input: Tensor, recurrent: Tensor) -> Tensor:
    """Return the candidate state of a GRU, given the reset gate before its activation."""
    return tanh(input + sigmoid_gate(reset) * recurrent)


@fuse
def gru_hidden_state(update: Tensor, candidate: Tensor, hidden: Tensor) -> Tensor:
    """Interpolate between the candidate and the previous hidden state of a GRU."""
    return candidate + sigmoid_gate(update) * (hidden - candidate)


def lstm_step(gates: Tensor, cell: Tensor) -> tuple[Tensor, Tensor]:
    """Return the next hidden and cell state of an LSTM (Hochreiter and Schmidhuber 1997).

    Args:
        gates: input, forget, new and output before their activations, shape (*batch, 4 * width).
        cell: the previous cell state, shape (*batch, width).
    """
    i, f, g, o = gates.chunk(4, -1)
    cell = lstm_cell_state(i, f, g, cell)
    return lstm_hidden_state(o, cell), cell


def gru_step(projected: Tensor, recurrent: Tensor, hidden: Tensor) -> Tensor:
    """Return the next hidden state of a GRU (Cho et al. 2014).

    The reset gate multiplies the product of the weights with the state, not the state itself.

    Args:
        projected: products of the input for reset, update and new, shape (*batch, 3 * width).
        recurrent: products of the previous hidden state, of the same shape.
        hidden: the previous hidden state, shape (*batch, width).
    """
    r, z, n = projected.chunk(3, -1)
    hr, hz, hn = recurrent.chunk(3, -1)
    return gru_hidden_state(z + hz, gru_candidate(r + hr, n, hn), hidden)


def activation(values: Tensor, is_relu: bool) -> Tensor:
    """Return `relu(values)` or `tanh(values)`."""
    return mt.relu(values) if is_relu else tanh(values)


def rnn_step(is_relu: bool) -> Callable[[Tensor, Tensor, Tensor], Tensor]:
    """Return the step of a plain network, a function of the same arguments as `gru_step`."""
    return lambda projected, recurrent, _: activation(projected + recurrent, is_relu)


# --- Operations that backends may have kernels for ------------------------------------------------

_KERNELS: dict[str, FusedKernel] = {}
"""Kernels for backends that have none of their own; see below.

There are none for single steps, where a kernel would save less on the graph than its gradient
costs."""


def _operation(
    name: str, join: Callable[[Any], Tensor] | None = None, split: Callable[..., Any] | None = None
) -> Callable[[F], F]:
    """Declare the decorated function as the composition of an operation that may have kernels.

    Args:
        name: the operation.
        join: combine several results into the one tensor that kernels return.
        split: the inverse of `join`; called with the tensor and the arguments.
    """

    def decorate(function: F) -> F:
        FUSED[name] = function if join is None else lambda *arguments: join(function(*arguments))

        @functools.wraps(function)
        def operation(*arguments: Any) -> Any:
            common_backend(*arguments)
            fallback = _KERNELS.get(name)
            kernel = arguments[0].backend.kernel(name) or fallback
            if kernel is None:
                return function(*arguments)
            result = by_kernel(name, kernel, *arguments, fallback=fallback)
            return result if split is None else split(result, *arguments)

        return cast("F", operation)

    return decorate


# --- One step of a cell -------------------------------------------------------------------------


def gru_cell(projected: Tensor, hidden: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    """Return the next hidden state of a GRU.

    A backend's kernel for sequences runs the step if there is one: it records fewer nodes.

    Args:
        projected: products of input and weight, shape (batch, 3 * width) or (3 * width,); see
            `gru_step`.
        hidden: the previous hidden state, shape (batch, width) or (width,).
        weight: the weight of the hidden state, shape (3 * width, width).
        bias: added to the product with `weight`, shape (3 * width,), or None.
    """
    if projected.ndim == 2:
        arguments = (projected.unsqueeze(0), hidden, weight, bias, None, False)
        kernel = projected.backend.kernel("gru")
        if kernel is not None and (not isinstance(kernel, FusedKernel) or kernel.fits(*arguments)):
            return gru(*arguments).squeeze(0)
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
    """Return the next hidden and cell state of an LSTM.

    Args:
        input: shape (batch, features) or (features,).
        hidden: the previous hidden state, shape (batch, width) or (width,).
        cell: the previous cell state, of the same shape.
        weight_ih: the weight of the input, shape (4 * width, features); see `lstm_step`.
        weight_hh: the weight of the hidden state, shape (4 * width, width).
        bias_ih: added to the product with `weight_ih`, shape (4 * width,), or None.
        bias_hh: added to the product with `weight_hh`; None if `bias_ih` is None.

    Raises:
        BackendMismatchError: the tensors belong to different backends.
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
    reverse: bool,
    is_relu: bool,
) -> Tensor:
    """Return the hidden states of a plain recurrent network after each step.

    Args:
        projected: products of inputs and weight, plus all biases, shape (steps, batch, width).
        hidden: the initial hidden state, shape (batch, width).
        weight: the weight of the hidden state, shape (width, width).
        lengths: the number of steps of each sequence, int64 of shape (batch,); None if all have
            `steps`. After its last step, a sequence keeps its state.
        reverse: whether to start with the last step.
        is_relu: whether the activation is relu instead of tanh.

    Returns:
        Shape (steps, batch, width).
    """
    return _states(rnn_step(is_relu), projected, hidden, weight, None, lengths, reverse)[0]


@_operation("gru")
def gru(
    projected: Tensor,
    hidden: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    lengths: Tensor | None,
    reverse: bool,
) -> Tensor:
    """Return the hidden states of a GRU after each step.

    Args:
        projected: products of inputs and weight, plus their bias, shape (steps, batch, 3 * width);
            see `gru_step`.
        hidden: the initial hidden state, shape (batch, width).
        weight: the weight of the hidden state, shape (3 * width, width).
        bias: added to the product with `weight`, shape (3 * width,), or None.
        lengths: see `rnn`.
        reverse: see `rnn`.

    Returns:
        Shape (steps, batch, width).
    """
    return _states(gru_step, projected, hidden, weight, bias, lengths, reverse)[0]


def _states(step: Any, *arguments: Any) -> tuple[Tensor, list[Tensor]]:
    """Return the hidden states after each step, and the products with `weight`; see `gru`.

    `step` maps the projected input, the product and the hidden state to the next hidden state.
    """
    projected, hidden, weight, bias, lengths, reverse = arguments
    states, products = [], []
    for x, mask in _iterate(reverse, projected, _step_mask(projected, lengths)):
        product = hidden @ weight.T
        products.append(product if bias is None else product + bias)
        hidden = _select(mask, step(x, products[-1], hidden), hidden)
        states.append(hidden)
    return _stacked(states, reverse), products


def _flat(parts: Sequence[Tensor]) -> Tensor:
    return cat([part.flatten() for part in parts])


def _unflat(both: Tensor, projected: Tensor, hidden: Tensor, cell: Tensor, *_: Any) -> Any:
    """Split what `_flat` joined: the hidden states after each step and the last cell state."""
    states, last = both.split([both.numel() - cell.numel(), cell.numel()])
    return states.view(len(projected), *hidden.shape), last.view(*cell.shape)


@_operation("lstm", _flat, _unflat)
def lstm(
    projected: Tensor,
    hidden: Tensor,
    cell: Tensor,
    weight: Tensor,
    projection: Tensor | None,
    lengths: Tensor | None,
    reverse: bool,
) -> tuple[Tensor, Tensor]:
    """Return the hidden states of an LSTM after each step, and its last cell state.

    Args:
        projected: products of inputs and weight, plus all biases, shape (steps, batch, 4 * width);
            see `lstm_step`.
        hidden: the initial hidden state, shape (batch, outputs).
        cell: the initial cell state, shape (batch, width).
        weight: the weight of the hidden state, shape (4 * width, outputs).
        projection: the weight that projects hidden states, shape (outputs, width); or None, if
            `outputs` is `width`.
        lengths: see `rnn`.
        reverse: see `rnn`.

    Returns:
        Shapes (steps, batch, outputs) and (batch, width).
    """
    arguments = (projected, hidden, cell, weight, projection, lengths, reverse)
    states, cells, _ = _lstm_states(*arguments)
    return states, final(cells, reverse)


def _lstm_states(*arguments: Any) -> tuple[Tensor, Tensor, list[Tensor]]:
    """Return the hidden and cell states after each step, and the gates' inputs; see `lstm`."""
    projected, hidden, cell, weight, projection, lengths, reverse = arguments
    states, cells, gates, transposed = [], [], [], weight.T.contiguous()
    for x, mask in _iterate(reverse, projected, _step_mask(projected, lengths)):
        gates.append(x + hidden @ transposed)
        next_hidden, next_cell = lstm_step(gates[-1], cell)
        if projection is not None:
            next_hidden = next_hidden @ projection.T
        hidden, cell = _select(mask, next_hidden, hidden), _select(mask, next_cell, cell)
        states.append(hidden)
        cells.append(cell)
    return _stacked(states, reverse), _stacked(cells, reverse), gates


def _step_mask(projected: Tensor, lengths: Tensor | None) -> Tensor | None:
    """Return whether each sequence has each step, bools of shape (steps, batch, 1), or None."""
    if lengths is None:
        return None
    steps = mt.arange(len(projected), backend=projected.backend)
    return (steps.unsqueeze(1) < lengths).unsqueeze(-1)


def _select(mask: Tensor | None, after: Tensor, before: Tensor) -> Tensor:
    """Return the states after a step; sequences that have ended keep the state before it."""
    return after if mask is None else after.where(mask, before)


def _iterate(reverse: bool, *tensors: Tensor | None) -> Any:
    """Iterate over the steps of several tensors; a tensor that is None yields None."""
    first: Any = tensors[0]
    order = slice(None, None, -1 if reverse else 1)
    return zip(
        *[[None] * len(first) if x is None else x.unbind()[order] for x in tensors], strict=True
    )


def _stacked(states: list[Tensor], reverse: bool) -> Tensor:
    """Stack the states computed in a loop over `_iterate`, in the order of the steps."""
    return stack(states[::-1] if reverse else states)


def final(states: Tensor, reverse: bool) -> Tensor:
    """Return the state after the step that was computed last."""
    return states[0 if reverse else -1]


# --- Kernels for every backend ------------------------------------------------------------------


Needs = Sequence[bool]
Saved = tuple[Any, ...]
Gradients = Sequence[Tensor | None]


class _RNNKernel(FusedKernel):
    """A plain recurrent layer over all steps, forward and backward."""

    def value(self, needs: Needs, *arguments: Any) -> tuple[Tensor, Saved]:
        """Return the hidden states, which `gradient` reads, too."""
        projected, hidden, weight, *order, is_relu = arguments
        states, products = _states(rnn_step(is_relu), projected, hidden, weight, None, *order)
        return states, (states, *products)

    def gradient(self, upstream: Tensor, saved: Saved, needs: Needs, *arguments: Any) -> Gradients:
        """Return the gradients of inputs, initial state and weight."""
        (states, *steps), (projected, hidden, weight, lengths, reverse, is_relu) = saved, arguments
        before = _previous(hidden, states, reverse)
        sums, previous = _leaves(projected + _stacked(steps, reverse), before)
        with mt.enable_grad():
            after = _select(_step_mask(projected, lengths), activation(sums, is_relu), previous)
        slopes, direct = _elementwise_derivatives(after, [sums, previous])
        _, d_hidden = _back_through_time(upstream, slopes, direct, weight, reverse)
        return slopes, d_hidden, _weight_gradient(slopes, before), None, None, None


class _GRUKernel(FusedKernel):
    """A GRU layer over all steps, forward and backward."""

    def value(self, needs: Needs, *arguments: Any) -> tuple[Tensor, Saved]:
        """Return the hidden states, which `gradient` reads, too."""
        states, products = _states(gru_step, *arguments)
        return states, (states, *products)

    def gradient(self, upstream: Tensor, saved: Saved, needs: Needs, *arguments: Any) -> Gradients:
        """Return the gradients of inputs, initial state, weight and bias."""
        (states, *steps), (projected, hidden, weight, bias, lengths, reverse) = saved, arguments
        before = _previous(hidden, states, reverse)
        (r, z, n), (hr, hz, hn) = projected.chunk(3, -1), _stacked(steps, reverse).chunk(3, -1)
        leaves = reset, update, input, recurrent, previous = _leaves(r + hr, z + hz, n, hn, before)
        with mt.enable_grad():
            after = gru_hidden_state(update, gru_candidate(reset, input, recurrent), previous)
            after = _select(_step_mask(projected, lengths), after, previous)
        d_reset, d_update, d_input, d_recurrent, direct = _elementwise_derivatives(after, leaves)
        slopes = cat([d_reset, d_update, d_recurrent], -1)
        d_states, d_hidden = _back_through_time(upstream, slopes, direct, weight, reverse)
        d_gates = slopes.narrow(-1, 0, 2 * hidden.shape[-1])
        d_projected = cat([d_gates, d_states * d_input], -1)
        d_bias = None if bias is None else slopes.sum((0, 1))
        return d_projected, d_hidden, _weight_gradient(slopes, before), d_bias, None, None


class _LSTMKernel(FusedKernel):
    """An LSTM layer without a projection over all steps, forward and backward."""

    def fits(self, *arguments: Any) -> bool:
        """Return whether there is no projection; with one, the composition runs."""
        return arguments[4] is None

    def value(self, needs: Needs, *arguments: Any) -> tuple[Tensor, Saved]:
        """Return all hidden states and the last cell state; `gradient` reads all cell states."""
        states, cells, gates = _lstm_states(*arguments)
        result = _flat([states, final(cells, arguments[-1])])
        return result, (result, cells, *gates)

    def gradient(self, upstream: Tensor, saved: Saved, needs: Needs, *arguments: Any) -> Gradients:
        """Return the gradients of inputs, initial hidden state, initial cell state and weight."""
        result, cells, *steps = saved
        projected, hidden, cell, weight, _, lengths, reverse = arguments
        states, _ = _unflat(result, projected, hidden, cell)
        d_states, d_cell = _unflat(upstream, projected, hidden, cell)
        before, mask = _previous(hidden, states, reverse), _step_mask(projected, lengths)
        i, f, g, o = _leaves(*_stacked(steps, reverse).chunk(4, -1))
        previous, previous_cell, now = _leaves(before, _previous(cell, cells, reverse), cells)
        with mt.enable_grad():
            next_cell = _select(mask, lstm_cell_state(i, f, g, previous_cell), previous_cell)
            next_hidden = _select(mask, lstm_hidden_state(o, now), previous)
        *d_gates, cell_slopes = _elementwise_derivatives(next_cell, [i, f, g, previous_cell])
        d_output, slopes, direct = _elementwise_derivatives(next_hidden, [o, now, previous])
        gates, d_hidden = cat([*d_gates, d_output], -1), mt.zeros_like(hidden)
        per_step = (d_states, gates, slopes, cell_slopes, direct)
        for d_state, gate, slope, cell_slope, passed in _iterate(not reverse, *per_step):
            total = d_state + d_hidden
            d_cell = d_cell + total * slope
            d_hidden = gate.mul_(cat([d_cell, d_cell, d_cell, total], -1)) @ weight
            d_cell = d_cell * cell_slope
            if passed is not None:
                d_hidden = d_hidden + total * passed
        return gates, d_hidden, d_cell, _weight_gradient(gates, before), None, None, None


_KERNELS.update(rnn=_RNNKernel(), gru=_GRUKernel(), lstm=_LSTMKernel())


def _back_through_time(
    upstream: Tensor, slopes: Tensor, direct: Tensor | None, weight: Tensor, reverse: bool
) -> tuple[Tensor, Tensor]:
    """Return the complete gradients of all hidden states, and that of the initial state.

    Args:
        upstream: the upstream gradients, shape (steps, batch, width).
        slopes: derivatives of each state with respect to its products, shape (steps, batch,
            gates * width). They are overwritten with the gradients of the products.
        direct: derivatives of each state with respect to the previous one, except through the
            products; None for zeros.
        weight: the weight of the hidden state, shape (gates * width, width).
        reverse: whether the network starts with the last step.
    """
    totals, d_hidden = [], mt.zeros_like(upstream[0])
    gates = slopes.shape[-1] // upstream.shape[-1]
    for d_state, slope, passed in _iterate(not reverse, upstream, slopes, direct):
        total = d_state + d_hidden
        totals.append(total)
        d_hidden = slope.mul_(total if gates == 1 else cat([total] * gates, -1)) @ weight
        if passed is not None:
            d_hidden = d_hidden + total * passed
    return _stacked(totals, not reverse), d_hidden


def _leaves(*tensors: Tensor) -> list[Tensor]:
    """Detach tensors, and return them as leaves that require grad."""
    return [tensor.detach().requires_grad_() for tensor in tensors]


def _elementwise_derivatives(result: Tensor, leaves: Sequence[Tensor]) -> Sequence[Any]:
    """Return the derivatives of an elementwise function with respect to its leaves."""
    return grad(result, leaves, mt.ones_like(result), allow_unused=True)


def _previous(first: Tensor, states: Tensor, reverse: bool) -> Tensor:
    """Return the state before each step, given the initial one and those after each step."""
    if reverse:
        return cat([states[1:], first.unsqueeze(0)])
    return cat([first.unsqueeze(0), states[:-1]])


def _weight_gradient(products: Tensor, factors: Tensor) -> Tensor:
    """Return the gradient of a weight, given those of its products at all steps."""
    return products.flatten(0, 1).T @ factors.flatten(0, 1)

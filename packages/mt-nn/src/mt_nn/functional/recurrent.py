"""Recurrent networks over time: what each step makes of its input and of the step before.

The products of inputs and weights need no earlier step, and are made for all steps at once before;
the functions here begin with these. Each is defined by its steps, one after the other. Recorded
operation by operation, they would spend most of their time on the records, so that there is a
kernel for each, written with tensor operations and hence for every backend that has none of its
own. Its gradient goes back through time with a few operations a step: slopes that depend on a
step's own values are computed for all steps at once, and so is the gradient of the weights.

The layers around them are in `mt_nn.layers.recurrent`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mt_tensor import Tensor, cat, fuse, fused, relu, stack, tanh, zeros_like
from mt_tensor.fused import FusedKernel, by_kernel

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


# --- All steps ----------------------------------------------------------------------------------


def rnn(projected: Tensor, hidden: Tensor, weight: Tensor, is_relu: bool) -> Tensor:
    """Return the states of a plain recurrent network after each step.

    Args:
        projected: the products of inputs and weights with all biases, shape (steps, batch, width).
        hidden: the first state, shape (batch, width).
        weight: what states are multiplied with, shape (width, width).
        is_relu: whether the activation is relu instead of tanh.

    Returns:
        Shape (steps, batch, width).
    """
    return _by("rnn", _RNN, projected, hidden, weight, is_relu)


def gru(projected: Tensor, hidden: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    """Return the states of a GRU after each step.

    Args:
        projected: the products of inputs and weights, shape (steps, batch, 3 width); see
            `gru_step`.
        hidden: the first state, shape (batch, width).
        weight: what states are multiplied with, shape (3 width, width).
        bias: what is added to these products, shape (3 width,), or None.

    Returns:
        Shape (steps, batch, width).
    """
    return _by("gru", _GRU, projected, hidden, weight, bias)


def lstm(
    projected: Tensor, hidden: Tensor, cell: Tensor, weight: Tensor, shrink: Tensor | None
) -> Tensor:
    """Return what an LSTM shows and remembers after each step, side by side.

    Args:
        projected: the products of inputs and weights with all biases, shape (steps, batch,
            4 width); see `lstm_step`.
        hidden: what it shows at first, shape (batch, outputs).
        cell: what it remembers at first, shape (batch, width).
        weight: what the shown is multiplied with, shape (4 width, outputs).
        shrink: what turns each step's result into what is shown, shape (outputs, width), or None;
            outputs and width are the same then.

    Returns:
        Shape (steps, batch, outputs + width).
    """
    return _by("lstm", _LSTM, projected, hidden, cell, weight, shrink)


def _by(name: str, kernel: FusedKernel, *arguments: Any) -> Tensor:
    """Return the result of an operation, by the backend's kernel if it has one."""
    return by_kernel(name, arguments[0].backend.kernel(name) or kernel, *arguments)


# --- Their definitions --------------------------------------------------------------------------


@fused("rnn")
def _rnn(projected: Tensor, hidden: Tensor, weight: Tensor, is_relu: bool) -> Tensor:
    """Go step by step; the arguments are those of `rnn`."""
    states = []
    for now in projected.unbind():
        hidden = activated(now + hidden @ weight.T, is_relu)
        states.append(hidden)
    return stack(states)


@fused("gru")
def _gru(projected: Tensor, hidden: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    """Go step by step; the arguments are those of `gru`."""
    states = []
    for now in projected.unbind():
        recurrent = hidden @ weight.T
        hidden = gru_step(now, recurrent if bias is None else recurrent + bias, hidden)
        states.append(hidden)
    return stack(states)


@fused("lstm")
def _lstm(
    projected: Tensor, hidden: Tensor, cell: Tensor, weight: Tensor, shrink: Tensor | None
) -> Tensor:
    """Go step by step; the arguments are those of `lstm`."""
    states, cells = [], []
    for now in projected.unbind():
        hidden, cell = lstm_step(now + hidden @ weight.T, cell)
        if shrink is not None:
            hidden = hidden @ shrink.T
        states.append(hidden)
        cells.append(cell)
    return cat([stack(states), stack(cells)], -1)


# --- Kernels for every backend ------------------------------------------------------------------


class _RNNKernel(FusedKernel):
    """A plain recurrent network."""

    def value(self, needs: Sequence[bool], *arguments: Any) -> tuple[Tensor, tuple[Any, ...]]:
        """Return all states, which say all that the gradient wants to know."""
        states = _rnn(*arguments)
        return states, (states,)

    def gradient(
        self, grad: Tensor, saved: tuple[Any, ...], needs: Sequence[bool], *arguments: Any
    ) -> Sequence[Tensor | None]:
        """Return the gradients of products, first state and weight."""
        (states,) = saved
        _, hidden, weight, is_relu = arguments
        slopes = (states > 0).to(states.dtype) if is_relu else 1 - states * states
        _, of_hidden = _back_through_time(grad, slopes, None, weight)
        return slopes, of_hidden, _of_weight(slopes, _before(hidden, states)), None


class _GRUKernel(FusedKernel):
    """A GRU."""

    def value(self, needs: Sequence[bool], *arguments: Any) -> tuple[Tensor, tuple[Any, ...]]:
        """Return all states, from which the gradient computes the gates again."""
        states = _gru(*arguments)
        return states, (states,)

    def gradient(
        self, grad: Tensor, saved: tuple[Any, ...], needs: Sequence[bool], *arguments: Any
    ) -> Sequence[Tensor | None]:
        """Return the gradients of products, first state, weight and bias."""
        (states,) = saved
        projected, hidden, weight, bias = arguments
        before = _before(hidden, states)
        recurrent = before @ weight.T if bias is None else before @ weight.T + bias
        r, z, n = projected.chunk(3, -1)
        hr, hz, hn = recurrent.chunk(3, -1)
        r, z = opened(r + hr), opened(z + hz)
        n = tanh(n + r * hn)
        by_new = _after_tanh(n, 1 - z)
        slopes = cat(
            [_after_sigmoid(r, by_new * hn), _after_sigmoid(z, before - n), by_new * r], -1
        )
        of_states, of_hidden = _back_through_time(grad, slopes, z, weight)
        of_gates = slopes.narrow(-1, 0, 2 * hidden.shape[-1])
        return (
            cat([of_gates, of_states * by_new], -1),
            of_hidden,
            _of_weight(slopes, before),
            None if bias is None else slopes.sum((0, 1)),
        )


class _LSTMKernel(FusedKernel):
    """An LSTM."""

    def value(self, needs: Sequence[bool], *arguments: Any) -> tuple[Tensor, tuple[Any, ...]]:
        """Return all that is shown and remembered, and for the gradient that and all gates."""
        projected, hidden, cell, weight, shrink = arguments
        gates, turned = projected.clone(), weight.T.contiguous()
        states, cells = [], []
        for now in gates.unbind():
            hidden, cell = lstm_step(now.add_(hidden @ turned), cell)
            if shrink is not None:
                hidden = hidden @ shrink.T
            states.append(hidden)
            cells.append(cell)
        result = cat([stack(states), stack(cells)], -1)
        return result, (result, gates)

    def gradient(
        self, grad: Tensor, saved: tuple[Any, ...], needs: Sequence[bool], *arguments: Any
    ) -> Sequence[Tensor | None]:
        """Return the gradients of products, both first states and both weights."""
        states, gates = saved
        _, hidden, cell, weight, shrink = arguments
        sizes = [hidden.shape[-1], cell.shape[-1]]
        states, cells = states.split(sizes, -1)
        i, f, g, o = gates.chunk(4, -1)
        i, f, g, o, c = opened(i), opened(f), tanh(g), opened(o), tanh(cells)
        by_forget = _after_sigmoid(f, _before(cell, cells))
        by_gates = [_after_sigmoid(i, g), by_forget, _after_tanh(g, i), _after_sigmoid(o, c)]
        of_gates = cat(by_gates, -1)  # so far, slopes
        per_step = (*grad.split(sizes, -1), _after_tanh(c, o), of_gates, f)
        of_hidden, of_cell = zeros_like(hidden), zeros_like(cell)
        of_shown = []
        for shows, remembers, slope, now, kept in _from_the_last(*per_step):
            of_hidden = of_hidden + shows
            of_shown.append(of_hidden)
            if shrink is not None:
                of_hidden = of_hidden @ shrink
            of_cell = _added_up(of_cell, remembers, of_hidden, slope)
            now.mul_(cat([of_cell, of_cell, of_cell, of_hidden], -1))
            of_hidden, of_cell = now @ weight, of_cell * kept
        of_shrink = None if shrink is None else _of_weight(stack(of_shown[::-1]), o * c)
        of_weight = _of_weight(of_gates, _before(hidden, states))
        return of_gates, of_hidden, of_cell, of_weight, of_shrink


@fuse
def _after_sigmoid(value: Tensor, factor: Tensor) -> Tensor:
    """Return the slope of a sigmoid from its value, times a factor."""
    return value * (1 - value) * factor


@fuse
def _after_tanh(value: Tensor, factor: Tensor) -> Tensor:
    """Return the slope of a hyperbolic tangent from its value, times a factor."""
    return (1 - value * value) * factor


@fuse
def _added_up(first: Tensor, second: Tensor, factor: Tensor, slope: Tensor) -> Tensor:
    """Return the gradient of what is remembered, from its three sources."""
    return first + second + factor * slope


_RNN, _GRU, _LSTM = _RNNKernel(), _GRUKernel(), _LSTMKernel()


def _back_through_time(
    grad: Tensor, slopes: Tensor, kept: Tensor | None, weight: Tensor
) -> tuple[Tensor, Tensor]:
    """Return the complete gradients of all states, and that of the first.

    Args:
        grad: the gradients that come from outside, shape (steps, batch, width).
        slopes: derivatives of each state by its products, shape (steps, batch, gates * width). In
            place they become the gradients of the products.
        kept: derivatives of each state by the one before directly, or None for zeros.
        weight: what the state before is multiplied with, shape (gates * width, width).
    """
    found = []
    from_later = zeros_like(grad[0])
    gates = slopes.shape[-1] // grad.shape[-1]
    per_step = (grad, slopes) if kept is None else (grad, slopes, kept)
    for from_outside, now, *keeps in _from_the_last(*per_step):
        total = from_outside + from_later
        found.append(total)
        from_later = now.mul_(cat([total] * gates, -1)) @ weight
        if keeps:
            from_later = from_later + total * keeps[0]
    return stack(found[::-1]), from_later


def _from_the_last(*tensors: Tensor) -> Any:
    """Return an iterator over the steps of tensors, the last one first."""
    return zip(*[tensor.unbind()[::-1] for tensor in tensors], strict=True)


def _before(first: Tensor, states: Tensor) -> Tensor:
    """Return the state before each step."""
    return cat([first.unsqueeze(0), states[:-1]])


def _of_weight(of_products: Tensor, factors: Tensor) -> Tensor:
    """Return the gradient of a weight from those of its products at all steps."""
    return of_products.flatten(0, 1).T @ factors.flatten(0, 1)

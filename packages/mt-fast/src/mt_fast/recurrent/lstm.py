"""Long short-term memory: all steps of a layer, forward and backward."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mt_fast.core.kernel import Kernel
from mt_fast.fused.arrays import array_of, tensor_of
from mt_fast.gemm.panels import multiply
from mt_fast.recurrent import scan as recurrent
from mt_fast.recurrent.scan import add_up, copy_row
from mt_fast.vector_math.operators import VECTORISED, slope
from mt_fast.vectors.compiler import inner
from mt_tensor import Tensor
from mt_tensor.extending import FusedKernel

_sigmoid, _tanh = VECTORISED["sigmoid"], VECTORISED["tanh"]
_slope_of_sigmoid, _slope_of_tanh = slope("sigmoid"), slope("tanh")

# --- Kernels: units are the sequences of a batch ------------------------------------------------


def _lstm(
    lo: Any,
    hi: Any,
    span: Any,
    panels: Any,
    products: Any,
    hidden: Any,
    states: Any,
    projected: Any,
    lengths: Any,
    cell: Any,
    cells: Any,
    gates: Any,
) -> None:
    """Do some steps.

    Args:
        lo: the first sequence.
        hi: the sequence after the last.
        span: see `recurrent.Span`.
        panels: of the weight.
        products: with them, shape (batch, panels.columns).
        hidden: the first hidden state, shape (batch, width).
        states: the hidden states after each step, shape (steps, batch, width).
        projected: the products with the inputs, shape (steps, batch, 4 width).
        lengths: how many steps each sequence has.
        cell: the first cell state, shape (batch, width).
        cells: the cell states after each step, in the order in which they are done, shape
            (steps, batch, width), or in turn that after one of the last two steps.
        gates: after their activations, likewise, shape (steps or 1, batch, 4 width).
    """
    steps = len(projected)
    for step in range(span.begin, span.end):
        time, before = (steps - 1 - step, steps - step) if span.backwards else (step, step - 1)
        earlier = hidden if step == 0 else states[before]
        previous = cell if step == 0 else cells[(step - 1) % len(cells)]
        if span.multiplies:
            multiply(products, lo, hi, earlier, panels, 0, len(panels.elements))
        for i in range(lo, hi):
            new_cell, state = cells[step % len(cells), i], states[time, i]
            if time < lengths[i]:
                activated = gates[step % len(gates), i]
                activate(activated, projected[time, i], products[i])
                update(new_cell, state, activated, previous[i])
            else:
                copy_row(new_cell, previous[i])
                copy_row(state, earlier[i])


@inner
def activate(gates: Any, projected: Any, products: Any) -> None:
    """Write the gates after their activations, from the products with input and state."""
    width = gates.size // 4
    for j in range(2 * width):
        gates[j] = _sigmoid(projected[j] + products[j])
    new, by_input, by_state = gates[2 * width :], projected[2 * width :], products[2 * width :]
    for j in range(width):
        new[j] = _tanh(by_input[j] + by_state[j])
    output, by_input, by_state = new[width:], by_input[width:], by_state[width:]
    for j in range(width):
        output[j] = _sigmoid(by_input[j] + by_state[j])


@inner
def update(cell: Any, hidden: Any, gates: Any, previous: Any) -> None:
    """Write the next cell state and hidden state."""
    width = cell.size
    input, forget = gates[:width], gates[width : 2 * width]
    new, output = gates[2 * width : 3 * width], gates[3 * width :]
    for j in range(width):
        value = forget[j] * previous[j] + input[j] * new[j]
        cell[j] = value
        hidden[j] = output[j] * _tanh(value)


def _lstm_gradient(
    lo: Any,
    hi: Any,
    span: Any,
    panels: Any,
    products: Any,
    carried: Any,
    of_products: Any,
    grad: Any,
    lengths: Any,
    cell: Any,
    cells: Any,
    gates: Any,
    of_cell: Any,
) -> None:
    """Go back through some steps.

    Args:
        lo: the first sequence.
        hi: the sequence after the last.
        span: see `recurrent.Span`.
        panels: of the weight.
        products: of the gradients of the step done before with them, shape (batch, panels.columns).
        carried: gradients that reach the hidden state past the products, shape (batch, width).
        of_products: the gradients of the gates before activations, shape (steps, batch, 4 width).
        grad: those of the hidden states after each step, shape (steps, batch, width).
        lengths: how many steps each sequence has.
        cell: the first cell state, shape (batch, width).
        cells: the cell states after each step, in their order, shape (steps, batch, width).
        gates: after their activations, likewise, shape (steps, batch, 4 width).
        of_cell: gradients of the cell state, shape (batch, width).
    """
    steps = len(of_products)
    for step in range(span.begin, span.end):
        time, order = steps - 1 - step if span.backwards else step, steps - 1 - step
        previous = cell if order == 0 else cells[order - 1]
        for i in range(lo, hi):
            of_hidden = carried[i]
            add_up(of_hidden, grad[time, i], products[i])
            if time < lengths[i]:
                gradient_of_gates(
                    of_products[time, i], of_hidden, of_cell[i], gates[order, i], cells[order, i],
                    previous[i],
                )  # fmt: skip
                of_hidden[:] = 0
            else:
                of_products[time, i, :] = 0
        if span.multiplies:
            multiply(products, lo, hi, of_products[time], panels, 0, len(panels.elements))


@inner
def gradient_of_gates(
    out: Any, of_hidden: Any, of_cell: Any, gates: Any, cell: Any, previous: Any
) -> None:
    """Write the gradients of the gates before activations, and of the previous cell state."""
    width = cell.size
    input, forget = gates[:width], gates[width : 2 * width]
    new, output = gates[2 * width : 3 * width], gates[3 * width :]
    of_input, of_forget = out[:width], out[width : 2 * width]
    of_new, of_output = out[2 * width : 3 * width], out[3 * width :]
    for j in range(width):
        i, f, g, o, squashed = input[j], forget[j], new[j], output[j], _tanh(cell[j])
        of_output[j] = of_hidden[j] * squashed * _slope_of_sigmoid(o)
        total = of_cell[j] + of_hidden[j] * o * _slope_of_tanh(squashed)
        of_input[j] = total * g * _slope_of_sigmoid(i)
        of_forget[j] = total * previous[j] * _slope_of_sigmoid(f)
        of_new[j] = total * i * _slope_of_tanh(g)
        of_cell[j] = total * f


_FORWARD, _BACKWARD = Kernel.of(_lstm), Kernel.of(_lstm_gradient)

# --- The operation on tensors -------------------------------------------------------------------


class _LSTM(FusedKernel):
    """Products with inputs, both first states, weights, lengths, and whether it runs backwards."""

    def fits(self, *arguments: Any) -> bool:
        """Leave hidden states of fewer features, other types and single steps to others."""
        projected, hidden, cell, weight, shrink, lengths, _ = arguments
        return shrink is None and recurrent.fits(projected, hidden, weight, lengths, cell)

    def value(self, needs: Sequence[bool], *arguments: Any) -> tuple[Tensor, tuple[Any, ...]]:
        """Return the hidden state after each step, and the cell state after the last."""
        projected, hidden, cell, weight, _, lengths, backwards = arguments
        steps, batch, products = projected.shape
        x, h, c, w = map(array_of, (projected, hidden, cell, weight))
        width = products // 4
        states = np.empty((steps + 1, batch, width), x.dtype)
        slots = (steps, steps) if True in needs else (2, 1)
        cells = np.empty((slots[0], batch, width), x.dtype)
        gates = np.empty((slots[1], batch, products), x.dtype)
        others = (recurrent.lengths_of(lengths, projected), c, cells, gates)
        recurrent.run_forward(_FORWARD, w, backwards, h, states[:steps], x, *others)
        states[steps] = cells[(steps - 1) % len(cells)]
        result = tensor_of(states.reshape(-1), projected)
        return result, (recurrent.read_later(result, steps), cells, gates)

    def gradient(
        self, grad: Tensor, saved: tuple[Any, ...], needs: Sequence[bool], *arguments: Any
    ) -> Sequence[Tensor | None]:
        """Return the gradients of products, both first states and the weight."""
        projected, hidden, cell, weight, _, lengths, backwards = arguments
        result, cells, gates = saved
        shape = (len(projected) + 1, *cell.shape)
        h, c, w = map(array_of, (hidden, cell, weight))
        upstream = array_of(grad).reshape(shape)
        states = None if result is None else array_of(result).reshape(shape)[:-1]
        of_gates, of_cell = np.empty_like(gates), upstream[-1].copy()
        others = (recurrent.lengths_of(lengths, projected), c, cells, gates, of_cell)
        of_hidden = recurrent.run_backward(
            _BACKWARD, w, backwards, of_gates, upstream[:-1], *others
        )
        of_weight = None
        if needs[3]:
            of_weight = recurrent.gradient_of_weight(of_gates, h, states, backwards)
        gradients = (of_gates, of_hidden, of_cell, of_weight)
        return *recurrent.tensors_of(gradients, projected), None, None, None


LSTM = _LSTM()

# ruff: noqa: ARG001 - all cells have one signature
"""The cells of recurrent layers: one step of one sequence, forward and backward.

A step reads the products of the weights with the input (`projected`) and with the previous hidden
state (`products`, which may be longer), a bias of the latter, the previous hidden state and, for an
LSTM, the previous cell state. It writes the next states, and `gates`, which the backward step
reads. A backward step takes the gradient of the hidden state in `carried` and that of the cell
state in `of_cell`. It writes the gradients of both products, and leaves in `carried` and `of_cell`
the gradients of the previous states that do not flow through the products.
"""

from __future__ import annotations

from typing import Any

from mt_fast.core.lowering import maximum
from mt_fast.vector_math.operators import VECTORIZED, slope
from mt_fast.vectors.compiler import inlined, inner

_sigmoid, _tanh = VECTORIZED["sigmoid"], VECTORIZED["tanh"]
_slope_of_sigmoid, _slope_of_tanh = slope("sigmoid"), slope("tanh")

# --- Plain networks -----------------------------------------------------------------------------


@inlined
def tanh_step(
    state: Any, cell: Any, gates: Any, projected: Any, products: Any, bias: Any,
    previous_hidden: Any, previous_cell: Any,
) -> None:  # fmt: skip
    """Write the next hidden state of a plain network with tanh."""
    for j in range(state.size):
        state[j] = _tanh(projected[j] + products[j])


@inlined
def tanh_back(
    of_products: Any, of_projected: Any, carried: Any, of_cell: Any, gates: Any, state: Any,
    cell: Any, previous_hidden: Any, previous_cell: Any,
) -> None:  # fmt: skip
    """Write the gradient of the products."""
    for j in range(state.size):
        of_products[j] = carried[j] * _slope_of_tanh(state[j])
    carried[:] = 0


@inlined
def relu_step(
    state: Any, cell: Any, gates: Any, projected: Any, products: Any, bias: Any,
    previous_hidden: Any, previous_cell: Any,
) -> None:  # fmt: skip
    """Write the next hidden state of a plain network with ReLU."""
    zero = state.dtype.type(0)
    for j in range(state.size):
        state[j] = maximum(projected[j] + products[j], zero)


@inlined
def relu_back(
    of_products: Any, of_projected: Any, carried: Any, of_cell: Any, gates: Any, state: Any,
    cell: Any, previous_hidden: Any, previous_cell: Any,
) -> None:  # fmt: skip
    """Write the gradient of the products."""
    one, zero = state.dtype.type(1), state.dtype.type(0)
    for j in range(state.size):
        of_products[j] = carried[j] * (one if state[j] > zero else zero)
    carried[:] = 0


# --- Gated recurrent units: gates are reset, update, new, and the product of reset ----------------


@inlined
def gru_step(
    state: Any, cell: Any, gates: Any, projected: Any, products: Any, bias: Any,
    previous_hidden: Any, previous_cell: Any,
) -> None:  # fmt: skip
    """Write the next hidden state of a gated recurrent unit."""
    width = state.size
    for j in range(2 * width):
        gates[j] = _sigmoid(projected[j] + (products[j] + bias[j]))
    reset, update = gates[:width], gates[width : 2 * width]
    new, recurrent = gates[2 * width : 3 * width], gates[3 * width :]
    by_input, by_state, more = projected[2 * width :], products[2 * width :], bias[2 * width :]
    for j in range(width):
        product = by_state[j] + more[j]
        value = _tanh(by_input[j] + reset[j] * product)
        recurrent[j] = product
        new[j] = value
        state[j] = value + update[j] * (previous_hidden[j] - value)


@inlined
def gru_back(
    of_products: Any, of_projected: Any, carried: Any, of_cell: Any, gates: Any, state: Any,
    cell: Any, previous_hidden: Any, previous_cell: Any,
) -> None:  # fmt: skip
    """Write the gradients of both products."""
    width = carried.size
    reset, update = gates[:width], gates[width : 2 * width]
    new, recurrent = gates[2 * width : 3 * width], gates[3 * width :]
    one = carried.dtype.type(1)
    of_update, of_new = of_products[width : 2 * width], of_products[2 * width :]
    by_update, by_new = of_projected[width : 2 * width], of_projected[2 * width :]
    for j in range(width):
        r, z, n, upstream = reset[j], update[j], new[j], carried[j]
        of_n = upstream * (one - z) * _slope_of_tanh(n)
        of_r = of_n * recurrent[j] * _slope_of_sigmoid(r)
        of_z = upstream * (previous_hidden[j] - n) * _slope_of_sigmoid(z)
        of_products[j], of_update[j], of_new[j] = of_r, of_z, of_n * r
        of_projected[j], by_update[j], by_new[j] = of_r, of_z, of_n
        carried[j] = upstream * z


# --- Long short-term memory: gates are input, forget, new and output ------------------------------


@inner
def activate(gates: Any, projected: Any, products: Any) -> None:
    """Write the activated gates from the products with input and hidden state."""
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
def update(cell: Any, hidden: Any, gates: Any, previous_cell: Any) -> None:
    """Write the next cell state and hidden state."""
    width = cell.size
    input, forget = gates[:width], gates[width : 2 * width]
    new, output = gates[2 * width : 3 * width], gates[3 * width :]
    for j in range(width):
        value = forget[j] * previous_cell[j] + input[j] * new[j]
        cell[j] = value
        hidden[j] = output[j] * _tanh(value)


@inner
def gradient_of_gates(
    out: Any, of_hidden: Any, of_cell: Any, gates: Any, cell: Any, previous_cell: Any
) -> None:
    """Write the gradients of the gates before activation, and of the previous cell state."""
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
        of_forget[j] = total * previous_cell[j] * _slope_of_sigmoid(f)
        of_new[j] = total * i * _slope_of_tanh(g)
        of_cell[j] = total * f


@inlined
def lstm_step(
    state: Any, cell: Any, gates: Any, projected: Any, products: Any, bias: Any,
    previous_hidden: Any, previous_cell: Any,
) -> None:  # fmt: skip
    """Write the next hidden state and cell state of a long short-term memory."""
    activate(gates, projected, products)
    update(cell, state, gates, previous_cell)


@inlined
def lstm_back(
    of_products: Any, of_projected: Any, carried: Any, of_cell: Any, gates: Any, state: Any,
    cell: Any, previous_hidden: Any, previous_cell: Any,
) -> None:  # fmt: skip
    """Write the gradient of the products."""
    gradient_of_gates(of_products, carried, of_cell, gates, cell, previous_cell)
    carried[:] = 0

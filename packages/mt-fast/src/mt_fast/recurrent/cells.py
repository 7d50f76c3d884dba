# ruff: noqa: ARG001 - all cells have one signature
"""The cells of recurrent layers: one step of one sequence, forward and backward.

A step reads the products of the weights with the input (`projected`) and with the previous hidden
state (`products`, which may be longer), a bias of the latter, the previous hidden state and, for an
LSTM, the previous cell state. It writes the next states, and `gates`, which the backward step
reads. A backward step takes the gradient of the hidden state in `grad_hidden` and that of the cell
state in `grad_cell`. It writes the gradients of both products, and leaves in `grad_hidden` and
`grad_cell` the gradients of the previous states that do not flow through the products.
"""

from __future__ import annotations

from typing import Any

from mt_fast.core.lowering import maximum
from mt_fast.vector_math.operators import VECTORIZED, derivative
from mt_fast.vectors.compiler import inlined, inner

_sigmoid, _tanh = VECTORIZED["sigmoid"], VECTORIZED["tanh"]
_sigmoid_derivative, _tanh_derivative = derivative("sigmoid"), derivative("tanh")

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
    grad_products: Any, grad_projected: Any, grad_hidden: Any, grad_cell: Any, gates: Any,
    state: Any, cell: Any, previous_hidden: Any, previous_cell: Any,
) -> None:  # fmt: skip
    """Write the gradient of the products."""
    for j in range(state.size):
        grad_products[j] = grad_hidden[j] * _tanh_derivative(state[j])
    grad_hidden[:] = 0


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
    grad_products: Any, grad_projected: Any, grad_hidden: Any, grad_cell: Any, gates: Any,
    state: Any, cell: Any, previous_hidden: Any, previous_cell: Any,
) -> None:  # fmt: skip
    """Write the gradient of the products."""
    one, zero = state.dtype.type(1), state.dtype.type(0)
    for j in range(state.size):
        grad_products[j] = grad_hidden[j] * (one if state[j] > zero else zero)
    grad_hidden[:] = 0


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
    from_input, from_state, new_bias = (
        projected[2 * width :],
        products[2 * width :],
        bias[2 * width :],
    )
    for j in range(width):
        product = from_state[j] + new_bias[j]
        value = _tanh(from_input[j] + reset[j] * product)
        recurrent[j] = product
        new[j] = value
        state[j] = value + update[j] * (previous_hidden[j] - value)


@inlined
def gru_back(
    grad_products: Any, grad_projected: Any, grad_hidden: Any, grad_cell: Any, gates: Any,
    state: Any, cell: Any, previous_hidden: Any, previous_cell: Any,
) -> None:  # fmt: skip
    """Write the gradients of both products."""
    width = grad_hidden.size
    reset, update = gates[:width], gates[width : 2 * width]
    new, recurrent = gates[2 * width : 3 * width], gates[3 * width :]
    one = grad_hidden.dtype.type(1)
    grad_update, grad_new = grad_products[width : 2 * width], grad_products[2 * width :]
    projected_update, projected_new = grad_projected[width : 2 * width], grad_projected[2 * width :]
    for j in range(width):
        r, z, n, upstream = reset[j], update[j], new[j], grad_hidden[j]
        grad_n = upstream * (one - z) * _tanh_derivative(n)
        grad_r = grad_n * recurrent[j] * _sigmoid_derivative(r)
        grad_z = upstream * (previous_hidden[j] - n) * _sigmoid_derivative(z)
        grad_products[j], grad_update[j], grad_new[j] = grad_r, grad_z, grad_n * r
        grad_projected[j], projected_update[j], projected_new[j] = grad_r, grad_z, grad_n
        grad_hidden[j] = upstream * z


# --- Long short-term memory: gates are input, forget, new and output ------------------------------


@inner
def activate(gates: Any, projected: Any, products: Any) -> None:
    """Write the activated gates from the products with input and hidden state."""
    width = gates.size // 4
    for j in range(2 * width):
        gates[j] = _sigmoid(projected[j] + products[j])
    new, from_input, from_state = gates[2 * width :], projected[2 * width :], products[2 * width :]
    for j in range(width):
        new[j] = _tanh(from_input[j] + from_state[j])
    output, from_input, from_state = new[width:], from_input[width:], from_state[width:]
    for j in range(width):
        output[j] = _sigmoid(from_input[j] + from_state[j])


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
def gate_gradients(
    out: Any, grad_hidden: Any, grad_cell: Any, gates: Any, cell: Any, previous_cell: Any
) -> None:
    """Write the gradients of the gates before activation, and of the previous cell state."""
    width = cell.size
    input, forget = gates[:width], gates[width : 2 * width]
    new, output = gates[2 * width : 3 * width], gates[3 * width :]
    grad_input, grad_forget = out[:width], out[width : 2 * width]
    grad_new, grad_output = out[2 * width : 3 * width], out[3 * width :]
    for j in range(width):
        i, f, g, o, tanh_cell = input[j], forget[j], new[j], output[j], _tanh(cell[j])
        grad_output[j] = grad_hidden[j] * tanh_cell * _sigmoid_derivative(o)
        total = grad_cell[j] + grad_hidden[j] * o * _tanh_derivative(tanh_cell)
        grad_input[j] = total * g * _sigmoid_derivative(i)
        grad_forget[j] = total * previous_cell[j] * _sigmoid_derivative(f)
        grad_new[j] = total * i * _tanh_derivative(g)
        grad_cell[j] = total * f


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
    grad_products: Any, grad_projected: Any, grad_hidden: Any, grad_cell: Any, gates: Any,
    state: Any, cell: Any, previous_hidden: Any, previous_cell: Any,
) -> None:  # fmt: skip
    """Write the gradient of the products."""
    gate_gradients(grad_products, grad_hidden, grad_cell, gates, cell, previous_cell)
    grad_hidden[:] = 0

"""Gated recurrent units: all steps of a layer, forward and backward."""

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


def _gru(
    lo: Any,
    hi: Any,
    span: Any,
    panels: Any,
    products: Any,
    hidden: Any,
    states: Any,
    projected: Any,
    lengths: Any,
    bias: Any,
    gates: Any,
) -> None:
    """Do some steps.

    Args:
        lo: the first sequence.
        hi: the sequence after the last.
        span: see `recurrent.Span`.
        panels: of the weight.
        products: with them, shape (batch, panels.columns).
        hidden: the first state, shape (batch, width).
        states: those after each step, shape (steps, batch, width).
        projected: the products with the inputs, shape (steps, batch, 3 width).
        lengths: how many steps each sequence has.
        bias: what is added to the products, shape (3 width,).
        gates: reset, update and new after their activations, and what reset is multiplied with, in
            the order of steps, shape (steps or 1, batch, 4 width).
    """
    steps = len(projected)
    for step in range(span.begin, span.end):
        time, before = (steps - 1 - step, steps - step) if span.backwards else (step, step - 1)
        earlier = hidden if step == 0 else states[before]
        if span.multiplies:
            multiply(products, lo, hi, earlier, panels, 0, len(panels.elements))
        for i in range(lo, hi):
            if time < lengths[i]:
                activated = gates[step % len(gates), i]
                _step(states[time, i], activated, projected[time, i], products[i], bias, earlier[i])
            else:
                copy_row(states[time, i], earlier[i])


@inner
def _step(state: Any, gates: Any, projected: Any, products: Any, bias: Any, earlier: Any) -> None:
    """Write the next state, and what the gradient wants to know."""
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
        state[j] = value + update[j] * (earlier[j] - value)


def _gru_gradient(
    lo: Any,
    hi: Any,
    span: Any,
    panels: Any,
    products: Any,
    carried: Any,
    of_products: Any,
    grad: Any,
    lengths: Any,
    hidden: Any,
    states: Any,
    gates: Any,
    of_projected: Any,
) -> None:
    """Go back through some steps.

    Args:
        lo: the first sequence.
        hi: the sequence after the last.
        span: see `recurrent.Span`.
        panels: of the weight.
        products: of the gradients of the step done before with them, shape (batch, panels.columns).
        carried: gradients that reach the state past the products, shape (batch, width).
        of_products: the gradients of the products with states, shape (steps, batch, 3 width).
        grad: those of the states, shape (steps, batch, width).
        lengths: how many steps each sequence has.
        hidden: the first state, shape (batch, width).
        states: those after each step, shape (steps, batch, width).
        gates: see `_gru`, shape (steps, batch, 4 width).
        of_projected: the gradients of the products with inputs, shape (steps, batch, 3 width).
    """
    steps = len(of_products)
    for step in range(span.begin, span.end):
        time, before = (steps - 1 - step, steps - 2 - step) if span.backwards else (step, step + 1)
        order = steps - 1 - step
        earlier = hidden if order == 0 else states[before]
        for i in range(lo, hi):
            add_up(carried[i], grad[time, i], products[i])
            if time < lengths[i]:
                _gradient_of_step(
                    of_products[time, i], of_projected[time, i], carried[i], gates[order, i],
                    earlier[i],
                )  # fmt: skip
            else:
                of_products[time, i, :] = 0
                of_projected[time, i, :] = 0
        if span.multiplies:
            multiply(products, lo, hi, of_products[time], panels, 0, len(panels.elements))


@inner
def _gradient_of_step(
    of_products: Any, of_projected: Any, carried: Any, gates: Any, earlier: Any
) -> None:
    """Write the gradients of products, and leave of the state's what passes by them."""
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
        of_z = upstream * (earlier[j] - n) * _slope_of_sigmoid(z)
        of_products[j], of_update[j], of_new[j] = of_r, of_z, of_n * r
        of_projected[j], by_update[j], by_new[j] = of_r, of_z, of_n
        carried[j] = upstream * z


_FORWARD, _BACKWARD = Kernel.of(_gru), Kernel.of(_gru_gradient)

# --- The operation on tensors -------------------------------------------------------------------


class _GRU(FusedKernel):
    """Products with inputs, first state, weight, bias, lengths, and whether it runs backwards."""

    def fits(self, *arguments: Any) -> bool:
        """Leave other types and single steps to others."""
        projected, hidden, weight, bias, lengths, _ = arguments
        return recurrent.fits(projected, hidden, weight, lengths, bias)

    def value(self, needs: Sequence[bool], *arguments: Any) -> tuple[Tensor, tuple[Any, ...]]:
        """Return the state after each step."""
        projected, hidden, weight, bias, lengths, backwards = arguments
        steps, batch, products = projected.shape
        x, h, w = map(array_of, (projected, hidden, weight))
        b = np.zeros(products, x.dtype) if bias is None else array_of(bias)
        states = np.empty((steps, *h.shape), x.dtype)
        gates = np.empty((steps if True in needs else 1, batch, 4 * h.shape[1]), x.dtype)
        others = (recurrent.lengths_of(lengths, projected), b, gates)
        recurrent.run_forward(_FORWARD, w, backwards, h, states, x, *others)
        result = tensor_of(states, projected)
        return result, (recurrent.read_later(result, steps), gates)

    def gradient(
        self, grad: Tensor, saved: tuple[Any, ...], needs: Sequence[bool], *arguments: Any
    ) -> Sequence[Tensor | None]:
        """Return the gradients of products, first state, weight and bias."""
        projected, hidden, weight, _, lengths, backwards = arguments
        result, gates = saved
        h, w, upstream = map(array_of, (hidden, weight, grad))
        states = h[None] if result is None else array_of(result)
        of_products, of_projected = np.empty((2, *projected.shape), w.dtype)
        lengths = recurrent.lengths_of(lengths, projected)
        others = (upstream, lengths, h, states, gates, of_projected)
        of_hidden = recurrent.run_backward(_BACKWARD, w, backwards, of_products, *others)
        of_weight = of_bias = None
        if needs[2]:
            of_weight = recurrent.gradient_of_weight(of_products, h, states, backwards)
        if needs[3]:
            of_bias = np.add.reduce(of_products, (0, 1))
        gradients = (of_projected, of_hidden, of_weight, of_bias)
        return *recurrent.tensors_of(gradients, projected), None, None


GRU = _GRU()

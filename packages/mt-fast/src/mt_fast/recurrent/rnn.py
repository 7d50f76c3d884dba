"""Plain recurrent networks: all steps of a layer, forward and backward."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mt_fast.core.kernel import Kernel
from mt_fast.core.lowering import maximum
from mt_fast.fused.arrays import array_of, tensor_of
from mt_fast.gemm.panels import multiply
from mt_fast.recurrent import scan as recurrent
from mt_fast.recurrent.scan import add_up, copy_row
from mt_fast.vector_math.operators import VECTORISED, slope
from mt_tensor import Tensor
from mt_tensor.extending import FusedKernel

_tanh, _slope_of_tanh = VECTORISED["tanh"], slope("tanh")

# --- Kernels: units are the sequences of a batch ------------------------------------------------


def _rnn(
    lo: Any,
    hi: Any,
    span: Any,
    panels: Any,
    products: Any,
    hidden: Any,
    states: Any,
    projected: Any,
    lengths: Any,
    is_relu: Any,
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
        projected: the products with the inputs, of the same shape.
        lengths: how many steps each sequence has.
        is_relu: whether the activation is relu instead of tanh.
    """
    steps, zero = len(projected), states.dtype.type(0)
    for step in range(span.begin, span.end):
        time, before = (steps - 1 - step, steps - step) if span.backwards else (step, step - 1)
        earlier = hidden if step == 0 else states[before]
        if span.multiplies:
            multiply(products, lo, hi, earlier, panels, 0, len(panels.elements))
        for i in range(lo, hi):
            state, by_input, by_state = states[time, i], projected[time, i], products[i]
            if time >= lengths[i]:
                copy_row(state, earlier[i])
            elif is_relu:
                for j in range(state.size):
                    state[j] = maximum(by_input[j] + by_state[j], zero)
            else:
                for j in range(state.size):
                    state[j] = _tanh(by_input[j] + by_state[j])


def _rnn_gradient(
    lo: Any,
    hi: Any,
    span: Any,
    panels: Any,
    products: Any,
    carried: Any,
    of_products: Any,
    grad: Any,
    lengths: Any,
    states: Any,
    is_relu: Any,
) -> None:
    """Go back through some steps.

    Args:
        lo: the first sequence.
        hi: the sequence after the last.
        span: see `recurrent.Span`.
        panels: of the weight.
        products: of the gradients of the step done before with them, shape (batch, panels.columns).
        carried: gradients that reach the state past the products, shape (batch, width).
        of_products: the gradients of the products, shape (steps, batch, width).
        grad: those of the states, of the same shape.
        lengths: how many steps each sequence has.
        states: those after each step, shape (steps, batch, width).
        is_relu: whether the activation is relu instead of tanh.
    """
    steps, one, zero = len(states), states.dtype.type(1), states.dtype.type(0)
    for step in range(span.begin, span.end):
        time = steps - 1 - step if span.backwards else step
        for i in range(lo, hi):
            state, upstream, out = states[time, i], carried[i], of_products[time, i]
            add_up(upstream, grad[time, i], products[i])
            if time >= lengths[i]:
                out[:] = zero
                continue
            if is_relu:
                for j in range(state.size):
                    out[j] = upstream[j] * (one if state[j] > zero else zero)
            else:
                for j in range(state.size):
                    out[j] = upstream[j] * _slope_of_tanh(state[j])
            upstream[:] = zero
        if span.multiplies:
            multiply(products, lo, hi, of_products[time], panels, 0, len(panels.elements))


_FORWARD, _BACKWARD = Kernel.of(_rnn), Kernel.of(_rnn_gradient)

# --- The operation on tensors -------------------------------------------------------------------


class _RNN(FusedKernel):
    """Products with inputs, first state, weight, lengths, whether backwards, whether with relu."""

    def fits(self, *arguments: Any) -> bool:
        """Leave other types and few steps to others."""
        return recurrent.fits(*arguments[:4])

    def value(self, needs: Sequence[bool], *arguments: Any) -> tuple[Tensor, tuple[Any, ...]]:
        """Return the state after each step."""
        projected, hidden, weight, lengths, backwards, is_relu = arguments
        x, h, w = map(array_of, (projected, hidden, weight))
        states = np.empty_like(x)
        others = (recurrent.lengths_of(lengths, projected), is_relu)
        recurrent.run_forward(_FORWARD, w, backwards, h, states, x, *others)
        result = tensor_of(states, projected)
        return result, (result,)

    def gradient(
        self, grad: Tensor, saved: tuple[Any, ...], needs: Sequence[bool], *arguments: Any
    ) -> Sequence[Tensor | None]:
        """Return the gradients of products, first state and weight."""
        projected, hidden, weight, lengths, backwards, is_relu = arguments
        h, w, states, upstream = map(array_of, (hidden, weight, *saved, grad))
        of_products = np.empty_like(states)
        others = (upstream, recurrent.lengths_of(lengths, projected), states, is_relu)
        of_hidden = recurrent.run_backward(_BACKWARD, w, backwards, of_products, *others)
        of_weight = None
        if needs[2]:
            of_weight = recurrent.gradient_of_weight(of_products, h, states, backwards)
        gradients = (of_products, of_hidden, of_weight)
        return *recurrent.tensors_of(gradients, projected), None, None, None


RNN = _RNN()

"""Gated recurrent units: all steps of a layer, forward and backward."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

from mt_cuda.recurrent.steps import (
    Step,
    Steps,
    at,
    fits,
    gate,
    gradient_of_weight,
    whole,
)
from mt_cuda.tensors import elements_of, new, ops_of, tensor_of
from mt_tensor import DType, Tensor
from mt_tensor.extending import FusedKernel

# --- Kernels ------------------------------------------------------------------------------------


def gru_step(dtype: DType, lengths: bool, biased: bool = False) -> Step:
    """Return the kernel of a step, from the products with input and state.

    It writes reset, update and candidate after their activations, and what reset is multiplied
    with; and the state. Products with the state may have a bias.
    """
    names = ("projected", "products", *("bias",) * biased, "hidden", "gates", "states")
    step = Step("gru_step" + "_bias" * biased, dtype, names, lengths)
    for number, name in enumerate(("reset", "update", "candidate")):
        step.read("by_input", "projected", gate(number, 3))
        step.read("by_state", "products", gate(number, 3))
        if biased:
            step.read("more", "bias", f"{number} * width + j").let("by_state", "by_state + more")
        total = "by_input + by_state"
        value = (
            "math.tanh(by_input + reset * by_state)" if name == "candidate" else step.sigmoid(total)
        )
        step.let(name, value).write("gates", name, gate(number, 4))
    step.write("gates", "by_state", gate(3, 4)).read("before", "hidden")
    return step.write(
        "states", step.if_going_on("candidate + update * (before - candidate)", "before")
    )


def gru_gradient_step(dtype: DType, lengths: bool) -> Step:
    """Return the kernel of a step back.

    The gradient of the state is the sum of that from outside, that through the products of the step
    done before, and what is `carried` past them.
    """
    names = ("grad", "by_products", "hidden", "gates", "carried", "of_products", "of_projected")
    step = Step("gru_gradient_step", dtype, names, lengths)
    for number, name in enumerate(("reset", "update", "candidate", "recurrent")):
        step.read(name, "gates", gate(number, 4))
    step.read("from_outside", "grad").read("from_later", "by_products").read("passed", "carried")
    step.read("before", "hidden").let("total", "from_outside + from_later + passed")
    step.let(
        "of_candidate", f"total * ({step.one} - update) * ({step.one} - candidate * candidate)"
    )
    step.let("of_reset", f"of_candidate * recurrent * reset * ({step.one} - reset)")
    step.let("of_update", f"total * (before - candidate) * update * ({step.one} - update)")
    for number, name in enumerate(("of_reset", "of_update", "of_candidate")):
        product = "of_candidate * reset" if name == "of_candidate" else name
        step.write("of_products", step.if_going_on(product, step.zero), gate(number, 3))
        step.write("of_projected", step.if_going_on(name, step.zero), gate(number, 3))
    return step.write("carried", step.if_going_on("total * update", "total"))


_STEPS = {False: gru_step, True: functools.partial(gru_step, biased=True)}
"""The kernel of a step, by whether there is a bias."""

# --- The operation on tensors -------------------------------------------------------------------


class GatedRecurrentUnit(FusedKernel):
    """Products with inputs, first state, weight, bias, lengths, and whether it runs backwards."""

    def fits(self, *arguments: Any) -> bool:
        """Leave mixed types to others."""
        projected, hidden, weight, bias, lengths, _ = arguments
        return fits(projected, hidden, lengths, weight, bias)

    def value(self, needs: Sequence[bool], *arguments: Any) -> tuple[Tensor, tuple[Any, ...]]:
        """Return the state after each step."""
        projected, hidden, weight, bias, lengths, backwards = arguments
        ops, steps = ops_of(projected), Steps(projected, hidden, lengths, backwards)
        (count, batch, _), width = projected.shape, hidden.shape[1]
        products, turned = elements_of(projected), weight._tensor.permute(1, 0)
        biases = [] if bias is None else [elements_of(bias)]
        states = new(hidden, (count, batch, width))
        gates = new(hidden, (count if True in needs else 1, batch, 4 * width))
        for time, before in steps.times():
            previous = elements_of(hidden) if before is None else at(states, before)
            views = [at(products, time), ops.matmul(previous, turned), *biases, previous]
            views += [at(gates, time), at(states, time)]
            steps.launch(_STEPS[bias is not None], time, views)
        result = whole(states, hidden)
        return result, (result if count > 1 else None, gates)

    def gradient(
        self, grad: Tensor, saved: tuple[Any, ...], needs: Sequence[bool], *arguments: Any
    ) -> Sequence[Tensor | None]:
        """Return the gradients of products, first state, weight and bias."""
        projected, hidden, weight, _, lengths, backwards = arguments
        result, gates = saved
        ops, steps = ops_of(projected), Steps(projected, hidden, lengths, backwards)
        given, states = elements_of(grad), None if result is None else elements_of(result)
        of_products, of_projected = (new(hidden, projected.shape) for _ in range(2))
        by_products, carried = (ops.full(hidden.shape, hidden.dtype, 0) for _ in range(2))
        for time, before in steps.times(back=True):
            previous = elements_of(hidden)
            if before is not None and states is not None:
                previous = at(states, before)
            views = [at(given, time), by_products, previous, at(gates, time), carried]
            views += [at(of_products, time), at(of_projected, time)]
            steps.launch(gru_gradient_step, time, views)
            by_products = ops.matmul(at(of_products, time), weight._tensor)
        of_weight = of_bias = None
        if needs[2]:
            of_weight = gradient_of_weight(of_products, hidden, result, backwards)
        if needs[3]:
            of_bias = whole(of_products, hidden).sum((0, 1))
        of_hidden = tensor_of(by_products, hidden) + tensor_of(carried, hidden)
        return whole(of_projected, hidden), of_hidden, of_weight, of_bias, None, None


KERNELS = {"gru": GatedRecurrentUnit()}
"""For `mt_tensor.extending.register_kernels`."""

"""Plain recurrent networks: all steps of a layer, forward and backward."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

from mt_cuda.recurrent.steps import Step, Steps, at, fits, gradient_of_weight, whole
from mt_cuda.tensors import elements_of, new, ops_of, tensor_of
from mt_tensor import DType, Tensor
from mt_tensor.extending import FusedKernel

# --- Kernels ------------------------------------------------------------------------------------


def rnn_step(dtype: DType, lengths: bool, is_relu: bool) -> Step:
    """Return the kernel of a step, from the products with input and state."""
    name, names = _named("rnn_step", is_relu), ("projected", "products", "hidden", "states")
    step = Step(name, dtype, names, lengths)
    step.read("by_input", "projected").read("by_state", "products").read("before", "hidden")
    step.let("total", "by_input + by_state")
    positive = f"total if (total >= {step.zero}) | (total != total) else {step.zero}"
    step.let("after", positive if is_relu else "math.tanh(total)")
    return step.write("states", step.if_going_on("after", "before"))


def rnn_gradient_step(dtype: DType, lengths: bool, is_relu: bool) -> Step:
    """Return the kernel of a step back.

    The gradient of the state is the sum of that from outside, that through the products of the step
    done before, and, of sequences that lack steps, what is `carried` past them.
    """
    names = ("grad", "by_products", "states", *("carried",) * lengths, "of_products")
    step = Step(_named("rnn_gradient_step", is_relu), dtype, names, lengths)
    step.read("from_outside", "grad").read("from_later", "by_products").read("state", "states")
    step.let("total", "from_outside + from_later")
    if lengths:
        step.read("passed", "carried").let("total", "total + passed")
        step.write("carried", step.if_going_on(step.zero, "total"))
    tangent = f"{step.one} - state * state"
    choice = f"{step.one} if state > {step.zero} else {step.zero}"
    step.let("slope", choice if is_relu else tangent)
    return step.write("of_products", step.if_going_on("total * slope", step.zero))


def _named(name: str, is_relu: bool) -> str:
    return f"{name}_{'relu' if is_relu else 'tanh'}"


_FORWARD, _BACKWARD = (
    {is_relu: functools.partial(step, is_relu=is_relu) for is_relu in (False, True)}
    for step in (rnn_step, rnn_gradient_step)
)

# --- The operation on tensors -------------------------------------------------------------------


class PlainRecurrence(FusedKernel):
    """Products with inputs, first state, weight, lengths, whether backwards, whether with relu."""

    def fits(self, *arguments: Any) -> bool:
        """Leave mixed types to others."""
        projected, hidden, weight, lengths, *_ = arguments
        return fits(projected, hidden, lengths, weight)

    def value(self, needs: Sequence[bool], *arguments: Any) -> tuple[Tensor, tuple[Any, ...]]:
        """Return the state after each step."""
        projected, hidden, weight, lengths, backwards, is_relu = arguments
        ops, steps = ops_of(projected), Steps(projected, hidden, lengths, backwards)
        products, turned = elements_of(projected), weight._tensor.permute(1, 0)
        states = new(hidden, projected.shape)
        for time, before in steps.times():
            previous = elements_of(hidden) if before is None else at(states, before)
            views = [at(products, time), ops.matmul(previous, turned), previous, at(states, time)]
            steps.launch(_FORWARD[is_relu], time, views)
        result = whole(states, hidden)
        return result, (result,)

    def gradient(
        self, grad: Tensor, saved: tuple[Any, ...], needs: Sequence[bool], *arguments: Any
    ) -> Sequence[Tensor | None]:
        """Return the gradients of products, first state and weight."""
        projected, hidden, weight, lengths, backwards, is_relu = arguments
        (result,) = saved
        ops, steps = ops_of(projected), Steps(projected, hidden, lengths, backwards)
        given, states, of_products = elements_of(grad), elements_of(result), new(result)
        by_products = ops.full(hidden.shape, hidden.dtype, 0)
        carried = [] if lengths is None else [ops.full(hidden.shape, hidden.dtype, 0)]
        for time, _ in steps.times(back=True):
            views = [at(given, time), by_products, at(states, time), *carried]
            steps.launch(_BACKWARD[is_relu], time, [*views, at(of_products, time)])
            by_products = ops.matmul(at(of_products, time), weight._tensor)
        of_hidden, of_weight = tensor_of(by_products, hidden), None
        if carried:
            of_hidden = of_hidden + tensor_of(carried[0], hidden)
        if needs[2]:
            of_weight = gradient_of_weight(of_products, hidden, result, backwards)
        return whole(of_products, hidden), of_hidden, of_weight, None, None, None


KERNELS = {"rnn": PlainRecurrence()}
"""For `mt_tensor.extending.register_kernels`."""

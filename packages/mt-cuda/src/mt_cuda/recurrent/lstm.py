"""Long short-term memory: all steps of a layer, forward and backward."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mt_cuda.recurrent.steps import Step, Steps, at, fits, gate, gradient_of_weight, whole
from mt_cuda.tensors import elements_of, new, ops_of, tensor_of
from mt_tensor import DType, Tensor
from mt_tensor.extending import FusedKernel

# --- Kernels ------------------------------------------------------------------------------------

GATES = ("input", "forget", "candidate", "output")
"""The gates of a feature, in the order of their products."""


def lstm_step(dtype: DType, lengths: bool) -> Step:
    """Return the kernel of a step, from the products with input and state.

    It writes the gates after their activations; the cell state, which is also `last`; and the
    hidden state.
    """
    read = ("projected", "products", "hidden", "cell")
    step = Step("lstm_step", dtype, (*read, "gates", "cells", "last", "states"), lengths)
    for number, name in enumerate(GATES):
        step.read("by_input", "projected", gate(number, 4))
        step.read("by_state", "products", gate(number, 4))
        total = "by_input + by_state"
        step.let(name, f"math.tanh({total})" if name == "candidate" else step.sigmoid(total))
        step.write("gates", name, gate(number, 4))
    step.read("cell_before", "cell").read("hidden_before", "hidden")
    step.let("after", step.if_going_on("forget * cell_before + input * candidate", "cell_before"))
    step.let("shown", step.if_going_on("output * math.tanh(after)", "hidden_before"))
    return step.write("cells", "after").write("last", "after").write("states", "shown")


def lstm_gradient_step(dtype: DType, lengths: bool) -> Step:
    """Return the kernel of a step back.

    The gradient of the hidden state is the sum of that from outside, that through the products of
    the step done before, and, of sequences that lack steps, what is `carried` past them.
    """
    read = ("grad", "by_products", "of_cell_after", "gates", "cell", "cells")
    names = (*read, *("carried",) * lengths, "of_cell", "of_gates")
    step = Step("lstm_gradient_step", dtype, names, lengths)
    for number, name in enumerate(GATES):
        step.read(name, "gates", gate(number, 4))
    step.read("from_outside", "grad").read("from_later", "by_products")
    step.let("of_hidden", "from_outside + from_later")
    if lengths:
        step.read("passed", "carried").let("of_hidden", "of_hidden + passed")
        step.write("carried", step.if_going_on(step.zero, "of_hidden"))
    step.read("before", "cell").read("after", "cells").let("squashed", "math.tanh(after)")
    step.read("of_after", "of_cell_after")
    slope = f"({step.one} - squashed * squashed)"
    step.let("total", f"of_after + of_hidden * output * {slope}")
    gradients = (
        f"total * candidate * input * ({step.one} - input)",
        f"total * before * forget * ({step.one} - forget)",
        f"total * input * ({step.one} - candidate * candidate)",
        f"of_hidden * squashed * output * ({step.one} - output)",
    )
    for number, gradient in enumerate(gradients):
        step.write("of_gates", step.if_going_on(gradient, step.zero), gate(number, 4))
    return step.write("of_cell", step.if_going_on("total * forget", "of_after"))


# --- The operation on tensors -------------------------------------------------------------------


class LongShortTermMemory(FusedKernel):
    """Products with inputs, both first states, weights, lengths, and whether it runs backwards."""

    def fits(self, *arguments: Any) -> bool:
        """Leave hidden states of fewer features, and mixed types, to others."""
        projected, hidden, cell, weight, shrink, lengths, _ = arguments
        return shrink is None and fits(projected, hidden, lengths, cell, weight)

    def value(self, needs: Sequence[bool], *arguments: Any) -> tuple[Tensor, tuple[Any, ...]]:
        """Return the hidden state after each step, and the cell state after the last."""
        projected, hidden, cell, weight, _, lengths, backwards = arguments
        ops, steps = ops_of(projected), Steps(projected, hidden, lengths, backwards)
        count, shape = len(projected), hidden.shape
        kept = count if True in needs else 0
        products, turned = elements_of(projected), weight._tensor.permute(1, 0)
        result = new(hidden, (count + 1, *shape))
        cells = new(hidden, (kept or 2, *shape))
        gates = new(hidden, (kept or 1, *projected.shape[1:]))
        first = elements_of(hidden), elements_of(cell)
        for time, before in steps.times():
            states = first
            if before is not None:
                states = at(result, before), at(cells, before)
            views = [at(products, time), ops.matmul(states[0], turned), *states]
            written = [at(gates, time), at(cells, time)]
            steps.launch(lstm_step, time, [*views, *written, at(result, count), at(result, time)])
        flat = whole(result, hidden, (result.size,))
        return flat, (flat if count > 1 else None, cells, gates)

    def gradient(
        self, grad: Tensor, saved: tuple[Any, ...], needs: Sequence[bool], *arguments: Any
    ) -> Sequence[Tensor | None]:
        """Return the gradients of products, both first states and the weight."""
        projected, hidden, cell, weight, _, lengths, backwards = arguments
        result, cells, gates = saved
        ops, steps = ops_of(projected), Steps(projected, hidden, lengths, backwards)
        count, shape = len(projected), hidden.shape
        both = (count + 1, *shape)
        given = elements_of(grad.reshape(*both))
        of_gates, of_cell = new(hidden, projected.shape), new(hidden, shape)
        by_products = ops.full(shape, hidden.dtype, 0)
        carried = [] if lengths is None else [ops.full(shape, hidden.dtype, 0)]
        of_after = at(given, count)
        for time, before in steps.times(back=True):
            previous = elements_of(cell) if before is None else at(cells, before)
            views = [at(given, time), by_products, of_after, at(gates, time), previous]
            written = [*carried, of_cell, at(of_gates, time)]
            steps.launch(lstm_gradient_step, time, [*views, at(cells, time), *written])
            by_products, of_after = ops.matmul(at(of_gates, time), weight._tensor), of_cell
        of_hidden, of_weight = tensor_of(by_products, hidden), None
        if carried:
            of_hidden = of_hidden + tensor_of(carried[0], hidden)
        if needs[3]:
            states = None if result is None else result.view(*both)[:-1]
            of_weight = gradient_of_weight(of_gates, hidden, states, backwards)
        of_products = whole(of_gates, hidden)
        return of_products, of_hidden, tensor_of(of_cell, hidden), of_weight, None, None, None


KERNELS = {"lstm": LongShortTermMemory()}
"""For `mt_tensor.extending.register_kernels`."""

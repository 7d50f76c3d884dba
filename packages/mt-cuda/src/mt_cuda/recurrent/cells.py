"""The cells of recurrent layers: the kernels of a step of each, forward and backward.

Operands have the same names in all cells: `projected` and `products` are the products with the
input and with the hidden state, `hidden` and `cell` the states before a step, `states` and `cells`
the states after it, and `gates` the values that the backward step reads. Backward, `grad` is the
upstream gradient of the hidden state, and `by_products` the gradient through the products of the
following step; `carried` is the gradient that does not flow through the products.
"""

from __future__ import annotations

from mt_cuda.recurrent.steps import Step, gate
from mt_tensor import DType

# --- Plain networks -----------------------------------------------------------------------------


def rnn_step(dtype: DType, lengths: bool, is_relu: bool = False) -> Step:
    """Return the kernel of a step, from the products with input and hidden state."""
    name, names = _named("rnn_step", is_relu), ("projected", "products", "hidden", "states")
    step = Step(name, dtype, names, lengths)
    step.read("by_input", "projected").read("by_state", "products").read("before", "hidden")
    step.let("total", "by_input + by_state")
    positive = f"total if (total >= {step.zero}) | (total != total) else {step.zero}"
    step.let("after", positive if is_relu else "math.tanh(total)")
    return step.write("states", step.masked("after", "before"))


def rnn_gradient_step(dtype: DType, lengths: bool, is_relu: bool = False) -> Step:
    """Return the kernel of a backward step.

    The gradient of the hidden state is the sum of the upstream gradient, the gradient through the
    products of the following step, and, for sequences that have ended, the gradient that is
    `carried`.
    """
    names = ("grad", "by_products", "states", *("carried",) * lengths, "of_products")
    step = Step(_named("rnn_gradient_step", is_relu), dtype, names, lengths)
    step.read("upstream", "grad").read("through_products", "by_products").read("state", "states")
    step.let("total", "upstream + through_products")
    if lengths:
        step.read("past_products", "carried").let("total", "total + past_products")
        step.write("carried", step.masked(step.zero, "total"))
    tangent = f"{step.one} - state * state"
    choice = f"{step.one} if state > {step.zero} else {step.zero}"
    step.let("slope", choice if is_relu else tangent)
    return step.write("of_products", step.masked("total * slope", step.zero))


def _named(name: str, is_relu: bool) -> str:
    return f"{name}_{'relu' if is_relu else 'tanh'}"


# --- Gated recurrent units ----------------------------------------------------------------------


def gru_step(dtype: DType, lengths: bool, bias: bool = False) -> Step:
    """Return the kernel of a step, from the products with input and hidden state.

    It writes reset, update and candidate after their activations, the factor of reset, and the
    hidden state. Products with the hidden state may have a bias.
    """
    names = ("projected", "products", *("bias",) * bias, "hidden", "gates", "states")
    step = Step("gru_step" + "_bias" * bias, dtype, names, lengths)
    for number, name in enumerate(("reset", "update", "candidate")):
        step.read("by_input", "projected", gate(number, 3))
        step.read("by_state", "products", gate(number, 3))
        if bias:
            step.read("more", "bias", f"{number} * width + j").let("by_state", "by_state + more")
        total = "by_input + by_state"
        value = (
            "math.tanh(by_input + reset * by_state)" if name == "candidate" else step.sigmoid(total)
        )
        step.let(name, value).write("gates", name, gate(number, 4))
    step.write("gates", "by_state", gate(3, 4)).read("before", "hidden")
    return step.write("states", step.masked("candidate + update * (before - candidate)", "before"))


def gru_gradient_step(dtype: DType, lengths: bool) -> Step:
    """Return the kernel of a backward step.

    The gradient of the hidden state is the sum of the upstream gradient, the gradient through the
    products of the following step, and the gradient that is `carried`.
    """
    names = ("grad", "by_products", "hidden", "gates", "carried", "of_products", "of_projected")
    step = Step("gru_gradient_step", dtype, names, lengths)
    for number, name in enumerate(("reset", "update", "candidate", "recurrent")):
        step.read(name, "gates", gate(number, 4))
    step.read("upstream", "grad").read("through_products", "by_products")
    step.read("past_products", "carried").read("before", "hidden")
    step.let("total", "upstream + through_products + past_products")
    step.let(
        "of_candidate", f"total * ({step.one} - update) * ({step.one} - candidate * candidate)"
    )
    step.let("of_reset", f"of_candidate * recurrent * reset * ({step.one} - reset)")
    step.let("of_update", f"total * (before - candidate) * update * ({step.one} - update)")
    for number, name in enumerate(("of_reset", "of_update", "of_candidate")):
        product = "of_candidate * reset" if name == "of_candidate" else name
        step.write("of_products", step.masked(product, step.zero), gate(number, 3))
        step.write("of_projected", step.masked(name, step.zero), gate(number, 3))
    return step.write("carried", step.masked("total * update", "total"))


# --- Long short-term memory ---------------------------------------------------------------------

GATES = ("input", "forget", "candidate", "output")
"""The gates of a feature, in the order of their products."""


def lstm_step(dtype: DType, lengths: bool) -> Step:
    """Return the kernel of a step, from the products with input and hidden state.

    It writes the activated gates; the cell state, which is also `last`; and the hidden state.
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
    step.let("after", step.masked("forget * cell_before + input * candidate", "cell_before"))
    step.let("hidden_after", step.masked("output * math.tanh(after)", "hidden_before"))
    return step.write("cells", "after").write("last", "after").write("states", "hidden_after")


def lstm_gradient_step(dtype: DType, lengths: bool) -> Step:
    """Return the kernel of a backward step.

    The gradient of the hidden state is the sum of the upstream gradient, the gradient through the
    products of the following step, and, for sequences that have ended, the gradient that is
    `carried`.
    """
    read = ("grad", "by_products", "of_cell_after", "gates", "cell", "cells")
    names = (*read, *("carried",) * lengths, "of_cell", "of_products")
    step = Step("lstm_gradient_step", dtype, names, lengths)
    for number, name in enumerate(GATES):
        step.read(name, "gates", gate(number, 4))
    step.read("upstream", "grad").read("through_products", "by_products")
    step.let("of_hidden", "upstream + through_products")
    if lengths:
        step.read("past_products", "carried").let("of_hidden", "of_hidden + past_products")
        step.write("carried", step.masked(step.zero, "of_hidden"))
    step.read("before", "cell").read("after", "cells").let("tanh_of_cell", "math.tanh(after)")
    step.read("of_after", "of_cell_after")
    slope = f"({step.one} - tanh_of_cell * tanh_of_cell)"
    step.let("total", f"of_after + of_hidden * output * {slope}")
    gradients = (
        f"total * candidate * input * ({step.one} - input)",
        f"total * before * forget * ({step.one} - forget)",
        f"total * input * ({step.one} - candidate * candidate)",
        f"of_hidden * tanh_of_cell * output * ({step.one} - output)",
    )
    for number, gradient in enumerate(gradients):
        step.write("of_products", step.masked(gradient, step.zero), gate(number, 4))
    return step.write("of_cell", step.masked("total * forget", "of_after"))

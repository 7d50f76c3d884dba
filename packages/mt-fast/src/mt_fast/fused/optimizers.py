"""Steps of optimizers: one pass over a parameter, its gradient and what is remembered of it.

Composed, Adam reads and writes memory some twenty times for each parameter; that is all it costs.

Kernels read all that they need of a parameter before they write. To a processor, addresses look
alike for a while if they differ by a multiple of 4096, as those of large arrays do that begin at a
page. A read would wait for the write before it, which seems to be to the same place: three times
as long for each step.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mt_fast.compilation.kernel import Kernel
from mt_fast.fused.arrays import array_of, is_compiled, shared
from mt_tensor import Tensor
from mt_tensor.fused import FUSED

# --- Kernels on rows ----------------------------------------------------------------------------


def _sgd(
    lo: Any,
    hi: Any,
    parameter: Any,
    grad: Any,
    velocity: Any,
    lr: Any,
    momentum: Any,
    dampening: Any,
    weight_decay: Any,
    nesterov: Any,
) -> None:
    """Move parameters, and the velocity if there is one."""
    number = parameter.dtype.type
    rate, decay = number(lr), number(weight_decay)
    kept, taken = number(momentum), number(1.0 - dampening)
    x, g = parameter[lo:hi], grad[lo:hi]
    if not velocity.size:
        for i in range(x.size):
            x[i] -= rate * (g[i] + decay * x[i])
        return
    v = velocity[lo:hi]
    for i in range(x.size):
        place = x[i]
        slope = g[i] + decay * place
        speed = kept * v[i] + taken * slope
        v[i] = speed
        x[i] = place - rate * (slope + kept * speed if nesterov else speed)


def _adam(
    lo: Any,
    hi: Any,
    parameter: Any,
    grad: Any,
    mean: Any,
    square: Any,
    step: Any,
    lr: Any,
    beta1: Any,
    beta2: Any,
    eps: Any,
    weight_decay: Any,
    decoupled: Any,
) -> None:
    """Move parameters and both averages."""
    number = parameter.dtype.type
    b1, rest1, b2, rest2 = number(beta1), number(1 - beta1), number(beta2), number(1 - beta2)
    small = number(eps)
    decay = number(0.0 if decoupled else weight_decay)
    kept = number(1.0 - lr * weight_decay if decoupled else 1.0)
    rate = number(lr / (1 - beta1**step))
    scale = number(1.0 / (1 - beta2**step))
    x, g, m, s = parameter[lo:hi], grad[lo:hi], mean[lo:hi], square[lo:hi]
    for i in range(x.size):
        place = kept * x[i]
        slope = g[i] + decay * place
        first = b1 * m[i] + rest1 * slope
        second = b2 * s[i] + rest2 * (slope * slope)
        m[i] = first
        s[i] = second
        x[i] = place - rate * first / (np.sqrt(second * scale) + small)


# --- Steps on tensors -----------------------------------------------------------------------------


def _step(name: str, kernel: Kernel, changed: int) -> Callable[..., Tensor]:
    """Return a step by a kernel.

    Args:
        name: the operation.
        kernel: takes rows of a parameter, its gradient and more tensors, and then numbers.
        changed: how many tensors are given besides the gradient, the parameter and those after the
            gradient. All are changed in place; None stands for one that is not there.
    """

    def step(parameter: Tensor, grad: Tensor, *others: Any) -> Tensor:
        memory, numbers = (parameter, *others[: changed - 1]), others[changed - 1 :]
        dtype = parameter.dtype
        if grad.dtype is not dtype or not is_compiled(parameter):
            return FUSED[name](parameter, grad, *others)
        rows = []
        for tensor in memory:
            if tensor is None:
                rows.append(np.empty(0, dtype.numpy))
                continue
            data = tensor._tensor
            layout = data.layout
            if not layout.row_major or layout.dtype is not dtype:
                return FUSED[name](parameter, grad, *others)
            rows.append(data.array.reshape(-1))
        first, *rest = rows
        slopes = array_of(grad).reshape(-1)
        kernel.run(first.size, shared(first.size, parameter), first, slopes, *rest, *numbers)
        for tensor in memory:
            if tensor is not None:
                tensor._tensor.changed()
        return parameter

    return step


SGD_STEP = _step("sgd_step", Kernel.of(_sgd), 2)
ADAM_STEP = _step("adam_step", Kernel.of(_adam), 3)

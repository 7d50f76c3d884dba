"""Call the kernel of a formula for few elements with as little Python as possible.

Building a list of arguments takes as long as a kernel of a few hundred elements, so the call is
generated for each number of views.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from mt_fast.core.elementwise import Plan
from mt_fast.core.kernel import defined
from mt_fast.core.tables import SPECIAL_CASES
from mt_tensor import TensorData
from mt_tensor.backends.extending import Layout


def short_call(plan: Plan, out: Layout, inputs: int) -> Callable[..., Any] | None:
    """Return the function of `inputs` views that returns new views; None if it uses threads."""
    copies, outputs = plan.copies[:inputs], plan.copies[inputs:]
    if plan.parallel or len(plan.loop.calls) != 1 or any(outputs):
        return None
    ((units, sizes, starts),) = plan.loop.calls
    caller = _caller(inputs, len(outputs), len(sizes))
    call = caller(plan.kernel.serial, out, out.size, out.dtype.numpy, units, *sizes, *starts)
    return (lambda *xs: call(*plan.readable(xs, out.shape))) if any(copies) else call


@functools.cache
def _caller(inputs: int, outputs: int, before: int) -> Callable[..., Any]:
    """Return a factory for `short_call`, which takes the constant arguments of the kernel."""
    xs, ys = [f"x{i}" for i in range(inputs)], [f"y{i}" for i in range(outputs)]
    sizes = [f"sizes{i}" for i in range(before)]
    starts = [f"{view}_place" for view in (*xs, *ys)]
    storages = [f"{x}.storage" for x in xs] + ys
    pairs = [part for pair in zip(storages, starts, strict=True) for part in pair]
    views = [f"view({y}, out)" for y in ys]
    text = f"""
def caller(serial, out, size, dtype, units, {", ".join((*sizes, *starts))}):
    def run({", ".join(xs)}):
        {"; ".join(f"{y} = empty(size, dtype)" for y in ys)}
        serial(0, units, {", ".join((*sizes, *pairs))})
        return {views[0] if outputs == 1 else f"[{', '.join(views)}]"}
    return run
"""
    return defined("caller", text, {"empty": np.empty, "view": TensorData.of_storage})  # type: ignore[no-any-return]


SPECIAL_CASES["call"] = short_call

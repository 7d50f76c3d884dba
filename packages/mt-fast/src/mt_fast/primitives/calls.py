"""How a formula of tensors that lie in a row is computed: with one call of its kernel.

Working out how loops may run over any layout (`loops.py`) takes ten times as long as adding eight
numbers. Most tensors are contiguous and of one shape, or one element over and over; for these the
code below, written out for each number of inputs and outputs, goes straight to the kernel. A single
step that rounds once is NumPy's while it is small: the call of its function is shorter still.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from mt_fast.compilation.kernel import defined
from mt_fast.memory import empty
from mt_fast.primitives.elementwise import elementwise_kernel
from mt_operators import OPERATORS, Formula, TracingError
from mt_operators.evaluation import expanded
from mt_tensor import DType, TensorData, float16
from mt_tensor.backends.extending import UFUNCS, calls, numpy_function, row_major


def calling(formula: Formula, backend: Any, general: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function of views, the shape that they broadcast to, and the dtype of the results.

    Args:
        formula: what to compute.
        backend: from its number of elements `parallel_from` on, all threads are used.
        general: the same for any views: a function of the inputs as a tuple, shape and dtype.
    """
    kernels = _calling_kernels(formula, backend, general)
    if not _is_exact(formula):
        return kernels

    def lift(*inputs: TensorData) -> Callable[..., Any]:
        types = tuple([data.dtype for data in inputs])
        return lifted.setdefault(types, numpy_function(formula, UFUNCS, types[0].numpy))

    lifted: dict[tuple[DType, ...], Callable[..., Any]] = {}
    ufunc = EXACT.get(formula)
    larger = (backend, kernels)
    return calls.calling(formula.arity, formula.outputs, ufunc, lifted, lift, larger)


EXACT_STEPS = {
    *("add", "sub", "mul", "div", "neg", "abs", "square", "sqrt"),
    *("lt", "le", "gt", "ge", "eq", "ne", "isnan", "isinf", "isfinite"),
}
"""Operators that round once. Of these NumPy has the same bits as a kernel, and a shorter call."""

EXACT = {OPERATORS[name].value: UFUNCS[name] for name in EXACT_STEPS}
"""The ufuncs of these operators, by what they compute."""


def _is_exact(formula: Formula) -> bool:
    """Whether each result is one such operator of arguments, as in the gradient of a product."""
    if formula in EXACT:
        return True
    try:
        steps = expanded(formula.graph).expressions[formula.arity :]
    except TracingError:  # which the kernel will raise, if it is asked for
        return False
    return len(steps) == formula.outputs and all(step.operation in EXACT_STEPS for step in steps)


def _calling_kernels(
    formula: Formula, backend: Any, general: Callable[..., Any]
) -> Callable[..., Any]:
    """Return the same by kernels alone."""

    def find(types: tuple[DType, ...], repeats: tuple[bool, ...], dtype: DType) -> Any:
        """Return the kernel, or None if there is none for these types."""
        if float16 in (*types, dtype):
            return None
        outputs = (dtype,) * formula.outputs
        return elementwise_kernel(formula, types, outputs, "flat", repeats)

    maker = _maker(formula.arity, formula.outputs)
    call: Callable[..., Any] = maker(find, backend, general)
    return call


@functools.cache
def _maker(arity: int, outputs: int) -> Callable[..., Callable[..., Any]]:
    """Return the maker of calls with this many inputs and outputs."""
    namespace: dict[str, Any] = {
        "TensorData": TensorData,
        "empty": empty,
        "new": object.__new__,
        "row_major": row_major,
        "small": np.empty,
    }
    name = f"calls_of_{arity}_with_{outputs}"
    maker: Callable[..., Callable[..., Any]] = defined(
        name, _source(name, arity, outputs), namespace
    )
    return maker


_CALL = """\
def {name}(find, backend, general):
    kernels = {{}}

    def call({inputs}, shape, dtype):
{whole}        if {fit}:
            key = ({types}, {flags}, dtype)
            if key in kernels:
                kernel = kernels[key]
            else:
                kernel = kernels[key] = find(({types},), ({repeats},), dtype)
            layout = row_major(shape, dtype)
            size = layout.size
            if kernel is not None and size:
                numpy = dtype.numpy
                if size < backend.parallel_from:
{small}                    kernel.serial(0, size, {arguments}, {targets})
                else:
{large}                    kernel.run(size, True, {arguments}, {targets})
{views}                return {returned}
        return general(({inputs},), shape, dtype)

    return call
"""

_WHOLE = """\
        layout{i} = x{i}.layout
        whole{i} = layout{i}.row_major and layout{i}.shape == shape
"""

_ROOM = """\
                    {result} = {maker}(size, numpy)
"""

_VIEW = """\
                {view} = new(TensorData)
                {view}._storage = {result}
                if len(shape) == 1:
                    {view}._array = {result}
                {view}.layout = layout
                {view}._version = None
"""


def _source(name: str, arity: int, outputs: int) -> str:
    """Return the text of a call."""
    numbers = range(arity)
    inputs = [f"x{i}" for i in numbers]
    results = [f"result{i}" for i in range(outputs)]
    views = [f"view{i}" for i in range(outputs)]
    return _CALL.format(
        name=name,
        inputs=", ".join(inputs),
        whole="".join(_WHOLE.format(i=i) for i in numbers),
        fit=" and ".join(f"(whole{i} or layout{i}.repeats)" for i in numbers),
        types=", ".join(f"layout{i}.dtype" for i in numbers),
        flags=", ".join(f"whole{i}" for i in numbers),
        repeats=", ".join(f"not whole{i}" for i in numbers),
        small="".join(_ROOM.format(result=result, maker="small") for result in results),
        large="".join(_ROOM.format(result=result, maker="empty") for result in results),
        arguments=", ".join(f"x{i}.storage, layout{i}.offset" for i in numbers),
        targets=", ".join(f"{result}, 0" for result in results),
        views="".join(
            _VIEW.format(view=view, result=result)
            for view, result in zip(views, results, strict=True)
        ),
        returned=views[0] if outputs == 1 else f"[{', '.join(views)}]",
    )

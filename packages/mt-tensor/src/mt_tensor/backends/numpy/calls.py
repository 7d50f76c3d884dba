"""How the `numpy` backend calls a function of arrays: views go in, new views come out.

For a small tensor most of an operation's time goes into what surrounds NumPy's own work. So that is
written out here for each number of inputs and outputs, without loops and further calls; with them
the gradients of a product would take twice as long.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from mt_tensor.backends.silence import run_quietly, silently
from mt_tensor.dtypes import Array, DType
from mt_tensor.layout import row_major
from mt_tensor.strides import Shape
from mt_tensor.tensor_data import TensorData


def fitted(result: Any, shape: Shape, dtype: DType) -> Array:
    """Return what a function returned, in a copy if it is not just the array that is wanted."""
    array: Array = np.asarray(result)  # NumPy's functions of 0-D arrays return scalars
    if (
        array.shape == shape
        and array.dtype is dtype.numpy
        and (len(shape) < 2 or array.flags.c_contiguous)
    ):
        return array
    copied = np.empty(shape, dtype.numpy)
    silently(np.copyto, copied, array, casting="unsafe")
    return copied


def calling(
    arity: int,
    outputs: int,
    function: Callable[..., Any] | None,
    lifted: Mapping[tuple[DType, ...], Callable[..., Any]] | None = None,
    lift: Callable[..., Callable[..., Any]] | None = None,
    larger: tuple[Any, Callable[..., Any]] | None = None,
) -> Callable[..., Any]:
    """Return a function of views, the shape that they broadcast to, and the dtype of the results.

    Args:
        arity: the number of inputs.
        outputs: the number of results: of several it returns a list.
        function: a function of arrays, whose result has the shape that its inputs broadcast to.
        lifted: if there is none, functions by the types of the inputs.
        lift: what makes one of these, if it is not there yet, from the inputs.
        larger: a backend, and the function to which results of `parallel_from` elements are left.
    """
    maker = _maker(arity, outputs, function is not None, larger is not None)
    made: Callable[..., Any] = maker(function, lifted, lift, *(larger or (None, None)))
    return made


@functools.cache
def _maker(
    arity: int, outputs: int, known: bool, limited: bool
) -> Callable[..., Callable[..., Any]]:
    """Return the maker of calls with this many inputs and outputs."""
    namespace: dict[str, Any] = {
        "TensorData": TensorData,
        "fitted": fitted,
        "ndarray": np.ndarray,
        "new": object.__new__,
        "row_major": row_major,
        "run_quietly": run_quietly,
        "silently": silently,
    }
    source = _source(arity, outputs, known, limited)
    exec(compile(source, f"<call with {arity} inputs and {outputs} outputs>", "exec"), namespace)
    maker: Callable[..., Callable[..., Any]] = namespace["maker"]
    return maker


_CALL = """\
def maker(function, lifted, lift, backend, larger):
    def call({inputs}, shape, dtype):
        layout = x0.layout
        alike = layout.from_start and layout.dtype is dtype and layout.shape == shape{others}
        if not alike:
            layout = row_major(shape, dtype)
{limit}{lookup}        try:
            if alike:
                {results} = run_quietly(function, {known})
            else:
                {results} = run_quietly(function, {arrays})
        except (RuntimeError, AttributeError):  # as in `silently`; or an array is not there yet
            {results} = silently(function, {arrays})
{kept}        return {returned}

    return call
"""

_LIMIT = """\
        if layout.size >= backend.parallel_from:
            return larger({inputs}, shape, dtype)
"""

_LOOKUP = """\
        function = lifted.get(({types},)) or lift({inputs})
"""

_KEPT = """\
        if {unchecked}(
            {result}.__class__ is not ndarray
            or {result}.dtype is not dtype.numpy
            or {result}.shape != shape
            or (len(shape) > 1 and not {result}.flags.c_contiguous)
        ):
            {result} = fitted({result}, shape, dtype)
        {view} = new(TensorData)  # as in `TensorData.of`
        {view}._array = {result}
        {view}.layout = layout
        {view}._storage = {view}._version = None
"""

_UNCHECKED = "not (alike and shape) and "
"""Of arrays that are alike NumPy's functions make another such one, or a scalar if it has no
dimension. A formula may hold numbers alone, or leave out what is as large as the result."""


def _source(arity: int, outputs: int, known: bool, limited: bool) -> str:
    """Return the text of a call."""
    inputs = [f"x{i}" for i in range(arity)]
    results = [f"result{i}" for i in range(outputs)]
    views = [f"view{i}" for i in range(outputs)]
    types = ", ".join(f"{x}.layout.dtype" for x in inputs)
    return _CALL.format(
        inputs=", ".join(inputs),
        others="".join(f" and {x}.layout is layout" for x in inputs[1:]),
        arrays=", ".join(f"{x}.array" for x in inputs),
        known=", ".join(f"{x}._array" for x in inputs),
        results=", ".join(results),
        limit=_LIMIT.format(inputs=", ".join(inputs)) if limited else "",
        lookup="" if known else _LOOKUP.format(types=types, inputs=", ".join(inputs)),
        kept="".join(
            _KEPT.format(result=result, view=view, unchecked=_UNCHECKED if known else "")
            for result, view in zip(results, views, strict=True)
        ),
        returned=views[0] if outputs == 1 else f"[{', '.join(views)}]",
    )

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
    lifted: Mapping[tuple[DType, ...], Callable[..., Any]],
    lift: Callable[..., Callable[..., Any]],
) -> Callable[..., Any]:
    """Return a function of views, the shape that they broadcast to, and the dtype of the results.

    Args:
        arity: the number of inputs.
        outputs: the number of results: of several it returns a list.
        function: a function of arrays, whose result has the shape that its inputs broadcast to.
        lifted: if there is none, functions by the types of the inputs.
        lift: what makes one of these, if it is not there yet, from the inputs.
    """
    made: Callable[..., Any] = _maker(arity, outputs, function is not None)(function, lifted, lift)
    return made


@functools.cache
def _maker(arity: int, outputs: int, known: bool) -> Callable[..., Callable[..., Any]]:
    """Return the maker of calls with this many inputs and outputs."""
    namespace: dict[str, Any] = {
        "TensorData": TensorData,
        "fitted": fitted,
        "ndarray": np.ndarray,
        "new": object.__new__,
        "run_quietly": run_quietly,
        "silently": silently,
    }
    source = _source(arity, outputs, known)
    exec(compile(source, f"<call with {arity} inputs and {outputs} outputs>", "exec"), namespace)
    maker: Callable[..., Callable[..., Any]] = namespace["maker"]
    return maker


_CALL = """\
def maker(function, lifted, lift):
    def call({inputs}, shape, dtype):
{lookup}        try:
            {results} = run_quietly(function, {known})
        except (RuntimeError, AttributeError):  # as in `silently`; or an array is not there yet
            {results} = silently(function, {arrays})
{kept}        return {returned}

    return call
"""

_LOOKUP = """\
        function = lifted.get(({types},)) or lift({inputs})
"""

_KEPT = """\
        if (
            {result}.__class__ is not ndarray
            or {result}.dtype is not dtype.numpy
            or (len(shape) > 1 and not ({in_rows} or {result}.flags.c_contiguous)){other_shape}
        ):
            {result} = fitted({result}, shape, dtype)
        {view} = new(TensorData)  # as in `TensorData.of`
        {view}._array = {result}
        {view}.shape = shape
        {view}.dtype = dtype
        {view}._strides = {view}._version = None
        {view}.offset = 0
        {view}._repeats = False
"""


def _source(arity: int, outputs: int, known: bool) -> str:
    """Return the text of a call."""
    inputs = [f"x{i}" for i in range(arity)]
    results = [f"result{i}" for i in range(outputs)]
    views = [f"view{i}" for i in range(outputs)]
    types = ", ".join(f"{x}.dtype" for x in inputs)
    return _CALL.format(
        inputs=", ".join(inputs),
        arrays=", ".join(f"{x}.array" for x in inputs),
        known=", ".join(f"{x}._array" for x in inputs),
        results=", ".join(results),
        lookup="" if known else _LOOKUP.format(types=types, inputs=", ".join(inputs)),
        kept="".join(
            _KEPT.format(
                result=result,
                view=view,
                in_rows=" and ".join(f"{x}._strides is None" for x in inputs),
                # A formula may hold numbers alone, or leave out what is as large as the result.
                other_shape="" if known else f"\n            or {result}.shape != shape",
            )
            for result, view in zip(results, views, strict=True)
        ),
        returned=views[0] if outputs == 1 else f"[{', '.join(views)}]",
    )

"""The rows of the sample table and the functions that add them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

import mt_tensor as mt
from mt_tensor.core.dtypes import DTYPES, Array
from mt_tensor.testing.reference import reference

Shapes = tuple[tuple[int, ...], ...]


ARRAY_TYPES = tuple(name for name in DTYPES if name != "bfloat16")
"""The dtypes that NumPy also has."""

FLOATS = ("float16", "float32", "float64")
INTEGRAL = ("bool", "uint8", "int8", "int16", "int32", "int64")
_SAME = {name: name for name in (*FLOATS, *INTEGRAL)}
_SAME_FLOATS = {name: name for name in FLOATS}

PROMOTION: dict[str, dict[str, str]] = {
    "same": _SAME,
    "number": {name: name for name in _SAME if name != "bool"},
    "float": _SAME_FLOATS,
    "double": dict.fromkeys(_SAME, "float64"),
    "single": dict.fromkeys(_SAME, "float32"),
    "real": {**_SAME_FLOATS, **dict.fromkeys(INTEGRAL, "float32")},
    "real number": {**_SAME_FLOATS, **dict.fromkeys(INTEGRAL[1:], "float32")},
    "wide float": {name: name for name in FLOATS[1:]},
    "wide real": {**{name: name for name in FLOATS[1:]}, **dict.fromkeys(INTEGRAL, "float32")},
    "sum": {**_SAME_FLOATS, **dict.fromkeys(INTEGRAL, "int64")},
    "sum of numbers": {**_SAME_FLOATS, **dict.fromkeys(INTEGRAL[1:], "int64")},
    "sum of bool": {**_SAME, "bool": "int64"},
    "index": dict.fromkeys(_SAME, "int64"),
    "index of numbers": {name: "int64" for name in _SAME if name != "bool"},
    "bool or uint8": {**dict.fromkeys(_SAME, "bool"), "uint8": "uint8"},
    "bool": dict.fromkeys(_SAME, "bool"),
    "bool of numbers": {name: "bool" for name in _SAME if name != "bool"},
}
"""The dtype rules by name: the dtype of the result for each dtype of the arguments.

Dtypes that a rule does not list must raise an error.
"""


@dataclass(frozen=True)
class TensorOpSpec:
    """The test data of an operation on tensors.

    Attributes:
        name: the operation's public name.
        call: the operation, as a function of tensors.
        oracle: the expected value, as a function of float64 arrays.
        samples: the shapes of the arguments of each sample.
        differentiable: whether gradients are checked against finite differences.
        positive: whether the arguments are drawn positive.
        dtypes: the rule of `PROMOTION` for the dtype of the result.
        torch: the same operation as a function of torch tensors, if torch needs other code; or a
            string that says why the two are not compared.
        optional: whether a backend may lack the operation and raise ExchangeError.
    """

    name: str
    call: Callable[..., Any]
    oracle: Callable[..., Any]
    samples: tuple[Shapes, ...]
    differentiable: bool = True
    positive: bool = False
    dtypes: str = "same"
    torch: Callable[..., Any] | str | None = None
    optional: bool = False


TENSOR_SPECS: list[TensorOpSpec] = []
"""The rows. A name may have several, for different arguments."""


class BadCall(NamedTuple):
    """A call that must raise an error.

    Attributes:
        name: the operation.
        call: the call, on a float32 tensor of shape (2, 3).
        error: the error.
        message: a regular expression that matches its message.
    """

    name: str
    call: Callable[..., Any]
    error: type[Exception]
    message: str


BAD_CALLS: list[BadCall] = []
"""Calls that must raise an error; an operation may have several."""


def bad_call(name: str, call: Callable[..., Any], error: type[Exception], message: str) -> None:
    """Add a call to `BAD_CALLS`."""
    BAD_CALLS.append(BadCall(name, call, error, message))


def arguments(spec: TensorOpSpec, shapes: Shapes, dtype: str) -> list[Array]:
    """Return arrays of elements that are distinct, except bools, so that extremes are unique."""
    rng = np.random.default_rng(sum(map(ord, spec.name)) + len(shapes))
    arrays = []
    for shape in shapes:
        size = int(np.prod(shape))
        values: Array = rng.permutation(size)
        if dtype == "bool":
            values = values % 2
        elif dtype in INTEGRAL:
            values = values + 1 if spec.positive else values - (dtype != "uint8") * (size // 2)
        else:
            values = values * 0.37 - (0 if spec.positive else 0.17 * size) + 0.1
        arrays.append(values.reshape(shape).astype(dtype))
    return arrays


def single(*shapes: tuple[int, ...]) -> tuple[Shapes, ...]:
    """Return samples of one argument, one for each shape."""
    return tuple((shape,) for shape in shapes)


MATRIX = single((2, 3), (1, 4), (3, 1, 2))
ANY = single((), (1,), (5,), (2, 3), (2, 1, 3, 1, 2))
WITH_EMPTY = (*ANY, *single((0,), (2, 0, 3)))
PAIRS: tuple[Shapes, ...] = (((2, 3), (3,)), ((5,), ()), ((0, 3), (3,)))


def row(
    name: str,
    call: Callable[..., Any],
    *samples: Shapes,
    oracle: Callable[..., Any] | None = None,
    differentiable: bool | None = None,
    dtypes: str = "same",
    **rest: Any,
) -> None:
    """Add a row to `TENSOR_SPECS`; the arguments are those of `TensorOpSpec`.

    Without an oracle, the expected value is that of the same expression in NumPy. By default, an
    operation is differentiable if the result for float64 is floating-point, and the name does not
    end with `_`.
    """
    if differentiable is None:
        differentiable = PROMOTION[dtypes].get("float64") in FLOATS and not name.endswith("_")
    oracle = oracle or reference(call)
    TENSOR_SPECS.append(
        TensorOpSpec(name, call, oracle, samples, differentiable, dtypes=dtypes, **rest)
    )


# --- Functions used by the samples ---------------------------------------------------------------


def with_nan(x: Any) -> Any:
    """Replace elements that are not positive by nan."""
    return x.where(x > 0, np.nan)


def at(x: Any, places: Any = (2, 0)) -> Any:
    """Return a tensor of the indices `places` on the backend of an argument."""
    return mt.tensor(places, backend=x.backend)


def places(x: Any) -> tuple[Any, Any]:
    """Return the indices of the `index_put` samples for torch, which accepts no slices there."""
    return at(x)[:, None], mt.tensor([0])

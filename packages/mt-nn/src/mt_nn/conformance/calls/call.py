"""`Call`: a row of the tables of this folder, a call of a layer or a function.

All checks use the same rows: comparisons of backends, of gradients with finite differences, and
with formulas in NumPy and with torch, which has the same names and arguments.
"""

from __future__ import annotations

import functools
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import mt_nn
import mt_tensor as mt
from mt_nn import Module
from mt_operators.testing.ids import text
from mt_tensor.backends.extending import leaves_in, map_leaves
from mt_tensor.extending import Array

SOME = 0.5
"""The standard deviation of parameters."""


@dataclass(frozen=True, slots=True)
class Call:
    """A layer or a function, with its settings and inputs.

    Attributes:
        name: the name in `mt_nn` and in `torch.nn`; for functions, it starts with `functional.`.
        inputs: positional arguments; arrays are converted to tensors, also in tuples and lists.
        settings: keyword arguments of a function, or of the constructor of a layer; a `Call` is
            replaced by its layer.
        options: keyword arguments of the call of a layer.
        constants: settings without gradients, such as class weights; arrays are converted to
            tensors.
        in_training: the mode of a layer.
        smooth: whether finite differences approximate the gradient at the inputs.
    """

    name: str
    inputs: tuple[Any, ...]
    settings: Mapping[str, Any] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)
    constants: Mapping[str, Any] = field(default_factory=dict)
    in_training: bool = True
    smooth: bool = True

    @property
    def is_function(self) -> bool:
        """Whether a function is called instead of a layer."""
        return self.name.startswith("functional.")

    def __str__(self) -> str:
        """Return the call as text, for test ids."""
        settings = {**self.settings, **self.constants, **self.options}
        arguments = (
            *map(text, self.inputs),
            *(
                f"{key}={value if isinstance(value, Call) else text(value)}"
                for key, value in settings.items()
            ),
        )
        return f"{self.name}({', '.join(arguments)}){'' if self.in_training else '.eval()'}"


def call(
    name: str,
    *inputs: Any,
    options: Mapping[str, Any] | None = None,
    constants: Mapping[str, Any] | None = None,
    in_training: bool = True,
    smooth: bool = True,
    **settings: Any,
) -> Call:
    """Return a row of a table; see `Call`."""
    return Call(name, inputs, settings, options or {}, constants or {}, in_training, smooth)


def arrays_of(value: Any) -> Iterator[Any]:
    """Yield the arrays or tensors in a value, also in tuples, lists and dictionaries of them."""
    return (leaf for leaf in leaves_in(value) if hasattr(leaf, "shape"))


def mapped(function: Callable[[Array], Any], value: Any) -> Any:
    """Apply a function to each array in a value, also in tuples, lists and dictionaries."""
    return map_leaves(value, lambda leaf: function(leaf) if isinstance(leaf, np.ndarray) else leaf)


def parameter_values(shapes: Mapping[str, tuple[int, ...]]) -> dict[str, Array]:
    """Return random values for parameters, which depend only on name and shape."""
    return {
        name: SOME * np.random.default_rng(zlib.crc32(name.encode())).standard_normal(shape)
        for name, shape in shapes.items()
    }


@dataclass
class Outcome:
    """The results of a call.

    Attributes:
        values: its results.
        gradients: the gradients of inputs and parameters for the gradients `upstream_of` of the
            results; None if the results do not depend on a tensor.
        buffers: the buffers of a layer after the call, by name.
    """

    values: list[Array]
    gradients: list[Array | None]
    buffers: dict[str, Array]


def layer_of(call: Call, library: Any, tensor: Callable[[Array], Any]) -> Any:
    """Create the layer of a call, of `mt_nn` or `torch.nn`."""
    settings = {
        key: layer_of(value, library, tensor) if isinstance(value, Call) else value
        for key, value in call.settings.items()
    }
    return getattr(library, call.name)(**settings, **constants_of(call, tensor))


def prepared(call: Call, dtype: str) -> tuple[Callable[..., Any], list[mt.Tensor]]:
    """Return the function or layer of a call, and its parameters, with random values."""

    def tensor_of(array: Array) -> mt.Tensor:
        return mt.tensor(as_floats(array, dtype))

    if call.is_function:
        function = getattr(mt_nn.functional, call.name.removeprefix("functional."))
        return functools.partial(function, **constants_of(call, tensor_of)), []
    layer: Module = layer_of(call, mt_nn, tensor_of).to(dtype)
    layer.train(call.in_training)
    parameters = dict(layer.named_parameters())
    shapes = {name: parameter.value.shape for name, parameter in parameters.items()}
    for name, array in parameter_values(shapes).items():
        parameters[name].update(array)
    return layer, [parameter.value for parameter in parameters.values()]


def constants_of(call: Call, tensor: Callable[[Array], Any]) -> dict[str, Any]:
    """Return the constants of a call, with arrays converted to tensors."""
    constants: dict[str, Any] = mapped(tensor, dict(call.constants))
    return constants


def as_floats(array: Array, dtype: str) -> Array:
    """Convert a floating-point array to a dtype; return others unchanged."""
    return array.astype(dtype) if array.dtype.kind == "f" else array


def leaves_of(inputs: Any, dtype: str) -> Any:
    """Convert arrays to tensors; floating-point ones become leaves of a dtype that require grad."""

    def leaf(array: Array) -> mt.Tensor:
        return mt.tensor(as_floats(array, dtype)).requires_grad_(array.dtype.kind == "f")

    return mapped(leaf, inputs)


def outcome(call: Call, dtype: str) -> Outcome:
    """Run a call and its backward on the current backend, in float32 or float64."""
    function, run, leaves = ready(call, dtype)
    results = run()
    terms = [
        (result * mt.tensor(upstream_of(result.shape).astype(dtype))).sum()
        for result in results
        if result.requires_grad
    ]
    if terms:
        total: Any = sum(terms)
        total.backward()
    return Outcome(
        [result.detach().numpy() for result in results],
        [None if leaf.grad is None else leaf.grad.numpy() for leaf in leaves],
        {name: np.array(value) for name, value in function.named_buffers()}
        if isinstance(function, Module)
        else {},
    )


def ready(
    call: Call, dtype: str
) -> tuple[Callable[..., Any], Callable[[], list[mt.Tensor]], list[mt.Tensor]]:
    """Return the function or layer of a call, a function that runs it, and its leaves."""
    function, parameters = prepared(call, dtype)
    inputs, options = leaves_of(call.inputs, dtype), leaves_of(call.options, dtype)
    keywords = {**options, **(leaves_of(call.settings, dtype) if call.is_function else {})}
    leaves = [x for x in arrays_of([*inputs, keywords]) if x.requires_grad] + parameters
    return function, lambda: list(arrays_of(function(*inputs, **keywords))), leaves


def upstream_of(shape: tuple[int, ...]) -> Array:
    """Return the upstream gradient of a result: cosines."""
    count = int(np.prod(shape))
    return np.cos(np.arange(count)).reshape(shape)

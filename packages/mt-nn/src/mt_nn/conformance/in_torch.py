"""The calls of the tables with torch: functions, and layers with the same parameters."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
import pytest

from mt_nn.conformance.calls import CALLS, Call
from mt_nn.conformance.calls.call import layer_of, parameter_values

torch = pytest.importorskip("torch")

NOT_IN_TORCH: dict[str, str] = {
    "LearnedPositions": "torch has no position encodings",
    "RotaryPositions": "torch has no position encodings",
    "SinusoidalPositions": "torch has no position encodings",
}
"""Layers and functions that torch does not have, with a reason."""

IN_TORCH = [call for call in CALLS if call.name not in NOT_IN_TORCH]
"""The calls of layers and functions of torch."""


def torch_function(name: str) -> Any:
    """Return a layer or function of torch by name."""
    return operator.attrgetter(name)(torch.nn)


def leaf(array: Any) -> Any:
    """Return an array as a tensor of torch; floats become float64 and require gradients."""
    tensor = torch.from_numpy(np.array(array))
    return tensor.double().requires_grad_() if array.dtype.kind == "f" else tensor


def constant(array: Any) -> Any:
    """Return an array as a tensor of torch without a gradient."""
    return leaf(array).detach()


def initial_torch_layer(call: Call) -> Any:
    """Return the layer of torch for a call, with its initial parameters."""
    return layer_of(call, torch.nn, constant).double()


def torch_layer(call: Call) -> Any:
    """Return the layer of torch for a call, with the same parameters as that of `prepared`."""
    layer = initial_torch_layer(call)
    layer.train(call.in_training)
    shapes = {name: tuple(parameter.shape) for name, parameter in layer.named_parameters()}
    with torch.no_grad():
        for name, array in parameter_values(shapes).items():
            layer.get_parameter(name).copy_(torch.from_numpy(array))
    return layer

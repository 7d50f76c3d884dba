"""Calls of the tables in torch: its functions, and its layers with the same parameters."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mt_nn.conformance.calls import CALLS, Call
from mt_nn.conformance.calls.call import layer_of, parameter_values

torch = pytest.importorskip("torch")

NOT_IN_TORCH: dict[str, str] = {
    "DropPath": "of residual networks it is the usual dropout",
    "functional.drop_path": "see DropPath",
    "LearnedPositions": "torch leaves positions to those who need them",
    "RotaryPositions": "torch leaves positions to those who need them",
    "SinusoidalPositions": "torch leaves positions to those who need them",
}
"""Layers and functions that torch does not have, with the reason why they are here."""

IN_TORCH = [call for call in CALLS if call.name not in NOT_IN_TORCH]
"""The calls that torch knows."""


def theirs(name: str) -> Any:
    """Return torch's layer or function of a name."""
    made: Any = torch.nn
    for part in name.split("."):
        made = getattr(made, part)
    return made


def leaf(array: Any) -> Any:
    """Return an array as a tensor of torch; floats become float64 and get a gradient."""
    found = torch.from_numpy(np.array(array))
    return found.double().requires_grad_() if array.dtype.kind == "f" else found


def constant(array: Any) -> Any:
    """Return an array as a tensor of torch without a gradient."""
    return leaf(array).detach()


def bare_torch_layer(call: Call) -> Any:
    """Return torch's layer of a call, with parameters of its own."""
    return layer_of(call, torch.nn, constant).double()


def torch_layer(call: Call) -> Any:
    """Return torch's layer of a call, with the parameters that `prepared` gives ours."""
    layer = bare_torch_layer(call)
    layer.train(call.in_training)
    shapes = {name: tuple(parameter.shape) for name, parameter in layer.named_parameters()}
    with torch.no_grad():
        for name, array in parameter_values(shapes).items():
            layer.get_parameter(name).copy_(torch.from_numpy(array))
    return layer

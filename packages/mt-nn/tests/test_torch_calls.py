"""The conformance tables compared with torch: values, gradients, overflow, states, initial values.

Layers are compared with torch's parameters, which are exchanged as safetensors files.
"""

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mt_nn as nn
import mt_tensor as mt
from mt_nn.conformance.calls import Call
from mt_nn.conformance.calls.call import (
    arrays_of,
    as_floats,
    constants_of,
    layer_of,
    leaves_of,
    mapped,
    outcome,
    prepared,
    upstream_of,
)
from mt_nn.conformance.in_torch import (
    IN_TORCH,
    constant,
    initial_torch_layer,
    leaf,
    torch,
    torch_function,
    torch_layer,
)
from mt_tensor.extending import Array

safetensors = pytest.importorskip("safetensors.torch")

pytestmark = pytest.mark.filterwarnings(
    "ignore:enable_nested_tensor", "ignore:Using padding='same' with even kernel lengths"
)
"""Torch warns where it has no fast path."""

TOLERANCE = {"rtol": 1e-9, "atol": 1e-11}

LESS_ACCURATE_IN_TORCH: dict[str, str] = {
    "Hardsigmoid": "torch rounds the slope, 1 / 6, to float32",
    "functional.hardsigmoid": "see Hardsigmoid",
}
"""Layers and functions that torch computes less accurately in float64, with the reason."""


def constructor_of(call: Call) -> str:
    """Return the constructor call of a layer, without the inputs of its forward call."""
    return str(dataclasses.replace(call, inputs=(), options={}, in_training=True))


DISTINCT_LAYERS = list(
    {constructor_of(call): call for call in IN_TORCH if not call.is_function}.values()
)
"""One call for each distinct way of constructing a layer."""


@pytest.mark.parametrize("call", IN_TORCH, ids=str)
def test_values_and_gradients_of_calls_match_torch(call: Call) -> None:
    ours = outcome(call, "float64")
    function = torch_function(call.name) if call.is_function else torch_layer(call)
    inputs, options = mapped(leaf, list(call.inputs)), mapped(leaf, dict(call.options))
    keywords = {**options, **(mapped(leaf, dict(call.settings)) if call.is_function else {})}
    constants = constants_of(call, constant) if call.is_function else {}
    results = list(arrays_of(function(*inputs, **keywords, **constants)))
    leaves = [x for x in arrays_of([*inputs, keywords]) if x.requires_grad]
    buffers = {}
    if not call.is_function:
        leaves += list(function.parameters())
        buffers = dict(function.named_buffers())
    recorded = [result for result in results if result.requires_grad]
    if recorded:
        sum((r * torch.from_numpy(upstream_of(tuple(r.shape)))).sum() for r in recorded).backward()
    assert [tuple(r.shape) for r in results] == [value.shape for value in ours.values]
    tolerance = {"rtol": 1e-7} if call.name in LESS_ACCURATE_IN_TORCH else TOLERANCE
    for mine, other in zip(ours.values, results, strict=True):
        np.testing.assert_allclose(mine, other.detach().numpy(), **tolerance)
    for mine, other in zip(ours.gradients, leaves, strict=True):
        expected = np.zeros(other.shape) if other.grad is None else other.grad.numpy()
        np.testing.assert_allclose(0.0 if mine is None else mine, expected, **tolerance)
    assert ours.buffers.keys() == buffers.keys()
    for name, buffer in buffers.items():
        np.testing.assert_allclose(ours.buffers[name], buffer.numpy(), err_msg=name, **TOLERANCE)


LARGE = 20000.0
"""A float16 value whose square overflows."""


def large(value: Any) -> Any:
    """Return float arrays as float16, scaled so that the largest magnitude is `LARGE`."""

    def enlarged(array: Array) -> Array:
        if array.dtype.kind != "f" or not np.any(array):
            return array
        return np.asarray(array * (LARGE / np.abs(array).max()), np.float16)

    return mapped(enlarged, value)


def half(array: Array) -> Any:
    """Return an array as a torch tensor, converted to float16 if it holds floats."""
    return torch.from_numpy(as_floats(array, "float16"))


ONE_CALL_PER_NAME = {call.name: call for call in reversed(IN_TORCH)}.values()


@pytest.mark.parametrize("call", list(ONE_CALL_PER_NAME), ids=str)
def test_float16_result_is_finite_where_torch_result_is(call: Call) -> None:
    """Intermediate scores, squares and sums do not overflow if the result does not."""
    settings = large(dict(call.settings)) if call.is_function else call.settings
    call = dataclasses.replace(call, inputs=large(call.inputs), settings=settings)
    arguments = list(call.inputs), {**(call.settings if call.is_function else {}), **call.options}
    function = torch_function(call.name) if call.is_function else torch_layer(call).half()
    constants = mapped(half, dict(call.constants)) if call.is_function else {}
    inputs, keywords = (mapped(half, part) for part in arguments)
    try:
        results = list(arrays_of(function(*inputs, **keywords, **constants)))
    except RuntimeError:  # no kernel for float16, or the index is out of range
        return
    ours, _ = prepared(call, "float16")
    inputs, keywords = (leaves_of(part, "float16") for part in arguments)
    for mine, other in zip(arrays_of(ours(*inputs, **keywords)), results, strict=True):
        inside = other.detach().abs().numpy() < 0.9 * np.finfo(np.float16).max
        assert np.isfinite(mine.detach().numpy()[inside]).all()


@pytest.mark.parametrize("call", DISTINCT_LAYERS, ids=str)
def test_states_are_exchanged_with_torch_through_safetensors(call: Call, tmp_path: Path) -> None:
    layer, _ = prepared(call, "float64")
    torch_twin = initial_torch_layer(call)
    path = tmp_path / "ours.safetensors"
    nn.save(layer.state_dict(), path)
    torch_twin.load_state_dict(safetensors.load_file(path))
    names = [name for name, _ in layer.named_parameters()]
    assert names == [name for name, _ in torch_twin.named_parameters()]
    state = {name: value.contiguous() for name, value in torch_layer(call).state_dict().items()}
    path = tmp_path / "theirs.safetensors"
    safetensors.save_file(state, path)
    layer.load_state_dict(nn.load(path))
    for name, value in layer.state_dict().items():
        np.testing.assert_array_equal(np.array(value), state[name].numpy(), err_msg=name)


@pytest.mark.parametrize("call", DISTINCT_LAYERS, ids=str)
def test_initial_parameters_have_the_distribution_of_torch(call: Call) -> None:
    """Compare mean, standard deviation and largest magnitude over many equal layers."""
    count = 200 if list(initial_torch_layer(call).parameters()) else 1
    mt.manual_seed(0)
    torch.manual_seed(0)
    ours = [dict(layer_of(call, nn, mt.tensor).named_parameters()) for _ in range(count)]
    others = [dict(layer_of(call, torch.nn, constant).named_parameters()) for _ in range(count)]
    for name, first in ours[0].items():
        mine = np.array([np.array(layer[name].value.detach()) for layer in ours])
        other = np.array([layer[name].detach().numpy() for layer in others])
        assert first.value.requires_grad == others[0][name].requires_grad
        spread = max(other.std(), 1e-12)
        noise = 6 / np.sqrt(mine.size)  # six standard deviations of a mean
        assert abs(mine.mean() - other.mean()) <= noise * spread + 1e-9, name
        assert abs(mine.std() - other.std()) <= noise * spread + 1e-9, name
        assert abs(np.abs(mine).max() - np.abs(other).max()) <= 0.5 * np.abs(other).max(), name

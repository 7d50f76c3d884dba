"""Every row of the tables of calls on torch as well: names, arguments, values, gradients, states.

Layers are compared with torch's parameters in them, which travel through safetensors, both ways.
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
    bare_torch_layer,
    constant,
    leaf,
    theirs,
    torch,
    torch_layer,
)
from mt_tensor.extending import Array

safetensors = pytest.importorskip("safetensors.torch")

pytestmark = pytest.mark.filterwarnings(
    "ignore:enable_nested_tensor", "ignore:Using padding='same' with even kernel lengths"
)
"""Torch says so where it has no shorter way to compute."""

TOLERANCE = {"rtol": 1e-9, "atol": 1e-11}

ROUGH: dict[str, str] = {
    "Hardsigmoid": "the slope, 1 / 6, has only float32's precision in torch",
    "functional.hardsigmoid": "see Hardsigmoid",
}
"""Layers and functions that torch computes less exactly in float64, with the reason."""


def made_alike(call: Call) -> str:
    """Return how a layer is made, whatever it is called on."""
    return str(dataclasses.replace(call, inputs=(), options={}, in_training=True))


LAYERS = list({made_alike(call): call for call in IN_TORCH if not call.is_function}.values())
"""One call of each layer that is made in its own way."""


@pytest.mark.parametrize("call", IN_TORCH, ids=str)
def test_values_and_gradients_are_torchs(call: Call) -> None:
    ours = outcome(call, "float64")
    function = theirs(call.name) if call.is_function else torch_layer(call)
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
    tolerance = {"rtol": 1e-7} if call.name in ROUGH else TOLERANCE
    for mine, other in zip(ours.values, results, strict=True):
        np.testing.assert_allclose(mine, other.detach().numpy(), **tolerance)
    for mine, other in zip(ours.gradients, leaves, strict=True):
        wanted = np.zeros(other.shape) if other.grad is None else other.grad.numpy()
        np.testing.assert_allclose(0.0 if mine is None else mine, wanted, **tolerance)
    assert ours.buffers.keys() == buffers.keys()
    for name, buffer in buffers.items():
        np.testing.assert_allclose(ours.buffers[name], buffer.numpy(), err_msg=name, **TOLERANCE)


LARGE = 20000.0
"""A number of float16 whose square is none."""


def large(value: Any) -> Any:
    """Return arrays of floats as float16, the largest number of each of them being `LARGE`."""

    def enlarged(array: Array) -> Array:
        if array.dtype.kind != "f" or not np.any(array):
            return array
        return np.asarray(array * (LARGE / np.abs(array).max()), np.float16)

    return mapped(enlarged, value)


def half(array: Array) -> Any:
    """Return an array as a tensor of torch, of float16 if it holds floats."""
    return torch.from_numpy(as_floats(array, "float16"))


ONE_OF_EACH = {call.name: call for call in reversed(IN_TORCH)}.values()


@pytest.mark.parametrize("call", list(ONE_OF_EACH), ids=str)
def test_float16_overflows_where_torchs_does(call: Call) -> None:
    """Neither scores nor squares nor sums on the way leave a range that the result is in."""
    settings = large(dict(call.settings)) if call.is_function else call.settings
    call = dataclasses.replace(call, inputs=large(call.inputs), settings=settings)
    given = list(call.inputs), {**(call.settings if call.is_function else {}), **call.options}
    function = theirs(call.name) if call.is_function else torch_layer(call).half()
    constants = mapped(half, dict(call.constants)) if call.is_function else {}
    inputs, keywords = (mapped(half, each) for each in given)
    try:
        results = list(arrays_of(function(*inputs, **keywords, **constants)))
    except RuntimeError:  # it has no kernel for float16, or no place for so large an index
        return
    ours, _ = prepared(call, "float16")
    inputs, keywords = (leaves_of(each, "float16") for each in given)
    for mine, other in zip(arrays_of(ours(*inputs, **keywords)), results, strict=True):
        inside = other.detach().abs().numpy() < 0.9 * np.finfo(np.float16).max
        assert np.isfinite(mine.detach().numpy()[inside]).all()


@pytest.mark.parametrize("call", LAYERS, ids=str)
def test_states_travel_to_torch_and_back(call: Call, tmp_path: Path) -> None:
    layer, _ = prepared(call, "float64")
    twin = bare_torch_layer(call)
    path = tmp_path / "ours.safetensors"
    nn.save(layer.state_dict(), path)
    twin.load_state_dict(safetensors.load_file(path))
    assert [name for name, _ in layer.named_parameters()] == [n for n, _ in twin.named_parameters()]
    state = {name: value.contiguous() for name, value in torch_layer(call).state_dict().items()}
    path = tmp_path / "theirs.safetensors"
    safetensors.save_file(state, path)
    layer.load_state_dict(nn.load(path))
    for name, value in layer.state_dict().items():
        np.testing.assert_array_equal(np.array(value), state[name].numpy(), err_msg=name)


@pytest.mark.parametrize("call", LAYERS, ids=str)
def test_layers_start_as_torchs_do(call: Call) -> None:
    """Compare mean and deviation of the first values of many layers made alike."""
    many = 200 if list(bare_torch_layer(call).parameters()) else 1
    mt.manual_seed(0)
    torch.manual_seed(0)
    ours = [dict(layer_of(call, nn, mt.tensor).named_parameters()) for _ in range(many)]
    others = [dict(layer_of(call, torch.nn, constant).named_parameters()) for _ in range(many)]
    for name, first in ours[0].items():
        mine = np.array([np.array(layer[name].value.detach()) for layer in ours])
        other = np.array([layer[name].detach().numpy() for layer in others])
        assert first.value.requires_grad == others[0][name].requires_grad
        spread = max(other.std(), 1e-12)
        noise = 6 / np.sqrt(mine.size)  # six standard deviations of a mean
        assert abs(mine.mean() - other.mean()) <= noise * spread + 1e-9, name
        assert abs(mine.std() - other.std()) <= noise * spread + 1e-9, name
        assert abs(np.abs(mine).max() - np.abs(other).max()) <= 0.5 * np.abs(other).max(), name

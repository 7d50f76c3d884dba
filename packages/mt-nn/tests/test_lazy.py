"""Lazy layers, which infer a size from their first input."""

from typing import Any

import numpy as np
import pytest

import mt_nn as nn
import mt_tensor as mt
from mt_operators import Buffer

LAYERS: list[tuple[str, dict[str, Any], tuple[int, ...], int]] = [
    ("Linear", {"out_features": 3, "bias": False}, (2, 5), 5),
    ("Conv1d", {"out_channels": 4, "kernel_size": 2, "groups": 2}, (2, 6, 5), 6),
    ("Conv2d", {"out_channels": 4, "kernel_size": 2}, (3, 5, 5), 3),
    ("Conv3d", {"out_channels": 2, "kernel_size": 2}, (1, 3, 3, 3, 3), 3),
    ("ConvTranspose1d", {"out_channels": 4, "kernel_size": 2}, (2, 6, 5), 6),
    ("ConvTranspose2d", {"out_channels": 4, "kernel_size": 2}, (1, 3, 5, 5), 3),
    ("ConvTranspose3d", {"out_channels": 2, "kernel_size": 2}, (3, 3, 3, 3), 3),
    ("BatchNorm1d", {}, (4, 3), 3),
    ("BatchNorm2d", {"eps": 0.1}, (4, 3, 2, 2), 3),
    ("BatchNorm3d", {"affine": False}, (4, 3, 2, 2, 2), 3),
    ("InstanceNorm1d", {"affine": True, "track_running_stats": False}, (3, 4), 3),
    ("InstanceNorm2d", {"affine": False, "track_running_stats": True}, (4, 3, 2, 2), 3),
    ("InstanceNorm3d", {"affine": False, "track_running_stats": False}, (4, 3, 2, 2, 2), 3),
]


@pytest.mark.parametrize(("name", "settings", "shape", "size"), LAYERS)
def test_lazy_layer_becomes_the_regular_class(
    name: str, settings: dict[str, Any], shape: tuple[int, ...], size: int
) -> None:
    mt.manual_seed(0)
    regular = getattr(nn, name)(size, **settings)
    mt.manual_seed(0)
    layer = getattr(nn, f"Lazy{name}")(**settings)
    parameters = list(layer.parameters())
    assert all(isinstance(parameter, nn.UninitializedParameter) for parameter in parameters)
    assert layer.has_uninitialized_params() == bool(regular.state_dict())
    mt.manual_seed(0)
    x = mt.rand(*shape)
    mt.manual_seed(0)
    out = layer(x)
    assert type(layer) is type(regular)
    assert repr(layer) == repr(regular)
    np.testing.assert_array_equal(np.array(out.detach()), np.array(regular(x).detach()))
    assert list(layer.state_dict()) == list(regular.state_dict())
    assert [id(parameter) for parameter in layer.parameters()] == [
        id(parameter) for parameter in parameters
    ]
    assert all(
        type(parameter) is nn.Parameter and parameter.requires_grad for parameter in parameters
    )


@pytest.mark.parametrize("dims", [1, 2, 3])
def test_lazy_instance_norm_is_affine_and_tracks_statistics_by_default(dims: int) -> None:
    layer = getattr(nn, f"LazyInstanceNorm{dims}d")(0.1)
    layer(mt.rand(4, 3, *(2,) * dims))
    assert (layer.eps, layer.affine, layer.track_running_stats) == (0.1, True, True)
    assert len(layer.state_dict()) == 5


@pytest.mark.parametrize(("name", "settings", "shape", "size"), LAYERS)
def test_state_dict_can_be_loaded_before_the_first_call(
    name: str, settings: dict[str, Any], shape: tuple[int, ...], size: int
) -> None:
    regular = getattr(nn, name)(size, **settings)
    if not regular.state_dict():
        return
    layer = getattr(nn, f"Lazy{name}")(**settings)
    layer.load_state_dict(regular.state_dict())
    assert not layer.has_uninitialized_params()
    x = mt.rand(*shape)
    np.testing.assert_array_equal(np.array(layer(x).detach()), np.array(regular(x).detach()))


def test_optimizer_accepts_uninitialized_parameters() -> None:
    model = nn.Sequential(nn.LazyLinear(2), nn.Tanh(), nn.LazyLinear(1)).double()
    optimizer = nn.optim.SGD(model.parameters(), lr=0.1)
    x = mt.rand(4, 3, dtype="float64")
    model(x).sum().backward()
    before = model[0].weight.detach().clone()
    optimizer.step()
    assert model[0].weight.dtype is mt.float64
    assert not mt.equal(before, model[0].weight.detach())


def test_invalid_input_raises_and_leaves_the_layer_lazy() -> None:
    layer = nn.LazyConv2d(3, 2)
    with pytest.raises(nn.InputError, match="3 or 4 dimensions; shape"):
        layer(mt.ones(2, 2))
    with pytest.raises(TypeError, match="takes tensors"):
        layer([1.0])
    assert layer.has_uninitialized_params()
    assert "UninitializedParameter" in repr(layer.weight)
    with pytest.raises(nn.SettingError, match="stride"):
        nn.LazyConv2d(3, 2, stride=0)
    with pytest.raises(TypeError, match="too many positional arguments"):
        nn.LazyLinear(2, True, None, None, 5)  # type: ignore[call-arg]
    with pytest.raises(nn.InputError, match="1 or more dimensions"):
        nn.LazyLinear(2)(mt.tensor(1.0))


def test_materialize_sets_shape_device_and_dtype() -> None:
    weight = nn.UninitializedParameter(requires_grad=False)
    weight.materialize((2, 3))
    assert (type(weight), weight.shape, weight.dtype) == (nn.Parameter, (2, 3), mt.float32)
    assert not weight.requires_grad
    other = nn.UninitializedParameter()
    other.materialize([4], device="cpu", dtype=mt.float64)
    assert (other.shape, other.dtype, other.requires_grad) == ((4,), mt.float64, True)


def test_materialized_buffer_has_the_given_shape_and_dtype() -> None:
    buffer = nn.UninitializedBuffer()
    buffer.materialize((2, 3), dtype=mt.float64)
    assert type(buffer) is Buffer
    assert (buffer.value.shape, buffer.value.dtype) == ((2, 3), mt.float64)

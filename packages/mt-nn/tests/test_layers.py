"""Layers: parameters and their initial values, settings, modes, containers, saving."""

import copy
import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mt_nn as nn
import mt_nn.functional as F
import mt_tensor as mt


def test_same_seed_gives_same_weights_on_every_backend() -> None:
    networks = []
    for backend in ("numpy", "simple"):
        mt.manual_seed(7)
        with mt.use_backend(backend):
            networks.append(nn.Linear(3, 2).weight.detach().numpy())
    assert np.array_equal(*networks)


def test_parameter_is_a_tensor_registered_by_its_module() -> None:
    layer = nn.Linear(2, 3)
    assert isinstance(layer.weight, mt.Tensor)
    assert [name for name, _ in layer.named_parameters()] == ["weight", "bias"]
    assert layer.weight.requires_grad
    assert nn.Linear(2, 3, bias=False).bias is None
    assert layer.weight.value is layer.weight
    layer.weight.update(mt.zeros(3, 2))
    assert not layer.weight.detach().numpy().any()
    assert repr(nn.Parameter([1.0])).startswith("Parameter containing:\ntensor([1.]")
    frozen = nn.Parameter(mt.ones(2), requires_grad=False)
    assert not frozen.requires_grad


def test_deepcopy_copies_parameters_and_keeps_them_tied() -> None:
    source = nn.Sequential(nn.Linear(2, 2), nn.ReLU())
    source.add_module("tied", source[0])
    copied = copy.deepcopy(source)
    assert [name for name, _ in copied.named_parameters()] == ["0.weight", "0.bias"]
    assert isinstance(copied[0].weight, nn.Parameter)
    copied[0].weight.update(mt.zeros(2, 2))
    assert source[0].weight.detach().numpy().any()
    assert copied(mt.ones(1, 2)).tolist() == [copied[0].bias.tolist()]  # the tied layer comes last


def test_sequential_runs_indexes_and_prints_its_modules() -> None:
    model = nn.Sequential(nn.Conv2d(1, 2, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Tanh())
    assert model(mt.ones(5, 1, 6, 6)).shape == (5, 8)
    assert (len(model), model[1]) == (5, list(model)[1])
    assert "(0): Conv2d(1, 2, kernel_size=(3, 3), stride=(1, 1))" in repr(model)
    with pytest.raises(TypeError, match="argument 1 is .*relu"):
        nn.Sequential(nn.ReLU(), mt.Tensor.relu)  # type: ignore[arg-type]


def test_layers_return_expected_shapes_and_values() -> None:
    x = mt.ones(2, 2, 4, 4)
    assert nn.AvgPool2d(2)(x).shape == (2, 2, 2, 2)
    assert nn.Sigmoid()(mt.zeros(1)).item() == 0.5
    assert nn.CrossEntropyLoss()(mt.zeros(2, 4), mt.tensor([0, 1])).item() == pytest.approx(
        np.log(4)
    )
    assert nn.MSELoss(reduction="sum")(mt.ones(3), mt.zeros(3)).item() == 3.0


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: nn.Linear(0, 2), "in_features must be a positive integer; 0 was given"),
        (lambda: nn.Linear(2, 1.5), r"out_features must be an integer; 1\.5"),
        (lambda: nn.Conv2d(3, 4, 3, groups=2), "to be multiples of groups"),
        (lambda: nn.Conv2d(1, 1, 0), "kernel_size must be one or two positive integers; got 0"),
        (lambda: nn.Conv2d(1, 2, 3.0), r"one or two positive integers; got 3\.0"),
        (lambda: nn.Conv2d(1, 2, None), "one or two positive integers; got None"),
        (lambda: nn.Conv2d(1, 2, True), "one or two positive integers; got True"),
        (lambda: nn.Conv2d(1, 2, 3, padding=(1, False)), r"got \(1, False\)"),
        (lambda: nn.Conv2d(1, 2.0, 3), r"out_channels must be an integer; 2\.0"),
        (lambda: nn.Dropout(-0.1), "between 0 and 1"),
        (lambda: nn.Dropout(float("nan")), "between 0 and 1"),
        (lambda: nn.init.fan_in(mt.ones(3)), "at least two dimensions"),
    ],
)
def test_invalid_setting_raises(make: Any, message: str) -> None:
    with pytest.raises(nn.SettingError, match=message):
        make()


def test_misspelt_attribute_suggests_close_name() -> None:
    with pytest.raises(
        AttributeError, match="Linear has no attribute 'weigth'. Did you mean 'weight'"
    ):
        _ = nn.Linear(1, 1).weigth


def test_buffer_is_a_tensor_and_loaded_in_place() -> None:
    source, target = nn.Linear(2, 2), nn.Linear(2, 2)
    source.register_buffer("mean", mt.ones(3))
    with mt.use_backend("simple"):
        target.register_buffer("mean", mt.zeros(3, dtype="float64"))
    mean = target.mean
    target.load_state_dict(source.state_dict())
    assert target.mean is mean
    assert mean.tolist() == [1.0, 1.0, 1.0]
    assert (mean.backend.name, mean.dtype) == ("simple", mt.float64)
    with pytest.raises(nn.StateDictError, match=r"mean: Tensor of shape \(2,\) .* Buffer of shape"):
        target.load_state_dict({"mean": mt.ones(2)}, strict=False)
    assert not any(value.requires_grad for value in source.state_dict().values())


def test_parameter_of_add_parameter_is_loaded_in_place() -> None:
    module = nn.Module()
    module.add_parameter("weight", mt.zeros(2))
    optimizer = nn.optim.SGD([module.weight.value], lr=1.0)
    state = {"weight": mt.ones(2)}
    module.load_state_dict(state)
    (module.weight.value * 3).sum().backward()
    optimizer.step()
    assert module.weight.value.tolist() == [-2.0, -2.0]
    assert state["weight"].tolist() == [1.0, 1.0]


# --- Saving -------------------------------------------------------------------------------------


def test_saved_state_dict_loads_the_same_values(tmp_path: Path) -> None:
    source, target = nn.Linear(3, 2), nn.Linear(3, 2)
    nn.save(source.state_dict(), tmp_path / "m.safetensors")
    target.load_state_dict(nn.load(tmp_path / "m.safetensors"))
    for one, two in zip(source.parameters(), target.parameters(), strict=True):
        assert np.array_equal(one.value.detach(), two.value.detach())
        assert two.value.requires_grad


def test_saving_keeps_dtypes_and_values_of_strided_tensors(tmp_path: Path) -> None:
    state = {name: mt.arange(6).to(name).view(2, 3).T for name in ("float16", "int8", "bool")}
    state["scalar"] = mt.tensor(2.5)
    nn.save(state, tmp_path / "s.safetensors")
    for name, value in nn.load(tmp_path / "s.safetensors").items():
        assert value.dtype is state[name].dtype
        assert np.array_equal(value, state[name])


def test_state_dict_that_does_not_fit_raises_and_changes_nothing(tmp_path: Path) -> None:
    model = nn.Linear(3, 2)
    before = model.weight.detach().numpy().copy()
    with pytest.raises(
        nn.StateDictError, match=r"weight: Tensor of shape \(2, 4\) was .* \(2, 3\)"
    ):
        model.load_state_dict(nn.Linear(4, 2).state_dict())
    with pytest.raises(nn.StateDictError, match=r"does not fit Linear \(missing: bias\)\. Load"):
        model.load_state_dict(nn.Linear(3, 2, bias=False).state_dict())
    assert np.array_equal(model.weight.detach(), before)


@pytest.mark.parametrize("length", [0, 4, 8, 40, 100])
def test_truncated_model_file_raises(tmp_path: Path, length: int) -> None:
    path = tmp_path / "m.safetensors"
    nn.save(nn.Linear(3, 2).state_dict(), path)
    path.write_bytes(path.read_bytes()[:length])
    with pytest.raises(nn.FileError, match=r"m.safetensors is truncated or not a safetensors file"):
        nn.load(path)


def test_missing_model_file_raises(tmp_path: Path) -> None:
    with pytest.raises(nn.FileError, match=r"could not read .*none.safetensors \(No such file"):
        nn.load(tmp_path / "none.safetensors")


def test_failed_save_leaves_the_existing_file_unchanged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "m.safetensors"
    nn.save({"a": mt.ones(3)}, path)
    before = path.read_bytes()

    def full_disk(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full_disk)
    with pytest.raises(nn.FileError, match="No space left on device.*existing file.*unchanged"):
        nn.save({"a": mt.zeros(3)}, path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]
    with pytest.raises(nn.FileError, match="could not write"):
        nn.save({"a": mt.ones(1)}, tmp_path / "no such folder" / "m.safetensors")


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_saved_file_follows_umask_or_keeps_its_permissions(tmp_path: Path) -> None:
    path, text_file = tmp_path / "m.safetensors", tmp_path / "text"
    before = os.umask(0o027)
    try:
        nn.save({"a": mt.ones(3)}, path)
        text_file.write_text("")
    finally:
        os.umask(before)
    assert mode(path) == mode(text_file)
    path.chmod(0o600)
    nn.save({"a": mt.zeros(3)}, path)
    assert mode(path) == 0o600 or os.name == "nt"


def test_saving_to_or_loading_a_folder_raises(tmp_path: Path) -> None:
    for folder in (tmp_path, ".", ""):
        with pytest.raises(nn.FileError, match="it is a folder"):
            nn.save({"a": mt.ones(1)}, folder)
    with pytest.raises(nn.FileError, match="could not read"):
        nn.load(tmp_path)
    assert not list(tmp_path.iterdir())


# --- Settings -------------------------------------------------------------------------------------


@pytest.mark.parametrize("dims", [1, 2, 3])
@pytest.mark.parametrize("output_padding", [0, 1])
def test_output_padding_enlarges_output_of_transposed_convolution(
    dims: int, output_padding: int
) -> None:
    layer_class: Any = getattr(nn, f"ConvTranspose{dims}d")
    layer = layer_class(1, 2, 3, stride=2, output_padding=output_padding)
    assert layer.output_padding == (output_padding,) * dims
    assert layer(mt.ones(1, 1, *[4] * dims)).shape == (1, 2, *[9 + output_padding] * dims)


@pytest.mark.parametrize("dims", [1, 2, 3])
def test_convolution_with_empty_kernel_raises(dims: int) -> None:
    convolve: Any = getattr(nn.functional, f"conv{dims}d")
    for empty in range(dims):
        size = [0 if dim == empty else 3 for dim in range(dims)]
        with pytest.raises(nn.InputError, match="takes a weight of shape"):
            convolve(mt.ones(1, 2, *[5] * dims), mt.ones(4, 2, *size))


@pytest.mark.parametrize(
    "make",
    [
        lambda: nn.Linear(100, 50),
        lambda: nn.Bilinear(100, 5, 50),
        lambda: nn.Conv2d(8, 100, 5, groups=2),
        lambda: nn.RNN(3, 100),
        lambda: nn.LSTM(3, 100),
        lambda: nn.GRU(3, 100),
    ],
    ids=["Linear", "Bilinear", "Conv2d", "RNN", "LSTM", "GRU"],
)
def test_initial_parameters_are_uniform_within_bound(make: Callable[[], nn.Module]) -> None:
    mt.manual_seed(0)
    bound = 0.1  # the inverse square root of 100 inputs or hidden units
    for parameter in make().parameters():
        values = np.asarray(parameter.value.detach())
        assert -bound <= values.min() < -0.8 * bound
        assert 0.8 * bound < values.max() <= bound


@pytest.mark.parametrize("cutoffs", [[], (), 3, [10], [3, 12], [3, 3], [5, 3], [0]])
def test_adaptive_softmax_with_invalid_cutoffs_raises(cutoffs: Any) -> None:
    with pytest.raises(nn.SettingError, match="cutoff"):
        nn.AdaptiveLogSoftmaxWithLoss(8, 10, cutoffs)


@pytest.mark.parametrize("shape", [(8,), (1, 8), (5, 8)])
def test_adaptive_softmax_probabilities_sum_to_one(shape: tuple[int, ...]) -> None:
    layer = nn.AdaptiveLogSoftmaxWithLoss(8, 10, [2, 4, 7], 1.5)
    x = mt.tensor(np.random.default_rng(0).standard_normal(shape), dtype="float32")
    scores = layer.log_prob(x)
    assert scores.shape == (*shape[:-1], 10)
    np.testing.assert_allclose(np.asarray(scores.detach().exp().sum(-1)), 1.0, rtol=1e-5)
    for number in range(10):
        target = mt.full(shape[:-1], number, dtype=mt.int64)
        np.testing.assert_allclose(
            layer(x, target).output.tolist(), scores[..., number].tolist(), rtol=1e-4
        )


ARGUMENTS: dict[str, tuple[Any, ...]] = {
    "Linear": (3, 2, True),
    "Bilinear": (2, 3, 4, True),
    "PReLU": (3, 0.25),
    "Embedding": (3, 2, None, None, 2.0, False, False, None, False),
    "EmbeddingBag": (3, 2, None, 2.0, False, "mean", False, None, False, None),
    "AdaptiveLogSoftmaxWithLoss": (4, 6, [2], 4.0, False),
    **{f"Conv{d}d": (2, 2, 3, 1, 0, 1, 1, True, "zeros") for d in (1, 2, 3)},
    **{f"ConvTranspose{d}d": (2, 2, 3, 1, 0, 0, 1, True, 1, "zeros") for d in (1, 2, 3)},
    **{f"BatchNorm{d}d": (3, 1e-5, 0.1, True, True) for d in (1, 2, 3)},
    **{f"InstanceNorm{d}d": (3, 1e-5, 0.1, True, True) for d in (1, 2, 3)},
    "GroupNorm": (1, 3, 1e-5, True),
    "LayerNorm": (3, 1e-5, True, True),
    "RMSNorm": (3, None, True),
    "LSTM": (2, 3, 1, True, False, 0.0, False, 0),
    "RNNCell": (2, 3, True, "tanh"),
    "LSTMCell": (2, 3, True),
    "GRUCell": (2, 3, True),
    "MultiheadAttention": (4, 2, 0.0, True, False, False, None, None, False),
    "TransformerEncoderLayer": (4, 2, 8, 0.1, F.relu, 1e-5, False, False, True),
    "TransformerDecoderLayer": (4, 2, 8, 0.1, F.relu, 1e-5, False, False, True),
    "Transformer": (4, 2, 1, 1, 8, 0.1, F.relu, None, None, 1e-5, False, False, True),
    "LazyLinear": (2, True),
}
"""All arguments of torch's layers before `device` and `dtype`."""


@pytest.mark.parametrize("name", ARGUMENTS)
def test_layers_take_device_and_dtype(name: str) -> None:
    layer_class, arguments = getattr(nn, name), ARGUMENTS[name]
    for layer in (
        layer_class(*arguments, "simple", mt.float64),
        layer_class(*arguments, device=mt.device("simple"), dtype=mt.float64),
        layer_class(*arguments, "cpu", dtype=mt.float64).to("simple"),
    ):
        tensors = [*layer.parameters(), *(each for each in layer.buffers() if each.ndim)]
        assert {(each.backend.name, each.dtype.name) for each in tensors} == {("simple", "float64")}
    assert {each.dtype for each in layer_class(*arguments, None, None).parameters()} == {mt.float32}
    with pytest.raises(TypeError, match="too many|positional arguments"):
        layer_class(*arguments, "cpu", mt.float64, 1)
    with pytest.raises(TypeError, match="multiple"):
        layer_class(*arguments, "cpu", device="cpu")

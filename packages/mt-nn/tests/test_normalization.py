"""Layer and batch normalization against NumPy, and against torch where it is installed."""

import importlib.util
from typing import Any

import numpy as np
import pytest

import mt_nn as nn
import mt_nn.functional as F
import mt_tensor as mt
from mt_nn import InputError, SettingError
from mt_tensor.errors import BackendMismatchError


@pytest.fixture(autouse=True, params=["numpy", "simple"])
def backend(request: pytest.FixtureRequest) -> Any:
    with mt.use_backend(request.param):
        yield request.param


def draw(*shape: int, seed: int = 0) -> Any:
    return np.random.default_rng(seed).standard_normal(shape)


def leaf(array: Any) -> mt.Tensor:
    return mt.tensor(array, requires_grad=True)


def normalized(x: Any, axes: tuple[int, ...], eps: float) -> Any:
    mean, variance = x.mean(axes, keepdims=True), x.var(axes, keepdims=True)
    return (x - mean) / np.sqrt(variance + eps)


@pytest.mark.parametrize("shape", [(4,), (3, 4), (2, 3, 4)])
def test_layer_norm_matches_numpy(shape: tuple[int, ...]) -> None:
    x, weight, bias = draw(2, 3, 4), draw(*shape, seed=1), draw(*shape, seed=2)
    axes = tuple(range(3 - len(shape), 3))
    expected = normalized(x, axes, 1e-3) * weight + bias
    inputs = leaf(x), leaf(weight), leaf(bias)
    result = F.layer_norm(inputs[0], shape, *inputs[1:], eps=1e-3)
    np.testing.assert_allclose(np.array(result.detach()), expected, rtol=1e-10)
    assert mt.gradcheck(lambda x, w, b: F.layer_norm(x, shape, w, b, 1e-3), inputs)
    without_weight = F.layer_norm(mt.tensor(x), shape)
    np.testing.assert_allclose(np.array(without_weight), normalized(x, axes, 1e-5), rtol=1e-10)


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("function", [F.batch_norm, F.instance_norm])
def test_running_mean_without_variance_or_vice_versa_raises(function: Any, training: bool) -> None:
    x, ones = mt.tensor(draw(4, 3, 5)), mt.ones(3).double()
    for missing, statistics in (("running_var", (ones, None)), ("running_mean", (None, ones))):
        with pytest.raises(SettingError, match=f"{missing} is missing"):
            function(x, *statistics, None, None, training)


def test_instance_norm_without_running_statistics_raises_and_names_the_function() -> None:
    with pytest.raises(SettingError, match=r"instance_norm\(\) with use_input_stats=False needs"):
        F.instance_norm(mt.ones(2, 3, 4), use_input_stats=False)
    with pytest.raises(InputError, match=r"instance_norm\(\) takes"):
        F.instance_norm(mt.ones(2, 3, 4), mt.ones(2), mt.ones(2), use_input_stats=False)


def test_layer_norm_takes_an_integer_shape() -> None:
    x = mt.tensor(draw(5, 3))
    assert F.layer_norm(x, 3).tolist() == F.layer_norm(x, (3,)).tolist()


@pytest.mark.parametrize("rest", [(), (4,), (2, 3)])
def test_batch_norm_in_training_uses_batch_and_updates_running_statistics(
    rest: tuple[int, ...],
) -> None:
    x, weight, bias = draw(5, 3, *rest), draw(3, seed=1), draw(3, seed=2)
    axes, shape = (0, *range(2, x.ndim)), (3, *(1,) * len(rest))
    expected = normalized(x, axes, 1e-5) * weight.reshape(shape) + bias.reshape(shape)
    mean, var = mt.tensor(draw(3, seed=3)), mt.tensor(draw(3, seed=4) ** 2)
    before = np.array(mean), np.array(var)
    inputs = leaf(x), leaf(weight), leaf(bias)
    result = F.batch_norm(inputs[0], mean, var, *inputs[1:], training=True, momentum=0.3)
    np.testing.assert_allclose(np.array(result.detach()), expected, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(np.array(mean), 0.7 * before[0] + 0.3 * x.mean(axes))
    np.testing.assert_allclose(np.array(var), 0.7 * before[1] + 0.3 * x.var(axes, ddof=1))
    assert mt.gradcheck(lambda x, w, b: F.batch_norm(x, None, None, w, b, training=True), inputs)


def test_batch_norm_in_evaluation_uses_running_statistics() -> None:
    x, weight, bias, mean = draw(2, 3, 4), draw(3, seed=1), draw(3, seed=2), draw(3, seed=3)
    var = draw(3, seed=4) ** 2
    shape = (3, 1)
    normalized_x = (x - mean.reshape(shape)) / np.sqrt(var.reshape(shape) + 1e-5)
    statistics = mt.tensor(mean), mt.tensor(var)
    result = F.batch_norm(mt.tensor(x), *statistics, mt.tensor(weight), mt.tensor(bias))
    expected = normalized_x * weight.reshape(shape) + bias.reshape(shape)
    np.testing.assert_allclose(np.array(result), expected, rtol=1e-10)
    np.testing.assert_allclose(
        np.array(F.batch_norm(mt.tensor(x), *statistics)), normalized_x, rtol=1e-10
    )
    assert statistics[0].tolist() == mean.tolist()


def test_invalid_inputs_of_normalization_raise() -> None:
    x, three, four = mt.ones(2, 3), mt.ones(3), mt.ones(4)
    with pytest.raises(InputError, match="shape ends in"):
        F.layer_norm(x, (4,))
    with pytest.raises(InputError, match=r"\(4,\)"):
        F.layer_norm(x, (3,), four)
    with pytest.raises(InputError, match="floating-point"):
        F.layer_norm(x.long(), (3,))
    with pytest.raises(InputError, match=r"\(channels,\)"):
        F.batch_norm(x, four, three)
    with pytest.raises(InputError, match="more than one value"):
        F.batch_norm(x[:1], three, three, training=True)
    with pytest.raises(SettingError, match="running_mean"):
        F.batch_norm(x, None, three)
    on_other_backend = three.to("simple" if x.backend.name == "numpy" else "numpy")
    with pytest.raises(BackendMismatchError):
        F.layer_norm(x, (3,), on_other_backend)


@pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="torch is not installed")
@pytest.mark.parametrize("training", [True, False])
def test_batch_and_layer_norm_match_torch(training: bool) -> None:
    import torch

    arrays = [
        draw(4, 3, 5),
        draw(3, seed=1),
        draw(3, seed=2) ** 2,
        draw(3, seed=3),
        draw(3, seed=4),
    ]
    results = []
    for module, functional in ((mt, F), (torch, torch.nn.functional)):
        x, mean, var, weight, bias = (module.tensor(array) for array in arrays)
        for tensor in (x, weight, bias):
            tensor.requires_grad_()
        out = functional.batch_norm(x, mean, var, weight, bias, training, 0.2, 1e-3)
        out = functional.layer_norm(out, (3, 5), eps=1e-4)
        out.backward(module.tensor(draw(4, 3, 5, seed=5)))
        tensors = (out.detach(), mean, var, x.grad, weight.grad, bias.grad)
        results.append([tensor.numpy() for tensor in tensors])
    for ours, theirs in zip(*results, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-12)


@pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="torch is not installed")
@pytest.mark.parametrize("momentum", [0.1, None])
@pytest.mark.parametrize("name", ["BatchNorm1d", "InstanceNorm1d"])
def test_running_statistics_match_torch(name: str, momentum: float | None) -> None:
    import torch

    settings: dict[str, Any] = {"momentum": momentum, "affine": True, "track_running_stats": True}
    ours = getattr(nn, name)(3, **settings).double()
    theirs = getattr(torch.nn, name)(3, **settings).double()
    for step in range(3):
        x = draw(4, 3, 5, seed=step)
        np.testing.assert_allclose(
            np.array(ours(mt.tensor(x)).detach()), theirs(torch.tensor(x)).detach(), rtol=1e-9
        )
    state = theirs.state_dict()
    assert list(ours.state_dict()) == list(state)
    for key, value in ours.state_dict().items():
        np.testing.assert_allclose(np.array(value), state[key].numpy(), err_msg=key)
    ours.eval(), theirs.eval()
    x = draw(4, 3, 5, seed=9)
    np.testing.assert_allclose(
        np.array(ours(mt.tensor(x)).detach()), theirs(torch.tensor(x)).detach(), rtol=1e-9
    )
    ours.reset_running_stats()
    assert ours.running_mean.tolist() + ours.running_var.tolist() == [0.0] * 3 + [1.0] * 3
    assert ours.num_batches_tracked.item() == 0


def test_batch_norm_without_running_statistics_uses_the_batch() -> None:
    layer = nn.BatchNorm1d(3, track_running_stats=False).eval()
    assert list(layer.state_dict()) == ["weight", "bias"]
    layer.reset_running_stats()
    np.testing.assert_allclose(
        np.array(layer.double()(mt.tensor(draw(5, 3))).detach()).mean(0), 0, atol=1e-9
    )


def test_normalization_of_float16_does_not_overflow() -> None:
    large = np.array([[300.0, -200.0, 100.0, 5.0]], np.float16)
    small = np.array([[3e-4, -2e-4, 1e-4, 0.0]], np.float16)
    calls: list[Any] = [
        lambda x: F.layer_norm(x, (4,), x._full((4,), 1.0)),
        lambda x: F.rms_norm(x, (4,)),
        lambda x: F.group_norm(x, 1, x._full((4,), 1.0)),
        lambda x: F.instance_norm(x.view(1, 1, 4)),
        lambda x: F.batch_norm(x.view(4, 1), None, None, training=True),
    ]
    for call, array in ((call, array) for call in calls for array in (large, small)):
        out = call(mt.tensor(array))
        assert out.dtype is mt.float16
        expected = call(mt.tensor(array.astype(np.float32)))
        np.testing.assert_allclose(np.array(out, np.float32), np.array(expected), atol=2e-3)


def test_invalid_settings_of_normalization_raise() -> None:
    for make, message in (
        (lambda: nn.BatchNorm1d(0), "num_features must be a positive integer"),
        (lambda: nn.LayerNorm(()), "at least one size"),
        (lambda: nn.LayerNorm((3, 2.5)), "a size in normalized_shape must be an integer"),
        (lambda: nn.RMSNorm("3"), "a size in normalized_shape"),
        (lambda: nn.GroupNorm(0, 4), "num_groups must be a positive integer"),
        (lambda: nn.LocalResponseNorm(0)(mt.ones(1, 2, 3)), "size must be a positive integer"),
    ):
        with pytest.raises(SettingError, match=message):
            make()


@pytest.mark.parametrize("p", [1, 2, 3.5, np.inf])
@pytest.mark.parametrize("scale", [1e-5, 1.0, 1e20, 3e37])
def test_normalize_is_accurate_for_tiny_and_huge_vectors(p: float, scale: float) -> None:
    """The powers in the norm may be out of the range of float32."""
    vectors = np.array([[3.0, -4.0, 0.5], [1.0, 2.0, 2.0]])
    result = F.normalize(mt.tensor(vectors * scale, dtype="float32"), p)
    expected = vectors / np.linalg.norm(vectors, p, 1, keepdims=True)
    np.testing.assert_allclose(result, expected, rtol=1e-6)


CHANGES = {
    "track_running_stats=False": lambda layer: setattr(layer, "track_running_stats", False),
    "track_running_stats=True": lambda layer: setattr(layer, "track_running_stats", True),
    "num_batches_tracked=None": lambda layer: setattr(layer, "num_batches_tracked", None),
    "running_mean=running_var=None": lambda layer: [
        setattr(layer, name, None) for name in ("running_mean", "running_var")
    ],
}


@pytest.mark.torch
@pytest.mark.parametrize("momentum", [0.1, None])
@pytest.mark.parametrize("tracks", [False, True])
@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("name", ["BatchNorm1d", "InstanceNorm1d"])
def test_changed_statistics_attributes_give_results_of_torch(
    name: str, change: str, tracks: bool, momentum: float | None
) -> None:
    torch = pytest.importorskip("torch")
    x = draw(4, 2, 5)

    def run(lib: Any, net: Any, tensor: Any) -> list[Any]:
        layer = getattr(net, name)(2, momentum=momentum, track_running_stats=tracks)
        layer(tensor(x))
        CHANGES[change](layer)
        results = []
        for training in (True, False):
            layer.train(training)
            try:
                results.append(layer(tensor(2 * x)).tolist())
            except (RuntimeError, SettingError):
                results.append(None)
        return [*results, *(each.tolist() for each in layer.buffers())]

    expected = run(torch, torch.nn, lambda a: torch.tensor(a, dtype=torch.float32))
    actual = run(mt, nn, lambda a: mt.tensor(a, dtype=mt.float32))
    for ours, theirs in zip(actual, expected, strict=True):
        assert (ours is None) == (theirs is None)
        if ours is not None:
            np.testing.assert_allclose(ours, theirs, 1e-4, 1e-5)


def test_untracked_statistics_are_kept_and_used_in_evaluation() -> None:
    layer = nn.BatchNorm1d(1)
    layer.track_running_stats = False
    layer(mt.tensor([[1.0], [3.0]]))
    assert layer.running_mean.tolist() == [0.0]
    assert layer.eval()(mt.tensor([[7.0]])).item() == pytest.approx(7.0, 1e-4)
    layer.running_mean = layer.running_var = None
    assert layer(mt.tensor([[1.0], [3.0]])).tolist()[1][0] == pytest.approx(1.0, 1e-4)

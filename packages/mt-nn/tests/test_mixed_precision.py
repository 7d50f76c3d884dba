"""Autocast, networks in bfloat16 and float16, and GradScaler, compared with torch."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import mt_nn as nn
import mt_tensor as mt
from mt_nn import functional as F

IMAGES = np.random.default_rng(0).standard_normal((2, 1, 6, 6)).astype("f4")
ROWS = np.random.default_rng(1).standard_normal((5, 4)).astype("f4")
LABELS = np.array([0, 1, 2, 3, 1])

CALLS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "linear": lambda lib, f, x: f.linear(x, x),
    "conv": lambda lib, f, x: f.conv1d(x.T[None], x[:, :, None]),
    "attention": lambda lib, f, x: f.scaled_dot_product_attention(x[None], x[None], x[None]),
    "layer norm": lambda lib, f, x: f.layer_norm(f.linear(x, x[:4]), (4,), x[0]),
    "group norm": lambda lib, f, x: f.group_norm(f.linear(x, x[:4]), 2, x[0]),
    "batch norm": lambda lib, f, x: f.batch_norm(
        f.linear(x, x[:4]), x[0], x[1].abs(), x[2], x[3], True
    ),
    "relu": lambda lib, f, x: f.relu(f.linear(x, x)),
    "cross entropy": lambda lib, f, x: f.cross_entropy(f.linear(x, x[:4]), lib.tensor(LABELS)),
    "mean square": lambda lib, f, x: f.mse_loss(f.linear(x, x[:4]), x),
    "with logits": lambda lib, f, x: f.binary_cross_entropy_with_logits(
        f.linear(x, x[:4]), x.sigmoid()
    ),
    "smooth": lambda lib, f, x: f.smooth_l1_loss(f.linear(x, x[:4]), x),
}


@pytest.mark.torch
@pytest.mark.parametrize("name", CALLS)
def test_function_under_autocast_matches_torch(name: str) -> None:
    torch = pytest.importorskip("torch")
    with mt.autocast("cpu"):
        ours = CALLS[name](mt, F, mt.tensor(ROWS))
    with torch.autocast("cpu"):
        theirs = CALLS[name](torch, torch.nn.functional, torch.tensor(ROWS))
    assert ours.dtype.name == str(theirs.dtype).removeprefix("torch.")
    np.testing.assert_allclose(ours.double().numpy(), theirs.double().numpy(), rtol=3e-2, atol=3e-2)


MODULES: dict[str, tuple[Callable[[], Any], tuple[int, ...]]] = {
    "perceptron": (
        lambda: nn.Sequential(nn.Linear(4, 8), nn.LayerNorm(8), nn.GELU(), nn.Linear(8, 3)),
        (5, 4),
    ),
    "images": (
        lambda: nn.Sequential(
            nn.Conv2d(1, 2, 3), nn.BatchNorm2d(2), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten()
        ),
        (2, 1, 6, 6),
    ),
    "transposed": (lambda: nn.ConvTranspose2d(1, 2, 3), (2, 1, 6, 6)),
    "LSTM": (lambda: nn.LSTM(4, 3), (5, 2, 4)),
    "GRU": (lambda: nn.GRU(4, 3), (5, 2, 4)),
    "transformer": (lambda: nn.TransformerEncoderLayer(4, 2, 8, dropout=0.0), (5, 2, 4)),
}


@pytest.mark.parametrize("backend", ["numpy", "simple"])
@pytest.mark.parametrize("precision", ["autocast", "bfloat16", "half"])
@pytest.mark.parametrize("name", MODULES)
def test_low_precision_gradients_are_close_to_float32(
    name: str, precision: str, backend: str
) -> None:
    make, shape = MODULES[name]
    if backend == "simple" and name != "perceptron":
        return  # slow, and without kernels
    mt.manual_seed(0)
    with mt.use_backend(backend):
        model, x = make(), mt.randn(*shape)
        reference = make()
        reference.load_state_dict(model.state_dict())
        gradients = []
        for network in (model, reference):
            network.train()
            inputs = x
            if network is model and precision != "autocast":
                getattr(network, precision)()
                inputs = x.to(next(network.parameters()).dtype)
            with mt.autocast("cpu", enabled=network is model and precision == "autocast"):
                out = network(inputs)
                out = out[0] if isinstance(out, tuple) else out
                loss = F.mse_loss(out, mt.zeros_like(out))
            loss.backward()
            gradients.append([parameter.grad for parameter in network.parameters()])
    for parameter, ours, theirs in zip(model.parameters(), *gradients, strict=True):
        assert ours.dtype is parameter.dtype
        error = (ours.float() - theirs).abs().max().item()
        assert error <= 0.06 * max(theirs.abs().max().item(), 0.1)


@pytest.mark.parametrize("make", [nn.optim.SGD, nn.optim.Adam, nn.optim.AdamW, nn.optim.RMSprop])
def test_optimizer_updates_bfloat16_parameters(make: Any) -> None:
    start = [1.0, -2.0, 3.0]
    results = []
    for dtype in ("bfloat16", "float32"):
        x = nn.Parameter(mt.tensor(start, dtype=dtype))
        optimizer = make([x], lr=0.1)
        for _ in range(3):
            optimizer.zero_grad()
            (x * x).sum().backward()
            optimizer.step()
        assert x.dtype.name == dtype
        results.append(x.detach().float().numpy())
    np.testing.assert_allclose(*results, rtol=0.03, atol=1e-3)


# --- GradScaler ---------------------------------------------------------------------------------


def scalers_of_both_libraries() -> list[tuple[Any, Any, Any]]:
    """Return a scaler, a parameter and an optimizer of this library and of torch."""
    torch = pytest.importorskip("torch")
    settings = {"init_scale": 1024.0, "growth_interval": 2}
    results = []
    for lib, networks, scaler in (
        (mt, nn, nn.GradScaler("cpu", **settings)),
        (torch, torch.nn, torch.amp.GradScaler("cpu", **settings)),
    ):
        x = networks.Parameter(lib.tensor([1.0, -2.0]))
        optimizer = (nn if lib is mt else torch).optim.SGD([x], lr=0.25)
        results.append((scaler, x, optimizer))
    return results


@pytest.mark.torch
def test_scaler_matches_torch() -> None:
    steps = [1.0, 2.0, math.inf, 1.0, math.nan, 1.0, 1.0, 3.0]
    records: list[list[Any]] = []
    for scaler, x, optimizer in scalers_of_both_libraries():
        records.append([])
        for number, factor in enumerate(steps):
            optimizer.zero_grad()
            scaler.scale((x * factor).sum()).backward()
            if number % 2:
                scaler.unscale_(optimizer)
                records[-1].append(x.grad.tolist())
            scaler.step(optimizer)
            scaler.update()
            records[-1] += [x.tolist(), scaler.get_scale(), scaler.state_dict()]
        scaler.update(7.0)
        records[-1].append(scaler.get_scale())
    assert repr(records[0]) == repr(records[1])


def test_scaler_state_dict_restores_the_scale() -> None:
    scaler, other = nn.GradScaler(init_scale=8.0), nn.GradScaler()
    other.load_state_dict(scaler.state_dict())
    assert other.state_dict() == scaler.state_dict()
    assert [each.tolist() for each in other.scale([mt.ones(1), mt.ones(2)])] == [[8], [8, 8]]
    with pytest.raises(nn.SettingError, match="lacks .*scale"):
        other.load_state_dict({})


def test_disabled_scaler_does_not_scale() -> None:
    scaler = nn.GradScaler(enabled=False)
    loss = mt.ones(1)
    assert scaler.scale(loss) is loss
    assert (scaler.get_scale(), scaler.state_dict(), scaler.is_enabled()) == (1.0, {}, False)


def test_scaling_keeps_small_gradients() -> None:
    """Without scaling, these gradients are rounded coarsely or to zero."""
    gradients = []
    for scale in (1.0, 2.0**14):
        weight = nn.Parameter(mt.tensor([[1e-4]]))
        optimizer = nn.optim.SGD([weight], lr=1.0)
        scaler = nn.GradScaler(init_scale=scale)
        with mt.autocast("cpu", mt.float16):
            loss = (mt.tensor([[1e-4]]) @ weight) * 1e-4
        scaler.scale(loss.sum()).backward()
        scaler.unscale_(optimizer)
        assert weight.grad is not None
        gradients.append(weight.grad.item())
    assert gradients[0] != pytest.approx(1e-8, rel=0.1)
    assert gradients[1] == pytest.approx(1e-8, rel=0.01)


def test_wrong_use_of_scaler_raises() -> None:
    x = nn.Parameter(mt.ones(2))
    optimizer, scaler = nn.optim.SGD([x], lr=0.1), nn.GradScaler()
    with pytest.raises(nn.NetworkError, match=r"update\(\) must be called after"):
        scaler.update()
    scaler.scale(x.sum()).backward()
    scaler.unscale_(optimizer)
    with pytest.raises(nn.NetworkError, match=r"unscale_\(\) was called twice"):
        scaler.unscale_(optimizer)
    scaler.step(optimizer)
    with pytest.raises(nn.NetworkError, match=r"unscale_\(\) was called after step"):
        scaler.unscale_(optimizer)
    with pytest.raises(nn.NetworkError, match="called twice"):
        scaler.step(optimizer)
    with pytest.raises(nn.SettingError, match="no closure"):
        scaler.step(optimizer, lambda: 1.0)
    with pytest.raises(nn.SettingError, match="new_scale must be positive"):
        scaler.update(0.0)
    with pytest.raises(nn.SettingError, match="takes tensors"):
        scaler.scale(3.0)
    half = nn.Parameter(mt.ones(2).half())
    half.sum().backward()
    with pytest.raises(nn.SettingError, match="float16 gradients cannot be unscaled"):
        nn.GradScaler().unscale_(nn.optim.SGD([half], lr=0.1))


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("growth_factor", 1.0, "growth_factor must be greater than 1; got 1.0"),
        ("growth_factor", -1.0, "growth_factor must be greater than 1"),
        ("backoff_factor", 1.0, "backoff_factor must be between 0 and 1"),
        ("backoff_factor", 0.0, "backoff_factor must be between 0 and 1"),
        ("growth_interval", 0, "growth_interval must be"),
    ],
)
def test_invalid_factor_of_scaler_raises(name: str, value: float, message: str) -> None:
    with pytest.raises(nn.SettingError, match=message):
        nn.GradScaler(**{name: value})  # type: ignore[arg-type]
    scaler = nn.GradScaler()
    before = getattr(scaler, f"get_{name}")()
    with pytest.raises(nn.SettingError, match=message):
        getattr(scaler, f"set_{name}")(value)
    assert getattr(scaler, f"get_{name}")() == before

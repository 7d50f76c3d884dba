"""Muon against its formula in NumPy, and against torch, which rounds to bfloat16 in between."""

import copy
import inspect
import json
import math
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import mt_nn as nn
import mt_tensor as mt
from mt_nn.optim import Muon
from mt_nn.optim.matrices import orthogonalized

Array = npt.NDArray[Any]

FACTORS = (3.4445, -4.775, 2.0315)
SETTINGS: list[dict[str, Any]] = [
    {},
    {"nesterov": False, "weight_decay": 0.0},
    {"lr": 0.05, "momentum": 0.5, "adjust_lr_fn": "match_rms_adamw"},
    {"lr": 0.05, "ns_steps": 3, "ns_coefficients": (3.0, -3.2, 1.2), "adjust_lr_fn": "original"},
]
SHAPES = [(3, 4), (6, 2), (1, 5)]


def initial(shape: tuple[int, ...]) -> Array:
    return np.random.default_rng(len(shape) + shape[0]).standard_normal(shape)


def gradient(x: Array) -> Array:
    return np.cos(3 * x) + 0.3 * x


def newton_schulz(x: Array, factors: tuple[float, ...], steps: int) -> Array:
    u, s, v = np.linalg.svd(x / np.linalg.norm(x), full_matrices=False)
    a, b, c = factors
    for _ in range(steps):
        s = a * s + b * s**3 + c * s**5
    return np.asarray((u * s) @ v)


def parameter_after(shape: tuple[int, ...], steps: int, **settings: Any) -> Array:
    weight = nn.Parameter(mt.tensor(initial(shape)))
    optimizer = Muon([weight], **settings)
    for _ in range(steps):
        weight.grad = mt.tensor(gradient(weight.detach().numpy()))
        optimizer.step()
    return np.array(weight.detach())


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("settings", SETTINGS)
def test_muon_steps_match_the_formula(settings: dict[str, Any], shape: tuple[int, int]) -> None:
    x, average = initial(shape), np.zeros(shape)
    rate, momentum = settings.get("lr", 1e-3), settings.get("momentum", 0.95)
    rows, columns = shape
    scale = math.sqrt(max(1, rows / columns))
    if settings.get("adjust_lr_fn") == "match_rms_adamw":
        scale = 0.2 * math.sqrt(max(rows, columns))
    for _ in range(5):
        g = gradient(x)
        average = momentum * average + (1 - momentum) * g
        step = (
            momentum * average + (1 - momentum) * g if settings.get("nesterov", True) else average
        )
        step = newton_schulz(
            step, settings.get("ns_coefficients", FACTORS), settings.get("ns_steps", 5)
        )
        x = x * (1 - rate * settings.get("weight_decay", 0.1)) - rate * scale * step
    np.testing.assert_allclose(parameter_after(shape, 5, **settings), x, rtol=1e-9)


@pytest.mark.parametrize("shape", [(4, 4), (3, 7), (7, 3)])
def test_orthogonalized_matrix_has_singular_values_near_1(shape: tuple[int, int]) -> None:
    matrix = orthogonalized(mt.tensor(initial(shape)), FACTORS, 5, 1e-7)
    values = np.linalg.svd(matrix.numpy(), compute_uv=False)
    assert values.min() > 0.6
    assert values.max() < 1.3
    assert orthogonalized(mt.zeros(shape), FACTORS, 5, 1e-7).tolist() == np.zeros(shape).tolist()


def test_muon_orthogonalizes_float16_in_float32() -> None:
    weight = nn.Parameter(mt.ones(2, 3).half())
    weight.grad = mt.tensor([[300.0, 1.0, -200.0], [250.0, 90.0, 2.0]], dtype="float16")
    Muon([weight], lr=0.5).step()
    assert weight.dtype is mt.float16
    assert weight.isfinite().all()


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("settings", SETTINGS)
def test_muon_steps_match_torch_within_rounding(
    settings: dict[str, Any], shape: tuple[int, int]
) -> None:
    torch = pytest.importorskip("torch")
    weight = torch.nn.Parameter(torch.tensor(initial(shape)))
    optimizer = torch.optim.Muon([weight], **settings)
    for _ in range(5):
        weight.grad = torch.tensor(gradient(weight.detach().numpy()))
        optimizer.step()
    distance = np.abs(weight.detach().numpy() - initial(shape)).max()
    ours = parameter_after(shape, 5, **settings)
    np.testing.assert_allclose(ours, weight.detach().numpy(), atol=0.02 * distance)


def test_muon_signature_defaults_and_state_match_torch() -> None:
    torch = pytest.importorskip("torch")
    ours, theirs = (
        [(p.name, p.kind, p.default) for p in inspect.signature(kind).parameters.values()]
        for kind in (Muon, torch.optim.Muon)
    )
    assert ours == theirs
    weight, their_weight = nn.Parameter(mt.ones(2, 3)), torch.nn.Parameter(torch.ones(2, 3))
    weight.grad, their_weight.grad = mt.ones(2, 3), torch.ones(2, 3)
    optimizer, their_optimizer = Muon([weight]), torch.optim.Muon([their_weight])
    assert optimizer.defaults == their_optimizer.defaults
    optimizer.step()
    their_optimizer.step()
    state = copy.deepcopy(optimizer.state_dict())
    their_state = their_optimizer.state_dict()["state"][0]
    assert state["state"][0].keys() == their_state.keys()
    np.testing.assert_allclose(state["state"][0]["momentum_buffer"], their_state["momentum_buffer"])
    state["state"][0] = {k: torch.tensor(v.numpy()) for k, v in state["state"][0].items()}
    their_optimizer.load_state_dict(state)


def test_param_groups_can_be_saved_as_json() -> None:
    weight = nn.Parameter(mt.tensor(initial((3, 4))))
    optimizer = Muon([weight], lr=0.1)
    groups = json.loads(json.dumps(optimizer.state_dict()["param_groups"]))
    optimizer.load_state_dict({"state": {}, "param_groups": groups})
    weight.grad = mt.ones(3, 4, dtype="float64")
    optimizer.step()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"lr": -1.0}, "lr must be at least 0"),
        ({"momentum": -0.1}, "momentum must be at least 0"),
        ({"weight_decay": -0.1}, "weight_decay must be at least 0"),
        ({"eps": -1.0}, "eps must be at least 0"),
        ({"ns_steps": 100}, "ns_steps must be less than 100"),
        ({"ns_steps": 1.5}, "ns_steps must be an integer"),
        ({"ns_coefficients": (1.0, 2.0)}, "ns_coefficients must be three numbers"),
        ({"ns_coefficients": (1.0, 2.0, "a")}, "ns_coefficients must be three numbers"),
        ({"adjust_lr_fn": "adam"}, "'original', 'match_rms_adamw' or None; got 'adam'"),
    ],
)
def test_invalid_setting_raises(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(nn.SettingError, match=message):
        Muon([nn.Parameter(mt.ones(2, 2))], **settings)


def test_parameter_that_is_not_a_matrix_raises() -> None:
    with pytest.raises(nn.SettingError, match=r"shape \(2,\) was given.*AdamW"):
        Muon(nn.Linear(2, 2).parameters())

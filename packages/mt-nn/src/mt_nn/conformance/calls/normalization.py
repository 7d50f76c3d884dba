"""Normalization."""

from __future__ import annotations

from typing import Any

import numpy as np

from mt_nn.conformance.calls.call import Call, Refused, call, refused
from mt_nn.conformance.drawing import draw
from mt_tensor.extending import Array


def normalized(x: Array, axes: tuple[int, ...], eps: float = 1e-5) -> Array:
    """Return elements less their mean, divided by their deviation, over some axes."""
    mean, variance = x.mean(axes, keepdims=True), x.var(axes, keepdims=True)
    found: Array = (x - mean) / np.sqrt(variance + eps)
    return found


def _of_channels(x: Array, weight: Any, bias: Any) -> Array:
    """Return elements scaled and shifted with a number for each channel, dimension 1."""
    shape = (-1, *(1,) * (x.ndim - 2))
    scaled = x * (1.0 if weight is None else weight.reshape(shape))
    return scaled + (0.0 if bias is None else bias.reshape(shape))


def _layer(x: Array, shape: Any, weight: Any = None, bias: Any = None, eps: float = 1e-5) -> Array:
    axes = tuple(range(x.ndim - len(shape), x.ndim))
    scaled = normalized(x, axes, eps) * (1.0 if weight is None else weight)
    return scaled + (0.0 if bias is None else bias)


def _layer_norm(x: Array, normalized_shape: Any, **told: Any) -> Array:
    shape = (normalized_shape,) if isinstance(normalized_shape, int) else normalized_shape
    told.pop("elementwise_affine", None)
    return _layer(x, shape, **{k: v for k, v in told.items() if v is not False})


def _rms(x: Array, normalized_shape: Any, weight: Any = None, eps: Any = None, **_: Any) -> Array:
    shape = (normalized_shape,) if isinstance(normalized_shape, int) else normalized_shape
    axes = tuple(range(x.ndim - len(shape), x.ndim))
    scale = np.sqrt((x * x).mean(axes, keepdims=True) + (2.0**-52 if eps is None else eps))
    found: Array = x / scale * (1.0 if weight is None else weight)
    return found


def _batch(x: Array, weight: Any = None, bias: Any = None, eps: float = 1e-5, **_: Any) -> Array:
    return _of_channels(normalized(x, (0, *range(2, x.ndim)), eps), weight, bias)


def _at_rest(x: Array, weight: Any = None, bias: Any = None, eps: float = 1e-5, **_: Any) -> Array:
    """Return what a layer does that has seen nothing yet, in evaluation mode."""
    return _of_channels(x / np.sqrt(1 + eps), weight, bias)


def _instances(rest: int) -> Any:
    def instance(
        x: Array, weight: Any = None, bias: Any = None, eps: float = 1e-5, **_: Any
    ) -> Array:
        batch = x[None] if x.ndim == rest + 1 else x
        found = _of_channels(normalized(batch, tuple(range(2, rest + 2)), eps), weight, bias)
        return found.reshape(x.shape)

    return instance


def _instance(x: Array, *_: Any, weight: Any = None, bias: Any = None, **__: Any) -> Array:
    return _of_channels(normalized(x, tuple(range(2, x.ndim))), weight, bias)


def _group(
    x: Array, num_groups: int, weight: Any = None, bias: Any = None, eps: float = 1e-5, **_: Any
) -> Array:
    rows = normalized(x.reshape(x.shape[0], num_groups, -1), (2,), eps)
    return _of_channels(rows.reshape(x.shape), weight, bias)


def _local(x: Array, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0) -> Array:
    found = np.empty_like(x)
    for c in range(x.shape[1]):
        near = x[:, max(c - size // 2, 0) : c + (size - 1) // 2 + 1]
        found[:, c] = x[:, c] / (k + alpha * (near * near).sum(1) / size) ** beta
    return found


_BATCHES = [("BatchNorm1d", (5, 3)), ("BatchNorm1d", (4, 3, 2)), ("BatchNorm2d", (2, 3, 2, 2))]
_BATCHES += [("BatchNorm3d", (2, 3, 1, 2, 2))]
_SETTINGS: list[dict[str, Any]] = [
    {},
    {"eps": 0.1, "momentum": 0.5, "bias": False},
    {"momentum": None},
    {"affine": False, "track_running_stats": False},
]

_TRACKED: dict[str, Any] = {
    "affine": True,
    "track_running_stats": True,
    "momentum": 0.3,
    "eps": 0.1,
}

CALLS: list[Call] = [
    call("functional.layer_norm", draw(4, 3, 5), (5,), draw(5), draw(5), oracle=_layer),
    call("functional.layer_norm", draw(4, 3, 5), (3, 5), eps=0.1, oracle=_layer),
    *(
        call("LayerNorm", draw(4, 3, 5), oracle=_layer_norm, **told)
        for told in (
            {"normalized_shape": 5},
            {"normalized_shape": (3, 5), "eps": 0.1},
            {"normalized_shape": [5], "bias": False},
            {"normalized_shape": (3, 5), "elementwise_affine": False},
        )
    ),
    call("LayerNorm", draw(5), normalized_shape=5, oracle=_layer_norm),
    call("functional.rms_norm", draw(4, 3, 5), (3, 5), draw(3, 5), 0.1, oracle=_rms),
    call("functional.rms_norm", draw(4, 5), (5,), oracle=_rms),
    *(
        call("RMSNorm", draw(2, 3, 5), oracle=_rms, **told)
        for told in (
            {"normalized_shape": 5},
            {"normalized_shape": (3, 5), "eps": 0.1},
            {"normalized_shape": [5], "elementwise_affine": False},
        )
    ),
    call(
        "functional.batch_norm",
        draw(6, 3, 4),
        None,
        None,
        training=True,
        oracle=lambda x, *_, **__: normalized(x, (0, 2)),
    ),
    *(
        call(name, draw(*shape), num_features=3, oracle=_batch, **told)
        for name, shape in _BATCHES
        for told in (_SETTINGS if name == "BatchNorm1d" else _SETTINGS[:1])
    ),
    *(
        call(name, draw(*shape), num_features=3, in_training=False, oracle=_at_rest)
        for name, shape in _BATCHES
    ),
    call(
        "BatchNorm1d", draw(4, 3), num_features=3, in_training=False, oracle=_batch, **_SETTINGS[-1]
    ),
    *(
        call(name, draw(*shape), num_features=3, oracle=_instances(rest), **told)
        for name, shape, rest in (
            ("InstanceNorm1d", (2, 3, 4), 1),
            ("InstanceNorm1d", (3, 4), 1),
            ("InstanceNorm2d", (2, 3, 2, 2), 2),
            ("InstanceNorm2d", (3, 2, 3), 2),
            ("InstanceNorm3d", (2, 3, 1, 2, 2), 3),
        )
        for told in ({}, _TRACKED)
    ),
    call(
        "InstanceNorm1d",
        draw(2, 3, 4),
        num_features=3,
        track_running_stats=True,
        in_training=False,
        oracle=_at_rest,
    ),
    call("functional.instance_norm", draw(2, 3, 4), oracle=_instance),
    call("functional.instance_norm", draw(2, 3, 2, 2), None, None, draw(3), draw(3)),
    call("functional.group_norm", draw(2, 4, 3), 2, draw(4), draw(4), oracle=_group),
    call("functional.group_norm", draw(3, 4), 2, eps=0.1, oracle=_group),
    *(
        call("GroupNorm", draw(2, 4, 3), oracle=_group, num_channels=4, **told)
        for told in (
            {"num_groups": 1},
            {"num_groups": 2, "eps": 0.1, "bias": False},
            {"num_groups": 4, "affine": False},
        )
    ),
    *(
        call(name, draw(2, 4, 3), oracle=_local, **told)
        for name in ("LocalResponseNorm", "functional.local_response_norm")
        for told in (
            {"size": 2},
            {"size": 3, "alpha": 0.5, "beta": 0.5, "k": 2.0},
            {"size": 9, "alpha": 1.0},
        )
    ),
]

REFUSED: list[Refused] = [
    refused("functional.layer_norm", draw(4, 3), (4,), says="whose last sizes"),
    refused("LayerNorm", draw(4, 3), normalized_shape=4, says="whose last sizes"),
    refused("functional.rms_norm", draw(4, 3), (3,), draw(4), says="parameters of that shape"),
    refused("BatchNorm1d", draw(4, 3, 2, 2), num_features=3, says="takes shape"),
    refused("BatchNorm2d", draw(4, 3), num_features=3, says="takes shape"),
    refused("BatchNorm1d", draw(4, 3), num_features=2, says="shape .channels,."),
    refused("BatchNorm1d", draw(1, 3), num_features=3, says="more than one value"),
    refused("InstanceNorm1d", draw(2, 3, 2, 2), num_features=3, says="takes shape"),
    refused("InstanceNorm1d", draw(2, 3, 1), num_features=3, says="more than one value"),
    refused("functional.instance_norm", draw(2, 3), says="more than one value"),
    refused("GroupNorm", num_groups=3, num_channels=4, says="multiple of num_groups"),
    refused("functional.group_norm", draw(2, 4), 3, says="evenly"),
    refused("functional.group_norm", draw(1, 4), 4, says="more than one value"),
    refused("functional.group_norm", draw(4), 2, says="channels"),
    refused("functional.local_response_norm", draw(2, 3), 2, says="takes floating-point"),
    refused("functional.layer_norm", draw(4, 3), (3,), np.ones(3, int), says="one dtype"),
    refused("functional.group_norm", draw(2, 4), 2, np.ones(4, int), says="one dtype"),
    refused("functional.instance_norm", draw(2, 3, 4), np.ones(3, int), says="one dtype"),
    refused("functional.batch_norm", draw(5, 3), None, None, training="no", says="True or False"),
]

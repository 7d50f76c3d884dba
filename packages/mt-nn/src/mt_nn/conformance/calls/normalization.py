"""Calls of normalization layers."""

from __future__ import annotations

from typing import Any

from mt_nn.conformance.calls.call import Call, call
from mt_nn.conformance.drawing import draw

_BATCHES = [("BatchNorm1d", (5, 3)), ("BatchNorm1d", (4, 3, 2)), ("BatchNorm2d", (2, 3, 2, 2))]
_BATCHES += [("BatchNorm3d", (2, 3, 1, 2, 2))]
_SETTINGS: list[dict[str, Any]] = [
    {},
    {"eps": 0.1, "momentum": 0.5, "bias": False},
    {"momentum": None},
    {"affine": False, "track_running_stats": False},
]

_TRACKED: dict[str, Any] = {
    "affine": True, "track_running_stats": True, "momentum": 0.3, "eps": 0.1,
}  # fmt: skip

CALLS: list[Call] = [
    call("functional.layer_norm", draw(4, 3, 5), (5,), draw(5), draw(5)),
    call("functional.layer_norm", draw(4, 3, 5), (3, 5), eps=0.1),
    *(
        call("LayerNorm", draw(4, 3, 5), **settings)
        for settings in (
            {"normalized_shape": 5},
            {"normalized_shape": (3, 5), "eps": 0.1},
            {"normalized_shape": [5], "bias": False},
            {"normalized_shape": (3, 5), "elementwise_affine": False},
        )
    ),
    call("LayerNorm", draw(5), normalized_shape=5),
    call("functional.rms_norm", draw(4, 3, 5), (3, 5), draw(3, 5), 0.1),
    call("functional.rms_norm", draw(4, 5), (5,)),
    *(
        call("RMSNorm", draw(2, 3, 5), **settings)
        for settings in (
            {"normalized_shape": 5},
            {"normalized_shape": (3, 5), "eps": 0.1},
            {"normalized_shape": [5], "elementwise_affine": False},
        )
    ),
    call("functional.batch_norm", draw(6, 3, 4), None, None, training=True),
    *(
        call(name, draw(*shape), num_features=3, **settings)
        for name, shape in _BATCHES
        for settings in (_SETTINGS if name == "BatchNorm1d" else _SETTINGS[:1])
    ),
    *(call(name, draw(*shape), num_features=3, in_training=False) for name, shape in _BATCHES),
    call("BatchNorm1d", draw(4, 3), num_features=3, in_training=False, **_SETTINGS[-1]),
    *(
        call(name, draw(*shape), num_features=3, **settings)
        for name, shape in (
            ("InstanceNorm1d", (2, 3, 4)),
            ("InstanceNorm1d", (3, 4)),
            ("InstanceNorm2d", (2, 3, 2, 2)),
            ("InstanceNorm2d", (3, 2, 3)),
            ("InstanceNorm3d", (2, 3, 1, 2, 2)),
        )
        for settings in ({}, _TRACKED)
    ),
    call(
        "InstanceNorm1d", draw(2, 3, 4), num_features=3, track_running_stats=True, in_training=False
    ),
    call("functional.instance_norm", draw(2, 3, 4)),
    call("functional.instance_norm", draw(2, 3, 2, 2), None, None, draw(3), draw(3)),
    call("functional.group_norm", draw(2, 4, 3), 2, draw(4), draw(4)),
    call("functional.group_norm", draw(3, 4), 2, eps=0.1),
    *(
        call("GroupNorm", draw(2, 4, 3), num_channels=4, **settings)
        for settings in (
            {"num_groups": 1},
            {"num_groups": 2, "eps": 0.1, "bias": False},
            {"num_groups": 4, "affine": False},
        )
    ),
    *(
        call(name, draw(2, 4, 3), **settings)
        for name in ("LocalResponseNorm", "functional.local_response_norm")
        for settings in (
            {"size": 2},
            {"size": 3, "alpha": 0.5, "beta": 0.5, "k": 2.0},
            {"size": 9, "alpha": 1.0},
        )
    ),
]

"""Weight decay, and averages: expressions that the steps of optimizers share.

A step is a formula that `mt_tensor.fuse_in_place` makes one pass over memory; these are parts.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from mt_tensor import Tensor

Decay = Literal["coupled", "decoupled"] | None
"""Whether the decay of a parameter is added to its gradient, or apart from it (Loshchilov and
Hutter 2019)."""


def decay_of(group: Mapping[str, Any]) -> tuple[float, Decay]:
    """Return the number that `decayed` takes, and the kind of decay that a group has."""
    strength = group["weight_decay"]
    if not strength:
        return 0.0, None
    if group.get("decoupled_weight_decay"):
        return 1 - group["lr"] * strength, "decoupled"
    return strength, "coupled"


def decayed(x: Tensor, grad: Tensor, amount: Any, decay: Decay) -> tuple[Tensor, Tensor]:
    """Return a parameter and its gradient, one of which the decay has changed."""
    if decay == "coupled":
        return x, grad + amount * x
    return (x * amount, grad) if decay == "decoupled" else (x, grad)


def follow(average: Tensor, value: Tensor, kept: Any, taken: Any) -> Tensor:
    """Return a running average that has moved; `taken` is `1 - kept`, which would round here."""
    moved: Tensor = average * kept + value * taken
    return moved

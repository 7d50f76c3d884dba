"""Weight decay and running averages: expressions that the steps of optimizers share.

A step is a formula that `mt_tensor.fuse_in_place` turns into one pass over memory.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from mt_tensor import Tensor

Decay = Literal["coupled", "decoupled"] | None
"""Whether weight decay is added to the gradient, or applied to the parameter separately
(Loshchilov and Hutter 2019)."""


def decay_of(group: Mapping[str, Any]) -> tuple[float, Decay]:
    """Return the last two arguments of `decayed` for the settings of a group."""
    strength = group["weight_decay"]
    if not strength:
        return 0.0, None
    if group.get("decoupled_weight_decay"):
        return 1 - group["lr"] * strength, "decoupled"
    return strength, "coupled"


def decayed(x: Tensor, grad: Tensor, amount: Any, decay: Decay) -> tuple[Tensor, Tensor]:
    """Return a parameter and its gradient after weight decay."""
    if decay == "coupled":
        return x, grad + amount * x
    return (x * amount, grad) if decay == "decoupled" else (x, grad)


def follow(average: Tensor, value: Tensor, kept: Any, taken: Any) -> Tensor:
    """Return the next running average; `taken` is `1 - kept`, rounded once, in double precision."""
    moved: Tensor = average * kept + value * taken
    return moved

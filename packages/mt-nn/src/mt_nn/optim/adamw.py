"""AdamW: Adam with decoupled weight decay."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from mt_nn.core.adam import Adam
from mt_nn.core.optimizer import settings_among
from mt_tensor import Tensor


class AdamW(Adam):
    """Adam with decoupled weight decay (Loshchilov and Hutter 2019, algorithm 2).

    Parameters are multiplied by `1 - lr * weight_decay` before the step, so that the decay does not
    depend on the size of gradients. See `Adam` for the rest.
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: float | Tensor = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 1e-2,
        amsgrad: bool = False,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
        capturable: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        super().__init__(params, **settings_among(locals()), decoupled_weight_decay=True)

"""A schedule that waits for a measure of success to stand still."""

from __future__ import annotations

import math
from typing import Any, Literal, SupportsFloat

from mt_nn.core.optimizer import Optimizer
from mt_nn.core.settings import integer
from mt_nn.optim.lr_scheduler.scheduler import (
    Schedule,
    check,
    check_either,
    check_optimizer,
    one_for_each,
    rate_of,
    set_rate,
)


class ReduceLROnPlateau(Schedule):
    """Rates are multiplied by `factor` when a measure has not become better for some epochs.

    Args:
        optimizer: whose rates are set.
        mode: whether smaller is better (`"min"`, as for losses) or larger (`"max"`).
        factor: what rates are multiplied by, below 1.
        patience: after how many epochs that are not better it happens with the next one.
        threshold: by how much a measure must be better to count.
        threshold_mode: whether that is a share of the best so far, `"rel"`, or not, `"abs"`.
        cooldown: how many epochs do not count after a reduction.
        min_lr: below what rates do not fall, one for all groups or one for each.
        eps: reductions by no more than that are left out.

    Attributes:
        best: the best measure so far.
        num_bad_epochs: for how many epochs there was no better one.

    Raises:
        SettingError: an invalid setting.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        mode: Literal["min", "max"] = "min",
        factor: float = 0.1,
        patience: int = 10,
        threshold: float = 1e-4,
        threshold_mode: Literal["rel", "abs"] = "rel",
        cooldown: int = 0,
        min_lr: float | list[float] = 0,
        eps: float = 1e-8,
    ) -> None:
        check_optimizer(optimizer)
        check_either("mode", mode, "min", "max")
        check_either("threshold_mode", threshold_mode, "rel", "abs")
        check("factor", factor, factor < 1, "below 1")
        self.optimizer = optimizer
        self.mode, self.threshold, self.threshold_mode = mode, threshold, threshold_mode
        self.factor, self.eps = factor, eps
        self.patience = integer("patience", patience, 0)
        self.cooldown = integer("cooldown", cooldown, 0)
        self.min_lrs: list[float] = one_for_each("min_lr", optimizer, min_lr)
        self.default_min_lr = None if isinstance(min_lr, list | tuple) else min_lr
        self.mode_worse = math.inf if mode == "min" else -math.inf
        self.best = self.mode_worse
        self.cooldown_counter = self.num_bad_epochs = self.last_epoch = 0
        self._last_lr = self._rates()

    def step(self, metrics: SupportsFloat) -> None:
        """Go on to the next epoch.

        Args:
            metrics: the measure of the epoch before, a number or a tensor of one.
        """
        current: Any = float(metrics)
        self.last_epoch += 1
        if self._is_better(current):
            self.best, self.num_bad_epochs = current, 0
        else:
            self.num_bad_epochs += 1
        if self.cooldown_counter > 0:
            self.cooldown_counter -= 1
            self.num_bad_epochs = 0
        if self.num_bad_epochs > self.patience:
            self._reduce()
            self.cooldown_counter, self.num_bad_epochs = self.cooldown, 0
        self._last_lr = self._rates()

    def _is_better(self, current: float) -> bool:
        sign = 1 if self.mode == "max" else -1
        if self.threshold_mode == "rel":
            bound = self.best * (1 + sign * self.threshold)
        else:
            bound = self.best + sign * self.threshold
        return sign * current > sign * bound

    def _reduce(self) -> None:
        groups = self.optimizer.param_groups
        if self.default_min_lr is not None:  # groups may have been added
            self.min_lrs = [self.default_min_lr] * len(groups)
        for group, least in zip(groups, self.min_lrs, strict=True):
            rate = rate_of(group)
            reduced = max(rate * self.factor, least)
            if rate - reduced > self.eps:
                set_rate(group, reduced)

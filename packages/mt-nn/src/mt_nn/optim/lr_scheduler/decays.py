"""Schedules given by functions, steps, lines and powers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from mt_nn.core.optimizer import Optimizer
from mt_nn.core.settings import integer
from mt_nn.optim.lr_scheduler.scheduler import FactorLR, LRScheduler, check, one_for_each

Rule = Callable[[int], float]


class _ByRules(LRScheduler):
    """A scheduler that is given by functions, which are no part of its state.

    Args:
        optimizer: whose rates are set.
        lr_lambda: a function of the number of the epoch, or a list with one for each group.
        last_epoch: see `LRScheduler`.
    """

    _functions = ("lr_lambdas",)

    def __init__(
        self, optimizer: Optimizer, lr_lambda: Rule | list[Rule], last_epoch: int = -1
    ) -> None:
        self.lr_lambdas: list[Rule] = one_for_each("lr_lambda", optimizer, lr_lambda)
        super().__init__(optimizer, last_epoch)


class LambdaLR(_ByRules):
    """Rates are those of the beginning times a function of the epoch.

    Args:
        optimizer: whose rates are set.
        lr_lambda: a function of the number of the epoch, or a list with one for each group.
        last_epoch: see `LRScheduler`.
    """

    def get_lr(self) -> list[float]:
        """Return the rate of each group at `last_epoch`."""
        pairs = zip(self.base_lrs, self.lr_lambdas, strict=True)
        return [rate * rule(self.last_epoch) for rate, rule in pairs]


class MultiplicativeLR(_ByRules, FactorLR):
    """Rates are multiplied by a function of the epoch at each one.

    Args:
        optimizer: whose rates are set.
        lr_lambda: a function of the number of the epoch, or a list with one for each group.
        last_epoch: see `LRScheduler`.
    """

    def ratio(self, group: int) -> float:
        """Return what the function says."""
        return self.lr_lambdas[group](self.last_epoch)


class StepLR(FactorLR):
    """Rates are multiplied by `gamma` every `step_size` epochs."""

    def __init__(
        self, optimizer: Optimizer, step_size: int, gamma: float = 0.1, last_epoch: int = -1
    ) -> None:
        self.step_size = integer("step_size", step_size, 1)
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def ratio(self, group: int) -> float:
        """Return `gamma` where a step ends."""
        return 1.0 if self.last_epoch % self.step_size else self.gamma


class MultiStepLR(FactorLR):
    """Rates are multiplied by `gamma` at each of the epochs in `milestones`."""

    def __init__(
        self,
        optimizer: Optimizer,
        milestones: Iterable[int],
        gamma: float = 0.1,
        last_epoch: int = -1,
    ) -> None:
        self.milestones = Counter(integer("a milestone", epoch, 0) for epoch in milestones)
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def start(self) -> float:
        """Return `gamma` if epoch 0 is a milestone, too."""
        return self.gamma ** self.milestones[0]

    def ratio(self, group: int) -> float:
        """Return `gamma` at a milestone, as often as it is given."""
        return self.gamma ** self.milestones[self.last_epoch]

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Continue; JSON makes strings of the milestones."""
        super().load_state_dict(state_dict)
        self.milestones = Counter({int(k): count for k, count in self.milestones.items()})


class ExponentialLR(FactorLR):
    """Rates are multiplied by `gamma` at each epoch."""

    def __init__(self, optimizer: Optimizer, gamma: float, last_epoch: int = -1) -> None:
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def ratio(self, group: int) -> float:
        """Return `gamma`."""
        return self.gamma


class ConstantLR(FactorLR):
    """Rates are multiplied by `factor`, above 0 and up to 1, for the first `total_iters` epochs."""

    def __init__(
        self,
        optimizer: Optimizer,
        factor: float = 1 / 3,
        total_iters: int = 5,
        last_epoch: int = -1,
    ) -> None:
        check("factor", factor, 0 < factor <= 1, "above 0 and at most 1")
        self.total_iters = integer("total_iters", total_iters, 0)
        self.factor = factor
        super().__init__(optimizer, last_epoch)

    def start(self) -> float:
        """Return the setting."""
        return self.factor

    def ratio(self, group: int) -> float:
        """Return the inverse of the setting where it ends."""
        return 1 / self.factor if self.last_epoch == self.total_iters else 1.0


class LinearLR(FactorLR):
    """Rates are multiplied by numbers on a line, as for a warm-up.

    Args:
        optimizer: whose rates are set.
        start_factor: what rates are multiplied by at first, above 0 and up to 1.
        end_factor: what they are multiplied by from epoch `total_iters` on, from 0 to 1.
        total_iters: how many epochs lie between.
        last_epoch: see `LRScheduler`.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        start_factor: float = 1 / 3,
        end_factor: float = 1.0,
        total_iters: int = 5,
        last_epoch: int = -1,
    ) -> None:
        check("start_factor", start_factor, 0 < start_factor <= 1, "above 0 and at most 1")
        check("end_factor", end_factor, 0 <= end_factor <= 1, "from 0 to 1")
        self.start_factor, self.end_factor = start_factor, end_factor
        self.total_iters = integer("total_iters", total_iters, 1)
        super().__init__(optimizer, last_epoch)

    def start(self) -> float:
        """Return the beginning of the line."""
        return self.start_factor

    def ratio(self, group: int) -> float:
        """Return the quotient of neighbours on the line."""
        if self.last_epoch > self.total_iters:
            return 1.0
        rise = self.end_factor - self.start_factor
        return 1.0 + rise / (self.total_iters * self.start_factor + (self.last_epoch - 1) * rise)


class PolynomialLR(FactorLR):
    """Rates are multiplied by `(1 - epoch / total_iters)^power`, and stay 0 in the end."""

    def __init__(
        self,
        optimizer: Optimizer,
        total_iters: int = 5,
        power: float = 1.0,
        last_epoch: int = -1,
    ) -> None:
        self.total_iters = integer("total_iters", total_iters, 1)
        self.power = power
        super().__init__(optimizer, last_epoch)

    def ratio(self, group: int) -> float:
        """Return the quotient of neighbours on the curve."""
        left = self.total_iters - self.last_epoch
        return 1.0 if left < 0 else (left / (left + 1)) ** self.power

"""Schedulers whose rates depend on the epoch only: decays, cosines and cycles."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any, Literal

from mt_nn.core.optimizer import Optimizer
from mt_nn.core.settings import integer
from mt_nn.errors import SettingError
from mt_nn.optim.lr_scheduler import scheduler
from mt_nn.optim.lr_scheduler.scheduler import DeclaredLR, FactorLR, LRScheduler
from mt_nn.utils.settings import check, choice

# --- Decays ---------------------------------------------------------------------------------------


Rule = Callable[[int], float]


class _ByRules(LRScheduler):
    """Base of schedulers that are defined by functions of the epoch."""

    _functions = ("lr_lambdas",)

    def __init__(
        self, optimizer: Optimizer, lr_lambda: Rule | list[Rule], last_epoch: int = -1
    ) -> None:
        self.lr_lambdas: list[Rule] = scheduler.one_per_group("lr_lambda", optimizer, lr_lambda)
        super().__init__(optimizer, last_epoch)


class LambdaLR(_ByRules):
    """Multiply the initial rates by a function of the epoch.

    Args:
        optimizer: the optimizer whose learning rates are set.
        lr_lambda: a function of the epoch, or a list with one function per group.
        last_epoch: see `LRScheduler`.
    """

    def get_lr(self) -> list[float]:
        """Return the rate of each group at `last_epoch`."""
        pairs = zip(self.base_lrs, self.lr_lambdas, strict=True)
        return [rate * rule(self.last_epoch) for rate, rule in pairs]


class MultiplicativeLR(_ByRules, FactorLR):
    """Multiply the current rates by a function of the epoch, at each epoch.

    Args:
        optimizer: the optimizer whose learning rates are set.
        lr_lambda: a function of the epoch, or a list with one function per group.
        last_epoch: see `LRScheduler`.
    """

    def ratio(self, group: int) -> float:
        """Return the factor that the function returns for `last_epoch`."""
        return self.lr_lambdas[group](self.last_epoch)


class StepLR(DeclaredLR, FactorLR):
    """Multiply rates by `gamma` every `step_size` epochs.

    Args:
        optimizer: the optimizer whose learning rates are set.
        step_size: the number of epochs between two decays, a positive integer.
        gamma: the factor.
        last_epoch: see `LRScheduler`.
    """

    step_size: int
    gamma: float = 0.1
    last_epoch: int = -1

    def _check(self) -> None:
        self.step_size = integer("step_size", self.step_size, 1)

    def ratio(self, group: int) -> float:
        """Return `gamma` if `last_epoch` is a multiple of `step_size`, otherwise 1."""
        return 1.0 if self.last_epoch % self.step_size else self.gamma


class MultiStepLR(DeclaredLR, FactorLR):
    """Multiply rates by `gamma` at each epoch in `milestones`, once per occurrence.

    Args:
        optimizer: the optimizer whose learning rates are set.
        milestones: the epochs, non-negative integers.
        gamma: the factor.
        last_epoch: see `LRScheduler`.
    """

    milestones: Any
    gamma: float = 0.1
    last_epoch: int = -1

    def _check(self) -> None:
        self.milestones = Counter(integer("a milestone", epoch, 0) for epoch in self.milestones)

    def start(self) -> float:
        """Return `gamma` if epoch 0 is a milestone, otherwise 1."""
        return float(self.gamma ** self.milestones[0])

    def ratio(self, group: int) -> float:
        """Return `gamma` to the power of the number of milestones at this epoch."""
        return float(self.gamma ** self.milestones[self.last_epoch])

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Load a state; in JSON, milestones are strings."""
        super().load_state_dict(state_dict)
        self.milestones = Counter({int(k): count for k, count in self.milestones.items()})


class ExponentialLR(DeclaredLR, FactorLR):
    """Multiply rates by `gamma` at each epoch.

    Args:
        optimizer: the optimizer whose learning rates are set.
        gamma: the factor.
        last_epoch: see `LRScheduler`.
    """

    gamma: float
    last_epoch: int = -1

    def ratio(self, group: int) -> float:
        """Return `gamma`."""
        return self.gamma


class ConstantLR(DeclaredLR, FactorLR):
    """Multiply rates by `factor`, in (0, 1], for the first `total_iters` epochs.

    Args:
        optimizer: the optimizer whose learning rates are set.
        factor: the factor.
        total_iters: the number of epochs, after which the rates are the initial ones again.
        last_epoch: see `LRScheduler`.
    """

    factor: float = 1 / 3
    total_iters: int = 5
    last_epoch: int = -1

    def _check(self) -> None:
        check("factor", self.factor, 0 < self.factor <= 1, "above 0 and at most 1")
        self.total_iters = integer("total_iters", self.total_iters, 0)

    def start(self) -> float:
        """Return the factor."""
        return self.factor

    def ratio(self, group: int) -> float:
        """Return the inverse of the factor at epoch `total_iters`, otherwise 1."""
        return 1 / self.factor if self.last_epoch == self.total_iters else 1.0


class LinearLR(DeclaredLR, FactorLR):
    """Multiply rates by a factor that changes linearly, for example for a warm-up.

    Args:
        optimizer: the optimizer whose learning rates are set.
        start_factor: the factor at epoch 0, in (0, 1].
        end_factor: the factor from epoch `total_iters` on, in [0, 1].
        total_iters: the number of epochs in between.
        last_epoch: see `LRScheduler`.
    """

    start_factor: float = 1 / 3
    end_factor: float = 1.0
    total_iters: int = 5
    last_epoch: int = -1

    def _check(self) -> None:
        start, end = self.start_factor, self.end_factor
        check("start_factor", start, 0 < start <= 1, "above 0 and at most 1")
        check("end_factor", end, 0 <= end <= 1, "from 0 to 1")
        self.total_iters = integer("total_iters", self.total_iters, 1)

    def start(self) -> float:
        """Return the factor at epoch 0."""
        return self.start_factor

    def ratio(self, group: int) -> float:
        """Return the quotient of the factors of this epoch and the previous one."""
        if self.last_epoch > self.total_iters:
            return 1.0
        rise = self.end_factor - self.start_factor
        last = self.total_iters * self.start_factor + (self.last_epoch - 1) * rise
        return max(1.0 + rise / last, 0.0)  # rounding must not make a last factor of 0 negative


class PolynomialLR(DeclaredLR, FactorLR):
    """Multiply rates by `(1 - epoch / total_iters)**power`, and by 0 after `total_iters` epochs.

    Args:
        optimizer: the optimizer whose learning rates are set.
        total_iters: the number of epochs until the rates are 0.
        power: the exponent; 1 for a linear decay.
        last_epoch: see `LRScheduler`.
    """

    total_iters: int = 5
    power: float = 1.0
    last_epoch: int = -1

    def _check(self) -> None:
        self.total_iters = integer("total_iters", self.total_iters, 1)

    def ratio(self, group: int) -> float:
        """Return the quotient of the factors of this epoch and the previous one."""
        left = self.total_iters - self.last_epoch
        return 1.0 if left < 0 else (left / (left + 1)) ** self.power


# --- Cosines and cycles ---------------------------------------------------------------------------


def _cosine(start: float, end: float, fraction: float) -> float:
    """Interpolate between `start` and `end` along half a period of the cosine."""
    return end + (start - end) * (1 + math.cos(math.pi * fraction)) / 2


def _line(start: float, end: float, fraction: float) -> float:
    return start + (end - start) * fraction


class CosineAnnealingLR(DeclaredLR, LRScheduler):
    """Decrease rates to `eta_min` along half a period of a cosine, in `T_max` epochs.

    Afterwards rates rise again. See Loshchilov and Hutter 2017, "SGDR", without restarts.

    Args:
        optimizer: the optimizer whose learning rates are set.
        T_max: the number of epochs until the rates are `eta_min`, a positive integer.
        eta_min: the smallest rate.
        last_epoch: see `LRScheduler`.
    """

    T_max: int
    eta_min: float = 0.0
    last_epoch: int = -1

    def _check(self) -> None:
        self.T_max = integer("T_max", self.T_max, 1)

    def get_lr(self) -> list[float]:
        """Return the rate of each group at `last_epoch`, computed from the previous rate."""
        rates = self._rates()
        if self._is_initial_step or self.last_epoch == 0:
            return rates
        if (self.last_epoch - 1 - self.T_max) % (2 * self.T_max) == 0:  # `before` would be 0
            rise = (1 - math.cos(math.pi / self.T_max)) / 2
            pairs = zip(rates, self.base_lrs, strict=True)
            return [rate + (base - self.eta_min) * rise for rate, base in pairs]
        now, before = (
            1 + math.cos(math.pi * epoch / self.T_max)
            for epoch in (self.last_epoch, self.last_epoch - 1)
        )
        return [now / before * (rate - self.eta_min) + self.eta_min for rate in rates]


class CosineAnnealingWarmRestarts(DeclaredLR, LRScheduler):
    """Decrease rates along half a period of a cosine, and restart (Loshchilov and Hutter 2017).

    Args:
        optimizer: the optimizer whose learning rates are set.
        T_0: the number of epochs until the first restart.
        T_mult: the factor by which each period is longer than the previous one.
        eta_min: the smallest rate.
        last_epoch: see `LRScheduler`.
    """

    T_0: int
    T_mult: int = 1
    eta_min: float = 0.0
    last_epoch: int = -1

    def _check(self) -> None:
        self.T_0 = self.T_i = integer("T_0", self.T_0, 1)
        self.T_mult = integer("T_mult", self.T_mult, 1)
        self.T_cur = 0.0

    def _initialize(self) -> None:
        super()._initialize()
        self._go_to(self.last_epoch)
        self._set_rates(self.get_lr())

    def get_lr(self) -> list[float]:
        """Return the rate of each group, `T_cur` epochs after the last restart."""
        return [_cosine(base, self.eta_min, self.T_cur / self.T_i) for base in self.base_lrs]

    def step(self, epoch: float | None = None) -> None:
        """Advance to the next epoch, or to `epoch`, such as `epoch + batch / batches`.

        Raises:
            SettingError: the epoch is negative.
        """
        self._step_count += 1
        if epoch is None:
            self.last_epoch += 1
            self.T_cur += 1
            if self.T_cur >= self.T_i:
                self.T_cur %= self.T_i
                self.T_i *= self.T_mult
        else:
            check("epoch", epoch, epoch >= 0, "at least 0")
            self._go_to(epoch)
        self._set_rates(self.get_lr())

    def _go_to(self, epoch: float) -> None:
        """Set the period that contains an epoch, and the position in it."""
        self.last_epoch = math.floor(epoch)
        self.T_cur, self.T_i = epoch, self.T_0
        while self.T_mult > 1 and self.T_cur >= self.T_i:
            self.T_cur -= self.T_i
            self.T_i *= self.T_mult
        self.T_cur %= self.T_i


class _MomentumCycle(LRScheduler):
    """Base of schedulers that cycle momentum, or Adam's first beta, inversely to the rates."""

    cycle_momentum: bool
    use_beta1: bool

    def _prepare_momentum(self, optimizer: Optimizer, base: Any, largest: Any, begin: bool) -> None:
        """Store the bounds of each group's momentum; if `begin`, set it to the largest."""
        if not {"momentum", "betas"} & set(optimizer.defaults):
            raise SettingError(
                f"{type(optimizer).__name__} has no momentum to cycle: pass cycle_momentum=False."
            )
        self.use_beta1 = "betas" in optimizer.defaults
        bounds = zip(
            optimizer.param_groups,
            scheduler.one_per_group("base_momentum", optimizer, base),
            scheduler.one_per_group("max_momentum", optimizer, largest),
            strict=True,
        )
        for group, low, high in bounds if begin else ():
            group["base_momentum"], group["max_momentum"] = low, high
            self._set_momentum(group, high)

    def _set_momentum(self, group: dict[str, Any], momentum: float) -> None:
        if self.use_beta1:
            group["betas"] = (momentum, *group["betas"][1:])
        else:
            group["momentum"] = momentum


class OneCycleLR(_MomentumCycle):
    """Raise rates once, then lower them to almost 0; cycle momentum inversely.

    Call `step` after each batch (Smith and Topin 2018, "Super-Convergence").

    Args:
        optimizer: the optimizer whose learning rates are set.
        max_lr: the highest rate, one value for all groups or one per group.
        total_steps: the number of steps; or else give `epochs` and `steps_per_epoch`.
        epochs: the number of epochs.
        steps_per_epoch: the number of steps per epoch.
        pct_start: the fraction of the steps in which the rate rises.
        anneal_strategy: the curve: `"cos"` or `"linear"`.
        cycle_momentum: whether to cycle the momentum, or Adam's first beta, too.
        base_momentum: the lowest momentum, one value for all groups or one per group.
        max_momentum: the highest momentum, at the start and at the end.
        div_factor: the highest rate divided by the initial rate.
        final_div_factor: the initial rate divided by the last rate.
        three_phase: whether the rate first falls to the initial rate, as fast as it rose, and then
            to the last rate.
        last_epoch: see `LRScheduler`.

    Raises:
        SettingError: a setting is invalid; also raised by `step` when called more than
            `total_steps` times. The rate reaches its end after `total_steps - 1` calls.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        max_lr: float | list[float],
        total_steps: int | None = None,
        epochs: int | None = None,
        steps_per_epoch: int | None = None,
        pct_start: float = 0.3,
        anneal_strategy: Literal["cos", "linear"] = "cos",
        cycle_momentum: bool = True,
        base_momentum: float | list[float] = 0.85,
        max_momentum: float | list[float] = 0.95,
        div_factor: float = 25.0,
        final_div_factor: float = 1e4,
        three_phase: bool = False,
        last_epoch: int = -1,
    ) -> None:
        scheduler.check_optimizer(optimizer)
        if total_steps is not None:
            self.total_steps = integer("total_steps", total_steps, 1)
        elif epochs is not None and steps_per_epoch is not None:
            batches = integer("steps_per_epoch", steps_per_epoch, 1)
            self.total_steps = integer("epochs", epochs, 1) * batches
        else:
            raise SettingError(
                "OneCycleLR takes total_steps, or epochs and steps_per_epoch; got epochs="
                f"{epochs} and steps_per_epoch={steps_per_epoch}."
            )
        check("pct_start", pct_start, 0 <= pct_start <= 1, "from 0 to 1")
        choice("anneal_strategy", anneal_strategy, ("cos", "linear"))
        self._anneal_func_type = anneal_strategy
        self._schedule_phases = _phases(self.total_steps, float(pct_start), three_phase)
        if last_epoch == -1:
            highest = scheduler.one_per_group("max_lr", optimizer, max_lr)
            for group, rate in zip(optimizer.param_groups, highest, strict=True):
                group["initial_lr"], group["max_lr"] = rate / div_factor, rate
                group["min_lr"] = group["initial_lr"] / final_div_factor
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            self._prepare_momentum(optimizer, base_momentum, max_momentum, last_epoch == -1)
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        """Return the rate of each group at step `last_epoch`, and set its momentum."""
        if self.last_epoch > self.total_steps:
            raise SettingError(
                f"OneCycleLR: step {self.last_epoch} exceeds total_steps={self.total_steps}. "
                "Increase total_steps."
            )
        start = 0.0
        for phase in self._schedule_phases:
            if self.last_epoch <= phase["end_step"]:
                break
            if phase is not self._schedule_phases[-1]:
                start = phase["end_step"]
        length = phase["end_step"] - start
        fraction = (self.last_epoch - start) / length if length else 1.0
        anneal = _cosine if self._anneal_func_type == "cos" else _line
        rates = []
        for group in self.optimizer.param_groups:
            rates.append(anneal(group[phase["start_lr"]], group[phase["end_lr"]], fraction))
            if self.cycle_momentum:
                ends = group[phase["start_momentum"]], group[phase["end_momentum"]]
                self._set_momentum(group, anneal(*ends, fraction))
        return rates


def _phases(steps: int, rising: float, three: bool) -> list[dict[str, Any]]:
    """Return the phases of a cycle: the last step, and the settings at the start and the end."""

    def phase(end: float, *names: str) -> dict[str, Any]:
        keys = ("start_lr", "end_lr", "start_momentum", "end_momentum")
        return {"end_step": end, **dict(zip(keys, names, strict=True))}

    high, low = "max_momentum", "base_momentum"
    rise = phase(rising * steps - 1, "initial_lr", "max_lr", high, low)
    if not three:
        return [rise, phase(steps - 1, "max_lr", "min_lr", low, high)]
    return [
        rise,
        phase(2 * rising * steps - 2, "max_lr", "initial_lr", low, high),
        phase(steps - 1, "initial_lr", "min_lr", high, high),
    ]


_SCALES: dict[str, tuple[Literal["cycle", "iterations"], Callable[[float, float], float]]] = {
    "triangular": ("cycle", lambda gamma, cycle: 1.0),
    "triangular2": ("cycle", lambda gamma, cycle: 0.5 ** (cycle - 1)),
    "exp_range": ("iterations", lambda gamma, step: gamma**step),
}


class CyclicLR(_MomentumCycle):
    """Cycle rates between two bounds (Smith 2017). Call `step` after each batch.

    Args:
        optimizer: the optimizer whose learning rates are set.
        base_lr: the lowest rate, one value for all groups or one per group.
        max_lr: the highest rate, one value for all groups or one per group.
        step_size_up: the number of steps in which rates rise.
        step_size_down: the number of steps in which rates fall; `step_size_up` if None.
        mode: whether peaks are constant (`"triangular"`), are halved after each cycle
            (`"triangular2"`), or shrink by the factor `gamma` at each step (`"exp_range"`).
        gamma: see `mode`.
        scale_fn: a function that returns the factor of the peaks, from 0 to 1, instead of `mode`.
        scale_mode: whether the argument of `scale_fn` is the number of the `"cycle"`, which starts
            at 1, or the step (`"iterations"`).
        cycle_momentum: whether to cycle the momentum, or Adam's first beta, too.
        base_momentum: the lowest momentum, one value for all groups or one per group.
        max_momentum: the highest momentum, at the start.
        last_epoch: see `LRScheduler`.
    """

    _functions = ("_scale_fn_custom",)

    def __init__(
        self,
        optimizer: Optimizer,
        base_lr: float | list[float],
        max_lr: float | list[float],
        step_size_up: int = 2000,
        step_size_down: int | None = None,
        mode: Literal["triangular", "triangular2", "exp_range"] = "triangular",
        gamma: float = 1.0,
        scale_fn: Callable[[float], float] | None = None,
        scale_mode: Literal["cycle", "iterations"] = "cycle",
        cycle_momentum: bool = True,
        base_momentum: float | list[float] = 0.8,
        max_momentum: float | list[float] = 0.9,
        last_epoch: int = -1,
    ) -> None:
        scheduler.check_optimizer(optimizer)
        lowest = scheduler.one_per_group("base_lr", optimizer, base_lr)
        self.max_lrs = scheduler.one_per_group("max_lr", optimizer, max_lr)
        up = integer("step_size_up", step_size_up, 1)
        down = up if step_size_down is None else integer("step_size_down", step_size_down, 1)
        self.total_size = float(up + down)
        self.step_ratio = up / self.total_size
        check("mode", mode, mode in tuple(_SCALES), f"one of {', '.join(_SCALES)}")
        choice("scale_mode", scale_mode, ("cycle", "iterations"))
        self.mode, self.gamma, self._scale_fn_custom = mode, gamma, scale_fn
        self.scale_mode = scale_mode if scale_fn else _SCALES[mode][0]
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            self._prepare_momentum(optimizer, base_momentum, max_momentum, last_epoch == -1)
            self.base_momentums = scheduler.one_per_group("base_momentum", optimizer, base_momentum)
            self.max_momentums = scheduler.one_per_group("max_momentum", optimizer, max_momentum)
        for group, rate in zip(optimizer.param_groups, lowest, strict=True):
            if last_epoch == -1:
                scheduler.set_rate(group, rate)
                group.setdefault("initial_lr", rate)
        super().__init__(optimizer, last_epoch)
        self.base_lrs = lowest  # not the initial rates in the groups
        self._set_rates(self.get_lr())

    def get_lr(self) -> list[float]:
        """Return the rate of each group at step `last_epoch`, and set its momentum."""
        cycle = math.floor(1 + self.last_epoch / self.total_size)
        position = 1.0 + self.last_epoch / self.total_size - cycle
        rising = position <= self.step_ratio
        height = position / self.step_ratio if rising else (position - 1) / (self.step_ratio - 1)
        height *= self._scale(cycle if self.scale_mode == "cycle" else self.last_epoch)
        if self.cycle_momentum:
            ends = zip(self.base_momentums, self.max_momentums, strict=True)
            for group, (low, high) in zip(self.optimizer.param_groups, ends, strict=True):
                self._set_momentum(group, _line(high, low, height))
        return [
            _line(low, high, height) for low, high in zip(self.base_lrs, self.max_lrs, strict=True)
        ]

    def _scale(self, x: float) -> float:
        """Return the factor of the peak, at a cycle or a step."""
        if self._scale_fn_custom:
            return self._scale_fn_custom(x)
        return _SCALES[self.mode][1](self.gamma, x)

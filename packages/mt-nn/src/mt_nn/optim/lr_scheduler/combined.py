"""`ReduceLROnPlateau`, and schedulers that combine others."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from typing import Any, Literal, SupportsFloat

from mt_nn.core.optimizer import Optimizer
from mt_nn.core.settings import integer
from mt_nn.errors import SettingError
from mt_nn.optim.lr_scheduler.scheduler import (
    LRScheduler,
    Schedule,
    check_optimizer,
    one_per_group,
    rate_of,
    set_rate,
)
from mt_nn.utils.declared import Declared
from mt_nn.utils.settings import check, choice

# --- On a plateau ---------------------------------------------------------------------------------


class ReduceLROnPlateau(Declared, Schedule):
    """Reduce learning rates when a metric has stopped improving.

    Args:
        optimizer: the optimizer whose learning rates are set.
        mode: `"min"` if smaller is better, as for losses; `"max"` if larger is.
        factor: the factor that reduces rates, below 1.
        patience: the number of epochs without improvement that are tolerated.
        threshold: the smallest improvement that counts.
        threshold_mode: `"rel"` for a threshold relative to the best metric, or `"abs"`.
        cooldown: the number of epochs after a reduction that do not count.
        min_lr: the lower bound of rates, one value for all groups or one per group.
        eps: the largest reduction that is skipped.

    Attributes:
        best: the best metric so far.
        num_bad_epochs: the number of epochs without improvement.

    Raises:
        SettingError: a setting is invalid.
    """

    optimizer: Optimizer
    mode: Literal["min", "max"] = "min"
    factor: float = 0.1
    patience: int = 10
    threshold: float = 1e-4
    threshold_mode: Literal["rel", "abs"] = "rel"
    cooldown: int = 0
    min_lr: float | list[float] = 0
    eps: float = 1e-8

    def _check(self) -> None:
        check_optimizer(self.optimizer)
        choice("mode", self.mode, ("min", "max"))
        choice("threshold_mode", self.threshold_mode, ("rel", "abs"))
        check("factor", self.factor, self.factor < 1, "below 1")
        min_lr = vars(self).pop("min_lr")  # not part of the state
        self.patience = integer("patience", self.patience, 0)
        self.cooldown = integer("cooldown", self.cooldown, 0)
        self.min_lrs: list[float] = one_per_group("min_lr", self.optimizer, min_lr)
        self.default_min_lr = None if isinstance(min_lr, list | tuple) else min_lr
        self.mode_worse = math.inf if self.mode == "min" else -math.inf
        self.best = self.mode_worse
        self.cooldown_counter = self.num_bad_epochs = self.last_epoch = 0
        self._last_lr = self._rates()

    def step(self, metrics: SupportsFloat) -> None:
        """Record the metric of an epoch, and reduce the rates if it has stopped improving.

        Args:
            metrics: the metric, a number or a tensor of one element.
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
        if self.default_min_lr is not None:  # groups may have been added since
            self.min_lrs = [self.default_min_lr] * len(groups)
        for group, least in zip(groups, self.min_lrs, strict=True):
            rate = rate_of(group)
            reduced = max(rate * self.factor, least)
            if rate - reduced > self.eps:
                set_rate(group, reduced)


# --- Combinations ---------------------------------------------------------------------------------


Member = Any
"""A scheduler that is stepped without a metric: an `LRScheduler`, or a combination of them."""


class _Combined(Schedule):
    """Base of schedulers that combine others."""

    _schedulers: list[Member]

    def _set_members(self, schedulers: Sequence[Member], optimizer: Optimizer | None) -> None:
        """Store the members; raise SettingError unless all belong to one optimizer."""
        name = type(self).__name__
        if not schedulers:
            raise SettingError(f"{name} takes at least one scheduler; none was given.")
        for scheduler in schedulers:
            if not isinstance(scheduler, Schedule) or isinstance(scheduler, ReduceLROnPlateau):
                raise SettingError(
                    f"{name} takes schedulers that are stepped without a metric; "
                    f"{type(scheduler).__name__} was given."
                )
        self.optimizer = schedulers[0].optimizer if optimizer is None else optimizer
        check_optimizer(self.optimizer)
        if any(scheduler.optimizer is not self.optimizer for scheduler in schedulers):
            raise SettingError(f"{name} takes schedulers of one optimizer; theirs are different.")
        self._schedulers = list(schedulers)

    def state_dict(self) -> dict[str, Any]:
        """Return the counts and the states of all members."""
        members = [scheduler.state_dict() for scheduler in self._schedulers]
        return {**super().state_dict(), "_schedulers": members}

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Load the state of another combination, and of its members.

        Raises:
            StateDictError: the state belongs to another class of scheduler, or to other members.
        """
        members = self._schedulers
        self._check_state(self.state_dict(), state_dict)
        states = state_dict["_schedulers"]
        if len(states) != len(members):
            raise self._unfit(f"it has {len(states)} members, the scheduler {len(members)}")
        for member, state in zip(members, states, strict=True):
            member.load_state_dict(state)
        super().load_state_dict(state_dict)
        self._schedulers = members


class SequentialLR(_Combined):
    """Run schedulers one after the other, each from one milestone to the next.

    Args:
        optimizer: the optimizer whose learning rates are set.
        schedulers: the schedulers, in order.
        milestones: the epochs at which the second and later schedulers start.
        last_epoch: must be -1; to resume training, load a state.

    Raises:
        SettingError: the number of schedulers is not one more than that of milestones, milestones
            are not in order, or a scheduler belongs to another optimizer, takes a metric, or is a
            combination.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        schedulers: Sequence[Member],
        milestones: Sequence[int],
        last_epoch: int = -1,
    ) -> None:
        check_optimizer(optimizer)
        self._set_members(schedulers, optimizer)
        check("last_epoch", last_epoch, last_epoch == -1, "-1 (to resume training, load a state)")
        for scheduler in schedulers:
            if not isinstance(scheduler, LRScheduler):
                raise SettingError(
                    f"SequentialLR takes no combinations; {type(scheduler).__name__} was given."
                )
        if len(milestones) != len(schedulers) - 1:
            raise SettingError(
                f"SequentialLR takes one scheduler more than milestones; {len(schedulers)} and "
                f"{len(milestones)} were given."
            )
        self._milestones = [integer("a milestone", epoch, 0) for epoch in milestones]
        ordered = self._milestones == sorted(self._milestones)
        check("milestones", self._milestones, ordered, "in order")
        self.last_epoch = 0
        for group in optimizer.param_groups:
            set_rate(group, group["initial_lr"])
        for scheduler in self._schedulers:
            scheduler.last_epoch -= 1  # epoch 0 of each starts at its milestone
        first = self._current()
        first._initialize()
        self._last_lr = first.get_last_lr()

    def _current(self) -> Member:
        return self._schedulers[bisect_right(self._milestones, self.last_epoch)]

    def step(self) -> None:
        """Step the current scheduler, or start the next one at its milestone."""
        self.last_epoch += 1
        current = self._current()
        if self.last_epoch in self._milestones:
            current._restart()
        else:
            current.step()
        self._last_lr = current.get_last_lr()


class ChainedScheduler(_Combined):
    """Step all schedulers in order; each modifies the rates set by the previous one.

    Args:
        schedulers: the schedulers, in order.
        optimizer: the optimizer whose rates are set; that of the first scheduler if None.

    Raises:
        SettingError: there are no schedulers, or one belongs to another optimizer or takes a
            metric.
    """

    def __init__(self, schedulers: Sequence[Member], optimizer: Optimizer | None = None) -> None:
        self._set_members(schedulers, optimizer)
        self._last_lr = self._rates()

    def step(self) -> None:
        """Step all schedulers."""
        for scheduler in self._schedulers:
            scheduler.step()
        self._last_lr = self._rates()

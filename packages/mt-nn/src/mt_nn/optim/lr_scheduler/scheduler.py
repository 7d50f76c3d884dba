"""What all schedulers share: epochs counted, rates set, and states."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from mt_nn.core.optimizer import Optimizer
from mt_nn.errors import SettingError, SettingTypeError
from mt_nn.utils.declared import Declared
from mt_nn.utils.settings import check
from mt_operators import StateDictError
from mt_tensor import Tensor


def check_optimizer(optimizer: object) -> None:
    """Raise SettingError unless it is an optimizer."""
    if not isinstance(optimizer, Optimizer):
        raise SettingTypeError(f"a scheduler takes an optimizer; {optimizer!r} was given.")


def one_for_each(name: str, optimizer: Optimizer, value: Any) -> list[Any]:
    """Return a setting for each group of an optimizer, of which one was given, or one for each.

    Raises:
        SettingError: there is another number of them.
    """
    groups = len(optimizer.param_groups)
    if not isinstance(value, list | tuple):
        return [value] * groups
    check(name, value, len(value) == groups, f"one for all, or {groups}, one for each group")
    return list(value)


def rate_of(group: Mapping[str, Any]) -> float:
    """Return the rate of a group as a number; it may be in a tensor."""
    rate: float = group["lr"].item() if isinstance(group["lr"], Tensor) else group["lr"]
    return rate


def set_rate(group: dict[str, Any], rate: float) -> None:
    """Set the rate of a group: that in its tensor, if it has one."""
    if isinstance(group["lr"], Tensor):
        group["lr"].detach().fill_(rate)
    else:
        group["lr"] = rate


class Schedule(ABC):
    """What has a state, and sets the rates of an optimizer.

    Attributes:
        optimizer: whose rates are set.
        last_epoch: how often it was stepped.
    """

    optimizer: Optimizer
    last_epoch: int
    _last_lr: list[float]
    _functions: ClassVar[tuple[str, ...]] = ()
    """Attributes with functions, which are no part of a state: it has None for each."""

    def get_last_lr(self) -> list[float]:
        """Return the rates of all groups, as they were set last."""
        return self._last_lr

    def _rates(self) -> list[float]:
        return [rate_of(group) for group in self.optimizer.param_groups]

    def _set_rates(self, rates: Sequence[float]) -> None:
        for group, rate in zip(self.optimizer.param_groups, rates, strict=True):
            set_rate(group, rate)
        self._last_lr = self._rates()

    def state_dict(self) -> dict[str, Any]:
        """Return all settings and counts but for functions, under torch's names."""
        state = {
            name: value
            for name, value in vars(self).items()
            if name != "optimizer" and not callable(value)
        }
        for name in self._functions:
            value = getattr(self, name)
            state[name] = [None] * len(value) if isinstance(value, list) else None
        return state

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Continue where another scheduler stopped; torch's of the same name may be one.

        The rates are the optimizer's, and loaded with it.

        Raises:
            StateDictError: it is of another kind of scheduler, or for another number of groups.
        """
        own = self.state_dict()
        self._check_state(own, state_dict)
        vars(self).update({name: state_dict[name] for name in own if name not in self._functions})

    def _check_state(self, own: Mapping[str, Any], given: object) -> None:
        if not isinstance(given, Mapping):
            raise self._unfit(f"it is no dictionary, but {type(given).__name__}")
        missing = sorted(own.keys() - given.keys())
        unknown = sorted(name for name in given.keys() - own.keys() if name[:1] != "_")
        if missing or unknown:
            raise self._unfit(f"missing: {missing}; unexpected: {unknown}")
        groups = len(self.optimizer.param_groups)
        if len(given.get("base_lrs", own.get("base_lrs", ()))) not in (0, groups):
            raise self._unfit(f"it is not for {groups} groups")

    def _unfit(self, why: str) -> StateDictError:
        return StateDictError(
            f"the state dictionary does not fit {type(self).__name__}: {why}. Pass what "
            "state_dict() of a scheduler of the same kind returned."
        )


class LRScheduler(Schedule):
    """A scheduler that says by `get_lr` which rate each group has at an epoch.

    Args:
        optimizer: whose rates are set.
        last_epoch: the number of the epoch before; -1 to begin. To continue, load the optimizer's
            state first: it holds the rates, and those that training began with.

    Attributes:
        base_lrs: the rate of each group that training began with.

    Raises:
        SettingError: there is no optimizer, or nothing to continue.
    """

    def __init__(self, optimizer: Optimizer, last_epoch: int = -1) -> None:
        check_optimizer(optimizer)
        self.optimizer = optimizer
        self.last_epoch = last_epoch
        for group in optimizer.param_groups:
            if last_epoch == -1:
                group.setdefault("initial_lr", rate_of(group))
            elif "initial_lr" not in group:
                raise SettingError(
                    f"last_epoch={last_epoch} continues a training, but the optimizer does not "
                    "know the rates that it began with: load its state first, or leave last_epoch "
                    "out."
                )
        self.base_lrs: list[float] = [group["initial_lr"] for group in optimizer.param_groups]
        self._begin()

    @abstractmethod
    def get_lr(self) -> list[float]:
        """Return the rate of each group at `last_epoch`."""

    def step(self) -> None:
        """Go on to the next epoch, and set its rates."""
        self._step_count += 1
        self.last_epoch += 1
        self._set_rates(self.get_lr())

    @property
    def _beginning(self) -> bool:
        """Return whether these are the rates of the first epoch, which no step has led to."""
        return self._step_count == 1

    def _begin(self) -> None:
        """Set the rates of the first epoch."""
        self._step_count = 0
        LRScheduler.step(self)

    def _restart(self) -> None:
        """Go to epoch 0, as if nothing had changed the rates since training began."""
        self.last_epoch = 0
        self._set_rates(self.base_lrs)
        self._set_rates(self.get_lr())


class FactorLR(LRScheduler):
    """A scheduler that says by which factor a rate differs from that of the epoch before.

    It so works on what others have made of the rate.
    """

    def start(self) -> float:
        """Return the factor at epoch 0."""
        return 1.0

    @abstractmethod
    def ratio(self, group: int) -> float:
        """Return the factor from the epoch before to `last_epoch`, of a group."""

    def get_lr(self) -> list[float]:
        """Return the rate of each group at `last_epoch`; what training continues with is kept."""
        rates = self._rates()
        if self.last_epoch == 0:
            return [rate * self.start() for rate in rates]
        if self._beginning:
            return rates
        return [rate * self.ratio(number) for number, rate in enumerate(rates)]


class DeclaredLR(Declared):
    """A base, before that of the scheduler, of schedulers that declare their settings."""

    optimizer: Optimizer

    def _configure(self, settings: dict[str, Any]) -> None:
        given = settings.pop("optimizer"), settings.pop("last_epoch")
        vars(self).update(settings)
        self._check()
        super(Declared, self).__init__(*given)  # type: ignore[call-arg] # of the scheduler

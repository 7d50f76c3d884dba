"""Base classes of learning rate schedulers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from mt_nn.core.optimizer import Optimizer, with_plain_rate
from mt_nn.errors import SettingError, SettingTypeError
from mt_nn.utils.declared import Declared
from mt_nn.utils.settings import check
from mt_operators import StateDictError
from mt_tensor import Tensor


def check_optimizer(optimizer: object) -> None:
    """Raise SettingTypeError unless the argument is an optimizer."""
    if not isinstance(optimizer, Optimizer):
        raise SettingTypeError(f"a scheduler takes an optimizer; {optimizer!r} was given.")


def one_per_group(name: str, optimizer: Optimizer, value: Any) -> list[Any]:
    """Return one value of a setting per group of an optimizer, given one for all or one per group.

    Raises:
        SettingError: the number of values is not the number of groups.
    """
    groups = len(optimizer.param_groups)
    if not isinstance(value, list | tuple):
        return [value] * groups
    check(name, value, len(value) == groups, f"one value, or {groups}, one per group")
    return list(value)


def rate_of(group: dict[str, Any]) -> float:
    """Return the rate of a group as a Python number."""
    rate: float = with_plain_rate(group)["lr"]
    return rate


def set_rate(group: dict[str, Any], rate: float) -> None:
    """Set the rate of a group; in place if it is a tensor."""
    if isinstance(group["lr"], Tensor):
        group["lr"].detach().fill_(rate)
    else:
        group["lr"] = rate


class Schedule(ABC):
    """Base of all schedulers, which set the rates of an optimizer and have a state.

    Attributes:
        optimizer: the optimizer whose learning rates are set.
        last_epoch: the number of steps so far.
    """

    optimizer: Optimizer
    last_epoch: int
    _last_lr: list[float]
    _functions: ClassVar[tuple[str, ...]] = ()
    """Names of attributes with functions, which are not saved: the state has None instead."""

    def get_last_lr(self) -> list[float]:
        """Return the last rates that were set, one per group."""
        return self._last_lr

    def _rates(self) -> list[float]:
        return [rate_of(group) for group in self.optimizer.param_groups]

    def _set_rates(self, rates: Sequence[float]) -> None:
        for group, rate in zip(self.optimizer.param_groups, rates, strict=True):
            set_rate(group, rate)
        self._last_lr = self._rates()

    def state_dict(self) -> dict[str, Any]:
        """Return all settings and counts except functions, under torch's names."""
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
        """Load the state of a scheduler of the same class, saved by this library or by torch.

        The rates belong to the optimizer's state, which is loaded separately.

        Raises:
            StateDictError: the state belongs to another class of scheduler, or to another number
                of groups.
        """
        current = self.state_dict()
        self._check_state(current, state_dict)
        vars(self).update(
            {name: state_dict[name] for name in current if name not in self._functions}
        )

    def _check_state(self, current: Mapping[str, Any], loaded: object) -> None:
        if not isinstance(loaded, Mapping):
            raise self._unfit(f"it is a {type(loaded).__name__}, not a dictionary")
        missing = sorted(current.keys() - loaded.keys())
        unknown = sorted(name for name in loaded.keys() - current.keys() if name[:1] != "_")
        if missing or unknown:
            raise self._unfit(f"missing: {missing}; unexpected: {unknown}")
        groups = len(self.optimizer.param_groups)
        if len(loaded.get("base_lrs", current.get("base_lrs", ()))) not in (0, groups):
            raise self._unfit(f"it is not for {groups} groups")

    def _unfit(self, reason: str) -> StateDictError:
        return StateDictError(
            f"the state dictionary does not fit {type(self).__name__} ({reason}). Pass the result "
            "of state_dict() of a scheduler of the same class."
        )


class LRScheduler(Schedule):
    """Base of schedulers whose `get_lr` computes the rates of an epoch.

    Args:
        optimizer: the optimizer whose learning rates are set.
        last_epoch: the index of the last epoch; -1 to start. To resume training, load the
            optimizer's state first: it contains the current and the initial rates.

    Attributes:
        base_lrs: the initial rates, one per group.

    Raises:
        SettingError: `last_epoch` is not -1, and the optimizer has no initial rates.
        SettingTypeError: `optimizer` is not an optimizer.
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
                    f"last_epoch={last_epoch} resumes training, but the optimizer has no initial "
                    "rates: load its state first, or remove last_epoch."
                )
        self.base_lrs: list[float] = [group["initial_lr"] for group in optimizer.param_groups]
        self._initialize()

    @abstractmethod
    def get_lr(self) -> list[float]:
        """Return the rate of each group at `last_epoch`."""

    def step(self) -> None:
        """Advance to the next epoch, and set its rates."""
        self._step_count += 1
        self.last_epoch += 1
        self._set_rates(self.get_lr())

    @property
    def _is_initial_step(self) -> bool:
        """Whether `get_lr` is called by the constructor, before the first step."""
        return self._step_count == 1

    def _initialize(self) -> None:
        """Set the rates of the first epoch."""
        self._step_count = 0
        LRScheduler.step(self)

    def _restart(self) -> None:
        """Return to epoch 0 and the initial rates."""
        self.last_epoch = 0
        self._set_rates(self.base_lrs)
        self._set_rates(self.get_lr())


class FactorLR(LRScheduler):
    """Base of schedulers that multiply the current rates, which others may have changed."""

    def start(self) -> float:
        """Return the factor at epoch 0."""
        return 1.0

    @abstractmethod
    def ratio(self, group: int) -> float:
        """Return the rate of a group at `last_epoch`, divided by that of the previous epoch."""

    def get_lr(self) -> list[float]:
        """Return the rates of `last_epoch`; resumed training starts with the current rates."""
        rates = self._rates()
        if self.last_epoch == 0:
            return [rate * self.start() for rate in rates]
        if self._is_initial_step:
            return rates
        return [rate * self.ratio(number) for number, rate in enumerate(rates)]


class DeclaredLR(Declared):
    """Mixin for schedulers that declare their settings; it must be the first base class."""

    optimizer: Optimizer

    def _configure(self, settings: dict[str, Any]) -> None:
        arguments = settings.pop("optimizer"), settings.pop("last_epoch")
        vars(self).update(settings)
        self._check()
        super(Declared, self).__init__(*arguments)  # type: ignore[call-arg] # the scheduler's

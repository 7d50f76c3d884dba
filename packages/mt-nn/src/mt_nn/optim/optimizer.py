"""What all optimizers share: groups of parameters with their settings, and a state for each."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from mt_nn.errors import SettingError
from mt_operators import StateDictError
from mt_tensor import Tensor, no_grad


class Optimizer(ABC):
    """Changes parameters in place, along their gradients.

    Args:
        params: the parameters, or dictionaries with `"params"` and settings that differ from the
            defaults for those.
        defaults: the settings.

    Attributes:
        param_groups: dictionaries with `"params"` and all settings.
        state: what the optimizer remembers of each parameter.

    Raises:
        SettingError: there are no parameters, one occurs twice or is no tensor, or a group has an
            unknown setting.
    """

    def __init__(self, params: Iterable[Any], defaults: dict[str, Any]) -> None:
        if isinstance(params, Tensor):
            raise TypeError(
                f"{type(self).__name__} takes a list of parameters; a single tensor was given. "
                "Write [tensor]."
            )
        given = list(params)
        if not given:
            raise SettingError(f"{type(self).__name__} was given no parameters.")
        groups = given if isinstance(given[0], dict) else [{"params": given}]
        self.param_groups: list[dict[str, Any]] = []
        self.state: dict[Tensor, dict[str, Any]] = {}
        for group in groups:
            unknown = set(group) - set(defaults) - {"params"}
            if unknown:
                raise SettingError(
                    f"{type(self).__name__} has no setting {', '.join(sorted(unknown))}; it has "
                    f"{', '.join(defaults)}."
                )
            if "params" not in group:
                raise SettingError(
                    f"a group for {type(self).__name__} lacks 'params'; it has {', '.join(group)}."
                )
            members = group["params"]
            chosen = [members] if isinstance(members, Tensor) else list(members)
            self.param_groups.append({**defaults, **group, "params": chosen})
        self._check_parameters()

    def _check_parameters(self) -> None:
        seen: set[int] = set()
        for group in self.param_groups:
            for parameter in group["params"]:
                if not isinstance(parameter, Tensor):
                    raise SettingError(f"{parameter!r} is no tensor, so it cannot be optimized.")
                if not parameter.is_leaf or not parameter.is_floating_point():
                    raise SettingError(
                        f"a tensor of {parameter.dtype.name} that was "
                        f"{'given' if parameter.is_leaf else 'computed from others'} cannot be "
                        "optimized: only floating-point leaves receive gradients."
                    )
                if id(parameter) in seen:
                    raise SettingError("a parameter was given to the optimizer twice.")
                seen.add(id(parameter))

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget the gradients, or set them to zero."""
        for group in self.param_groups:
            for parameter in group["params"]:
                if set_to_none or parameter.grad is None:
                    parameter.grad = None
                else:
                    parameter.grad.detach().zero_()

    def step(self) -> None:
        """Change every parameter that has a gradient."""
        with no_grad():
            for group in self.param_groups:
                for parameter in group["params"]:
                    grad = parameter.grad
                    if grad is not None:
                        self.update(parameter, grad, self.state.setdefault(parameter, {}), group)

    def state_dict(self) -> dict[str, Any]:
        """Return settings and state, in torch's layout: parameters are numbered in their order.

        Tensors share their memory with the optimizer.
        """
        numbers = {parameter: number for number, parameter in enumerate(self._parameters())}
        return {
            "state": {numbers[p]: dict(held) for p, held in self.state.items()},
            "param_groups": [
                {**group, "params": [numbers[p] for p in group["params"]]}
                for group in self.param_groups
            ],
        }

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Take over what `state_dict` has returned. If it does not fit, nothing changes.

        Raises:
            StateDictError: groups, settings, parameters or shapes differ.
        """
        parameters = list(self._parameters())
        try:
            groups = [dict(group) for group in state_dict["param_groups"]]
            settings = [set(group) for group in groups]
            sizes = [len(group["params"]) for group in groups]
            states = {int(number): dict(held) for number, held in state_dict["state"].items()}
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise StateDictError(
                f"{type(self).__name__} takes what state_dict() of an optimizer returned ({error})."
            ) from error
        if settings != [set(group) for group in self.param_groups] or sizes != [
            len(group["params"]) for group in self.param_groups
        ]:
            raise StateDictError(
                f"the state is that of an optimizer with {sizes} parameters in its groups, or with "
                f"other settings than those of {type(self).__name__}."
            )
        taken: dict[Tensor, dict[str, Any]] = {}
        for number, held in states.items():
            if number not in range(len(parameters)):
                raise StateDictError(f"the state names parameter {number}, which does not exist.")
            parameter = parameters[number]
            taken[parameter] = {name: _placed(v, parameter) for name, v in held.items()}
        self.state = taken
        for own, group in zip(self.param_groups, groups, strict=True):
            own.update({name: value for name, value in group.items() if name != "params"})

    def _parameters(self) -> Iterator[Tensor]:
        return (parameter for group in self.param_groups for parameter in group["params"])

    @abstractmethod
    def update(
        self, parameter: Tensor, grad: Tensor, state: dict[str, Any], group: dict[str, Any]
    ) -> None:
        """Change one parameter in place.

        Args:
            parameter: what to change.
            grad: its gradient; must not be changed.
            state: what this optimizer remembers of the parameter; empty the first time.
            group: the settings.
        """


def _placed(value: Any, parameter: Tensor) -> Any:
    """Return a saved value, a tensor as a copy where its parameter is and of its element type.

    Raises:
        StateDictError: a tensor has dimensions, and others than the parameter.
    """
    if not isinstance(value, Tensor):
        return value
    if value.ndim and value.shape != parameter.shape:
        raise StateDictError(
            f"the state holds a tensor of shape {value.shape} for a parameter of shape "
            f"{parameter.shape}."
        )
    return value.detach().clone().to(parameter.dtype, backend=parameter.backend)


def check(name: str, value: float, holds: bool, what: str) -> None:
    """Raise SettingError unless a setting holds what it must."""
    if not holds:
        raise SettingError(f"{name} must be {what}; got {value}.")

"""What all optimizers share: groups of parameters with their settings, and a state for each."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from mt_nn.errors import SettingError
from mt_nn.optim.settings import check_not_negative
from mt_operators import StateDictError
from mt_tensor import Tensor, enable_grad, no_grad

_TORCHS_OWN = ("foreach", "fused", "capturable", "differentiable", "param_names")
"""Settings in torch's groups about how it computes, not what."""


class Optimizer(ABC):
    """Changes parameters in place, along their gradients.

    A subclass says how to change one of them, in `update`; what it remembers of a parameter at
    first, in `initial_state`; and what its settings must be, in `check_settings`. A setting
    `maximize` is done here: gradients then come with the opposite sign.

    Args:
        params: the parameters, or dictionaries with `"params"` and settings that differ from the
            defaults for those.
        defaults: the settings.

    Attributes:
        defaults: the settings of groups that have none of their own.
        param_groups: dictionaries with `"params"` and all settings.
        state: what the optimizer remembers of each parameter.

    Raises:
        SettingError: there are no parameters, one occurs twice or is no tensor, or a group has an
            unknown setting, or one that makes no sense.
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
        self.defaults = defaults
        self.param_groups: list[dict[str, Any]] = []
        self.state: dict[Tensor, dict[str, Any]] = {}
        for group in given if isinstance(given[0], dict) else [{"params": given}]:
            self.add_param_group(group)

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Optimize more parameters, such as those of layers that were frozen so far.

        Args:
            param_group: a dictionary with `"params"`, and settings that differ from the defaults.

        Raises:
            SettingError: as for the groups that the optimizer is made with.
        """
        name = type(self).__name__
        if not isinstance(param_group, dict):
            raise SettingError(f"a group for {name} is a dictionary; {param_group!r} was given.")
        unknown = set(param_group) - set(self.defaults) - {"params"}
        if unknown:
            raise SettingError(
                f"{name} has no setting {', '.join(sorted(unknown))}; it has "
                f"{', '.join(self.defaults)}."
            )
        if "params" not in param_group:
            raise SettingError(
                f"a group for {name} lacks 'params'; it has {', '.join(param_group)}."
            )
        members = param_group["params"]
        chosen = [members] if isinstance(members, Tensor) else list(members)
        group = {**self.defaults, **param_group, "params": chosen}
        self._check_parameters(chosen)
        self.check_settings(group)
        self.param_groups.append(group)

    def _check_parameters(self, parameters: list[Any]) -> None:
        seen = {id(parameter) for group in self.param_groups for parameter in group["params"]}
        for parameter in parameters:
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

    def check_settings(self, settings: Mapping[str, Any]) -> None:
        """Raise SettingError unless the settings of a group make sense."""
        if "lr" in settings:
            check_not_negative(settings, "lr")

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget the gradients, or set them to zero."""
        for group in self.param_groups:
            for parameter in group["params"]:
                if set_to_none or parameter.grad is None:
                    parameter.grad = None
                else:
                    parameter.grad.detach().zero_()

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Change every parameter that has a gradient.

        Args:
            closure: computes the loss and its gradients anew, and returns the loss; called first.

        Returns:
            What the closure returned; None without one.
        """
        loss = None
        if closure is not None:
            with enable_grad():
                loss = closure()
        with no_grad():
            for group in self.param_groups:
                ascend = group.get("maximize", False)
                for parameter in group["params"]:
                    grad = parameter.grad
                    if grad is not None:
                        state = self.state.setdefault(parameter, {})
                        self.update(parameter, -grad if ascend else grad, state, group)
        return loss

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

    def initial_state(self, parameter: Tensor, group: dict[str, Any]) -> dict[str, Any]:
        """Return what is remembered of a parameter before its first step: tensors and numbers."""
        return {}

    # --- States on disk ---------------------------------------------------------------------------

    def state_dict(self) -> dict[str, Any]:
        """Return what is remembered, and the settings, in torch's form.

        Returns:
            `"state"`: for the number of each parameter what is remembered of it, the tensors
            themselves and plain numbers; `"param_groups"`: the settings of each group, and under
            `"params"` the numbers of its parameters. They are counted through all groups.
        """
        numbers = {parameter: number for number, parameter in enumerate(self._parameters())}
        return {
            "state": {
                numbers[parameter]: dict(state) for parameter, state in self.state.items() if state
            },
            "param_groups": [
                {**group, "params": [numbers[parameter] for parameter in group["params"]]}
                for group in self.param_groups
            ],
        }

    @no_grad()
    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Continue where another optimizer stopped, on parameters in the same order.

        Tensors are copied, and become those of the backends and element types of the parameters.
        What torch's optimizer of that name returned is taken too, with its tensors converted; so
        are numbers of parameters that are strings, as JSON makes them. If anything does not fit,
        nothing changes.

        Args:
            state_dict: what `state_dict()` returned.

        Raises:
            StateDictError: it has another form, or other groups or shapes.
            SettingError: a setting in it makes no sense.
        """
        given: Any = state_dict
        if not isinstance(given, Mapping) or not {"state", "param_groups"} <= set(given):
            raise self._unfit("it is a dictionary with 'state' and 'param_groups'")
        saved = list(state_dict["param_groups"])
        sizes = [len(group["params"]) for group in saved]
        own = [len(group["params"]) for group in self.param_groups]
        if sizes != own:
            raise self._unfit(f"it has groups of {sizes} parameters, and the optimizer of {own}")
        groups = [
            self._loaded_group(mine, given)
            for mine, given in zip(self.param_groups, saved, strict=True)
        ]
        states = {_number(number): state for number, state in state_dict["state"].items()}
        loaded = {}
        for group, given in zip(groups, saved, strict=True):
            for parameter, number in zip(group["params"], given["params"], strict=True):
                state = states.pop(_number(number), None)
                if state:
                    loaded[parameter] = self._loaded_state(parameter, group, state, number)
        if states:
            raise self._unfit(f"it remembers parameters that are in no group: {[*states]}")
        self.param_groups, self.state = groups, loaded

    def _loaded_group(self, mine: dict[str, Any], saved: Mapping[str, Any]) -> dict[str, Any]:
        """Return saved settings with the parameters of a group; schedulers keep others there."""
        missing = [name for name in self.defaults if name not in saved]
        if missing:
            raise self._unfit(f"a group lacks {', '.join(missing)}")
        given = {name: value for name, value in saved.items() if name not in _TORCHS_OWN}
        group = {**given, "params": mine["params"]}
        self.check_settings(group)
        return group

    def _loaded_state(
        self, parameter: Tensor, group: dict[str, Any], saved: Mapping[str, Any], number: Any
    ) -> dict[str, Any]:
        """Return a saved state, each value like that of a new one."""
        new = self.initial_state(parameter, group)
        given = {name: value for name, value in saved.items() if value is not None}
        if given and new.keys() != given.keys():
            raise self._unfit(
                f"of parameter {number} it remembers {', '.join(given)}, and the optimizer "
                f"{', '.join(new) or 'nothing'}"
            )
        for name, value in given.items():
            shape, wanted = getattr(value, "shape", ()), getattr(new[name], "shape", ())
            if tuple(shape) != wanted:
                raise self._unfit(
                    f"{name} of parameter {number} has shape {tuple(shape)} instead of {wanted}"
                )
            if isinstance(new[name], Tensor):
                new[name].copy_(value)
            else:
                new[name] = type(new[name])(value)
        return new if given else {}

    def _unfit(self, why: str) -> StateDictError:
        return StateDictError(
            f"the state dictionary does not fit {type(self).__name__}: {why}. Pass what "
            "state_dict() of an optimizer of the same kind and parameters returned."
        )

    def _parameters(self) -> list[Tensor]:
        return [parameter for group in self.param_groups for parameter in group["params"]]


def _number(key: Any) -> Any:
    """Return the number of a parameter, which JSON may have made a string."""
    return int(key) if isinstance(key, str) and key.isdigit() else key


def decayed(grad: Tensor, parameter: Tensor, weight_decay: float) -> Tensor:
    """Return the gradient of the loss and `weight_decay / 2` times the squared parameter."""
    return grad.add(parameter, alpha=weight_decay) if weight_decay else grad


def with_decay(
    parameter: Tensor, grad: Tensor, lr: float, weight_decay: float, decoupled: bool
) -> Tensor:
    """Let a parameter decay by itself, in place, or through its gradient, which is returned."""
    if not decoupled:
        return decayed(grad, parameter, weight_decay)
    if weight_decay:
        parameter.mul_(1 - lr * weight_decay)
    return grad

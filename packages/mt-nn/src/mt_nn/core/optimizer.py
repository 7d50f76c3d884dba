"""What all optimizers share: groups of parameters with their settings, and a state for each.

`step` goes through the parameters and leaves to a subclass how one of them changes: two follow.
"""

from __future__ import annotations

import copy
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from mt_nn.core.errors import SettingError, SettingTypeError
from mt_nn.core.optimizer_hooks import OptimizerHooks
from mt_nn.core.optimizer_settings import HOW, check_how, check_rate
from mt_operators import StateDictError
from mt_tensor import Tensor, enable_grad, no_grad, tensor


class Optimizer(OptimizerHooks):
    """Changes parameters in place, along their gradients.

    A subclass says how to change one of them, in `update`; what it remembers of a parameter at
    first, in `initial_state`; and what its settings must be, in `check_settings`. A setting
    `maximize` is done here: gradients then come with the opposite sign. Or it has a `step` of its
    own, as those written for torch do, and fills `state` itself.

    Args:
        params: the parameters; or pairs of a name and a parameter, as `named_parameters()` yields
            them; or dictionaries with `"params"`, which are either, and settings that differ from
            the defaults for those.
        defaults: the settings. A rate `lr` may be a tensor of one element: it is read at each step.

    Attributes:
        defaults: the settings of groups that have none of their own.
        param_groups: dictionaries with `"params"` and all settings; with `"param_names"` if
            parameters were given with names.
        state: what the optimizer remembers of each parameter.

    Raises:
        SettingError: there are no parameters, one occurs twice or is no tensor, some have names and
            others have none, or a group has an unknown setting, or one that makes no sense.
    """

    varying_numbers = ("lr", "step")
    """Numbers in groups and states that are others at each step, for `mt_tensor.compile`."""

    def __init__(self, params: Iterable[Any], defaults: dict[str, Any]) -> None:
        super().__init__()
        if isinstance(params, Tensor):
            raise TypeError(
                f"{type(self).__name__} takes a list of parameters; a single tensor was given. "
                "Write [tensor]."
            )
        members = _in_order(params)
        if not members:
            raise SettingError(f"{type(self).__name__} was given no parameters.")
        self.defaults = defaults
        self.param_groups: list[dict[str, Any]] = []
        self.state: defaultdict[Tensor, dict[str, Any]] = defaultdict(dict)
        for group in members if isinstance(members[0], dict) else [{"params": members}]:
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
        names, chosen = _names_apart(_in_order(param_group["params"]))
        group = {**self.defaults, **param_group, "params": chosen}
        if names:
            group["param_names"] = names
        self._check_parameters(group)
        check_how(group)
        self.check_settings(group)
        self.param_groups.append(group)

    def _check_parameters(self, new: dict[str, Any]) -> None:
        seen = {id(parameter) for parameter in self._parameters()}
        for parameter in new["params"]:
            if not isinstance(parameter, Tensor):
                raise SettingTypeError(f"{parameter!r} is no tensor, so it cannot be optimized.")
            if not parameter.is_leaf or not parameter.is_floating_point():
                raise SettingError(
                    f"a tensor of {parameter.dtype.name} that was "
                    f"{'given' if parameter.is_leaf else 'computed from others'} cannot be "
                    "optimized: only floating-point leaves receive gradients."
                )
            if id(parameter) in seen:
                raise SettingError("a parameter was given to the optimizer twice.")
            seen.add(id(parameter))
        named = "param_names" in new
        if any(named is not ("param_names" in group) for group in self.param_groups):
            raise SettingError(
                f"this group has parameters {'with' if named else 'without'} names, and those "
                "before are different: give names for all groups, or for none."
            )

    def check_settings(self, settings: Mapping[str, Any]) -> None:
        """Raise SettingError unless the settings of a group make sense."""
        if "lr" in settings:
            check_rate(settings)

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
                changing = [(x, x.grad) for x in group["params"] if x.grad is not None]
                if changing:
                    with changing[0][0].backend.together():
                        self._update_each(changing, group)
        return loss

    def _update_each(self, parameters: list[tuple[Tensor, Tensor]], group: dict[str, Any]) -> None:
        ascend = group.get("maximize", False)
        settings = with_plain_rate(group)
        for parameter, grad in parameters:
            state = self.state.get(parameter)
            if not state:
                first = self.initial_state(parameter, settings)
                if first or state is None:
                    state = self.state[parameter] = first
            if "step" in state:
                state["step"] += 1
            self.update(parameter, -grad if ascend else grad, state, settings)

    def update(
        self, parameter: Tensor, grad: Tensor, state: dict[str, Any], group: dict[str, Any]
    ) -> None:
        """Change one parameter in place.

        Args:
            parameter: what to change.
            grad: its gradient; must not be changed.
            state: what this optimizer remembers of the parameter. If it counts steps, as `"step"`,
                this one has been counted: it is 1 the first time.
            group: the settings, `lr` as a plain number.
        """
        raise NotImplementedError(f"{type(self).__name__} must define update(), or step().")

    def initial_state(self, parameter: Tensor, group: dict[str, Any]) -> dict[str, Any]:
        """Return what is remembered of a parameter before its first step.

        These are tensors and numbers; None stands for a tensor like the parameter that the first
        step makes.
        """
        return {}

    # --- States on disk ---------------------------------------------------------------------------

    def state_dict(self) -> dict[str, Any]:
        """Return what is remembered, and the settings, in torch's form.

        Returns:
            `"state"`: for the number of each parameter what is remembered of it, the tensors
            themselves and plain numbers; `"param_groups"`: the settings of each group, and under
            `"params"` the numbers of its parameters. They are counted through all groups.
        """
        self._call_hooks("saving")
        numbers = {parameter: number for number, parameter in enumerate(self._parameters())}
        state = {
            "state": {
                numbers[parameter]: dict(state) for parameter, state in self.state.items() if state
            },
            "param_groups": [
                {**group, "params": [numbers[parameter] for parameter in group["params"]]}
                for group in self.param_groups
            ],
        }
        return self._changed_by_hooks("saved", state)  # type: ignore[no-any-return]

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
        state_dict = self._changed_by_hooks("loading", state_dict)
        form: Any = state_dict
        if not isinstance(form, Mapping) or not {"state", "param_groups"} <= {*form}:
            raise self._unfit("it is a dictionary with 'state' and 'param_groups'")
        saved = list(state_dict["param_groups"])
        sizes = [len(group["params"]) for group in saved]
        own = [len(group["params"]) for group in self.param_groups]
        if sizes != own:
            raise self._unfit(f"it has groups of {sizes} parameters, and the optimizer of {own}")
        groups = [
            self._loaded_group(mine, its)
            for mine, its in zip(self.param_groups, saved, strict=True)
        ]
        states = {_number(number): state for number, state in state_dict["state"].items()}
        loaded = {}
        for group, its in zip(groups, saved, strict=True):
            settings = with_plain_rate(group)
            for parameter, number in zip(group["params"], its["params"], strict=True):
                state = states.pop(_number(number), None)
                if state:
                    loaded[parameter] = self._loaded_state(parameter, settings, state, number)
        if states:
            raise self._unfit(f"it remembers parameters that are in no group: {[*states]}")
        self.param_groups, self.state = groups, defaultdict(dict, loaded)
        self._call_hooks("loaded")

    def _loaded_group(self, mine: dict[str, Any], saved: Mapping[str, Any]) -> dict[str, Any]:
        """Return saved settings with the parameters of a group; schedulers keep others there."""
        missing = [name for name in self.defaults if name not in saved and name not in HOW]
        if missing:
            raise self._unfit(f"a group lacks {', '.join(missing)}")
        own = ("params", *filter(mine.__contains__, HOW))
        group = {**saved, **{name: mine[name] for name in own}}
        if "param_names" in mine:
            group.setdefault("param_names", mine["param_names"])
        self.check_settings(group)
        return group

    def _loaded_state(
        self, parameter: Tensor, group: dict[str, Any], saved: Mapping[str, Any], number: Any
    ) -> dict[str, Any]:
        """Return a saved state, each value like that of a new one."""
        if type(self).initial_state is Optimizer.initial_state:  # its step makes it
            return copy.deepcopy(dict(saved))
        new = self.initial_state(parameter, group)
        values = {name: value for name, value in saved.items() if value is not None}
        if values and new.keys() != values.keys():
            raise self._unfit(
                f"of parameter {number} it remembers {', '.join(values)}, and the optimizer "
                f"{', '.join(new) or 'nothing'}"
            )
        for name, value in values.items():
            like = parameter if new[name] is None else new[name]
            shape, wanted = getattr(value, "shape", ()), getattr(like, "shape", ())
            if tuple(shape) != wanted:
                raise self._unfit(
                    f"{name} of parameter {number} has shape {tuple(shape)} instead of {wanted}"
                )
            if isinstance(like, Tensor):
                new[name] = tensor(value, like.dtype, like.backend)
            else:
                new[name] = type(like)(value)
        return new if values else {}

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


def _in_order(params: Any) -> list[Any]:
    """Return what was given as parameters as a list."""
    if isinstance(params, set | frozenset):
        raise SettingError(
            "a set of parameters has no order, so that a saved state could not be told to whom it "
            "belongs: give a list."
        )
    return [params] if isinstance(params, Tensor) else list(params)


def _names_apart(params: list[Any]) -> tuple[list[str], list[Any]]:
    """Return the names of parameters, none if they were given without, and the parameters.

    Raises:
        SettingError: some have names, others have not.
    """
    named = [isinstance(member, tuple) and len(member) == 2 for member in params]
    if not any(named):
        return [], params
    if not all(named):
        raise SettingError("some parameters were given with names, others without: name all.")
    return [name for name, _ in params], [parameter for _, parameter in params]


def with_plain_rate(group: dict[str, Any]) -> dict[str, Any]:
    """Return a group whose rate is a number, not a tensor that holds it."""
    rate = group.get("lr")
    return {**group, "lr": rate.item()} if isinstance(rate, Tensor) else group
